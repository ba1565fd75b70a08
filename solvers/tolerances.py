"""The tolerances of all solvers, by what they are of, each with its reason. What ``solve``
certifies stands in ``solution``; how hard a search tries, with the search.
"""

# Disparities, accuracies and utilities
REPRODUCED = 1e-7  # a solution this close to a point, in disparity and accuracy, reproduces it
PRINTED = 1e-12  # disparities may be asked for this much below the smallest: a number as printed
MET = 1e-10  # a point this much more disparate still counts: ``solve``'s tolerance on laws
BOUND_WRONG = 1e-9  # a bound may be this much below what is attained: ten solutions' tolerance
COMMON_MET = 1e-13  # a common budget meets a disparity to this
BEND = 1e-6  # the largest of several differences may miss its chord by this: a bend takes 10 more
EQUAL = 1e-14  # accuracies and disparities this close are the same
LINEAR = 1e-12  # what is within this of a line is on it
REFINED_MET = 1e-11  # what a rule of refined cells may miss of its limits, its worth of the bound
TOSS_MET = 1e-13  # what the rule nearest to a coin toss may miss of constraints and utility
MD_ROOT = 6e-16  # residual of MD at which a root counts as found
MD_FAINT = 1e-10  # an MD below this is compared in log-odds
MD_SIGNLESS = 1e-14  # MD_i up to this has no sign
RISE = 1e-11  # what rises by less has not risen
MD_ROUNDING = 1e-12  # what an MD may miss, and |MD| exceed a disparity, by rounding; shares too
PROVEN = 1e-6  # a point this close below a bound is the best, to what is told of accuracies
BOUND_CLOSE = 1e-9  # a bound this close above the frontier is not improved
MAXIMA_APART = 1e-5  # two searches end in different maxima if their accuracies differ by more
MULTIPLIERS_GAIN = 1e-11  # steps of multipliers that promise less are not taken
GAINED = 1e-9  # steps of budgets that promise less are not taken; the last gains as promised to it
TABLES_TRUE = 1e-9  # how far what is attained may be from what tables say
SEGMENTS_ROOM = 1e-11  # disparities are asked for with this much room: the rounding of HiGHS
PARTS_CLOSE = 1e-12  # parts whose bound is no more than this above the best ensemble are left out

# Budgets
SAME_BUDGET = 1e-12  # budgets this close are one
TIGHT = 1e-11  # budgets up to this are zero: so exactly a search meets a value of 0
BUDGET_TIED = 1e-9  # values this close to the client's largest may bind; rules may miss by this
ACTIVE = 1e-8  # a constraint within this of its limit is active
# In a descent budgets are this much wider: with hundreds of clients constraints at zero depend on
# each other to rounding, and their multipliers would be arbitrary.
DESCENT_SLACK = 1e-9
ZERO_BUDGET = 1e-15  # budgets up to this are zero: shares are as exact as that

# Probabilities of rules
WHOLE = 1e-9  # cells this near to 0 or 1 are there
WHOLE_RATE = 1e-13  # rates of refined cells this near to 0 or 1 are there
MIXED_MET = 1e-9  # mixed-integer programmes are loosened by this, their bounds raised: rounding
SAME_RULE = 1e-9  # probabilities, and shares, this close are the same

# Multipliers, scores and exchange rates
RATES_TIED = 1e-13  # exchange rates that differ by no larger share are one
SCORES_TIED = 1e-11  # scores of cells tie that are no larger than this share of their terms
DENSITIES_TIED = 1e-6  # scores tie where no coefficient is this share of the gain's
CELL_TIED = 1e-13  # a cell is undecided where |s_c| is at most this share of its terms: rounding
VERTEX_ZERO = 1e-14  # multipliers of a vertex up to this are zero: no more accuracy is lost
MULTIPLIER_ZERO = 1e-15  # multipliers of a linear programme up to this are rounding
MULTIPLIER_FAINT = 1e-12  # multipliers no larger are rounding: their limits need not bind
SCORE_FAINT = 1e-9  # critical points where no term of s is larger are left out: they move no rate
CLOSED = 1e-11  # the height of s at which gaps are kept closed: at zero a rounding opens them

# Linear programmes
PROGRAMME_TIED = 1e-9  # their own rounding: of prices, disparities, shares of a budget, and ρ
DETERMINED = 1e-12  # unknowns that equations let move by no larger part, squared, do not move
INTERIOR_SOLVED = 1e-12  # of rows' coefficients, of residuals and complementarity: these are zero

# Newton's method and series
KKT_TOLERANCE = 2e-14  # Newton stops when every optimality condition holds to this
ENOUGH = 1e-11  # residual of a rule that needs no mixture
CUTS_LOSE = 1e-14  # what a rule with cuts of its own may lose of the Lagrangian's maximum
NOISE = 4e-16  # a series' rounding over the terms added up: below it a sign means nothing
ROOT = 1e-9  # a score is zero where it is this share of its terms on the panel; a jump is larger
DEPENDENT = 1e-10  # functions with no larger combinations, relatively, depend on each other
CERTIFIED_OFF = 1e-9  # of the largest budget: how far a certified rule may be from its own
