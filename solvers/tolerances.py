"""The tolerances of all solvers, by what they are of, each with its reason. What ``solve``
certifies stands in ``solution``; how hard a search tries, with the search.
"""

# Disparities, accuracies and utilities

REPRODUCED = 1e-7
"""A solution this close to a point, in disparity and accuracy, reproduces it."""
PRINTED = 1e-12
"""Disparities may be asked for this much below the smallest: the rounding of a printed number."""
MET = 1e-10
"""A point this much more disparate than was asked still counts: ``solve``'s tolerance on laws."""
BOUND_WRONG = 1e-9
"""A bound may be this much below what is attained, by rounding: the tolerance of ten solutions."""
COMMON_MET = 1e-13
"""A common budget meets a disparity to this."""
BEND = 1e-6
"""What the largest of several differences may miss its chord by: a bend takes 10 solutions."""
EQUAL = 1e-14
"""Accuracies and disparities this close are the same."""
LINEAR = 1e-12
"""What is within this of a line is on it."""
REFINED_MET = 1e-11
"""What a rule of refined cells may miss of its limits, and its worth of the bound."""
TOSS_MET = 1e-13
"""What the rule nearest to a coin toss may miss of a constraint, and of the utility."""
MD_ROOT = 6e-16
"""Residual of MD at which a root counts as found."""
MD_FAINT = 1e-10
"""An MD below this is compared in log-odds."""
MD_SIGNLESS = 1e-14
"""MD_i up to this has no sign."""
RISE = 1e-11
"""What rises by less has not risen."""
MD_ROUNDING = 1e-12
"""What an MD may miss, and |MD| exceed a disparity, by rounding; likewise shares."""
PROVEN = 1e-6
"""A point this close below a bound is the best, to what is told of accuracies."""
BOUND_CLOSE = 1e-9
"""A bound this close above the frontier is not improved."""
MAXIMA_APART = 1e-5
"""Two searches end in different maxima if their accuracies differ by more."""
MULTIPLIERS_GAIN = 1e-11
"""Steps of multipliers that promise less are not taken."""
GAINED = 1e-9
"""The accuracy that matters: steps of budgets that promise less are not taken, and a step is the
last whose gain is what it promised to this.
"""
TABLES_TRUE = 1e-9
"""How far what is attained may be from what tables say."""
SEGMENTS_ROOM = 1e-11
"""Disparities are asked for with this much room: the rounding of HiGHS."""
PARTS_CLOSE = 1e-12
"""Parts whose bound is no more than this above the best ensemble are left out."""

# Budgets

SAME_BUDGET = 1e-12
"""Budgets this close are one."""
TIGHT = 1e-11
"""Budgets up to this are taken to be zero: that is how exactly a search meets a value of 0."""
BUDGET_TIED = 1e-9
"""Values this close to their client's largest may bind, and rules may miss budgets by this."""
ACTIVE = 1e-8
"""A constraint within this of its limit is active."""
DESCENT_SLACK = 1e-9
"""Budgets are this much wider in a descent: with hundreds of clients constraints at zero depend on
each other to rounding, and their multipliers would be arbitrary.
"""
ZERO_BUDGET = 1e-15
"""Budgets up to this are zero: shares are as exact as that."""

# Probabilities of rules

WHOLE = 1e-9
"""Cells this near to 0 or 1 are there."""
WHOLE_RATE = 1e-13
"""Rates of refined cells this near to 0 or 1 are there."""
MIXED_MET = 1e-9
"""What mixed-integer programmes are loosened by, and their bounds are raised by: their rounding."""
SAME_RULE = 1e-9
"""Probabilities, and shares, this close are the same."""

# Multipliers, scores and exchange rates

RATES_TIED = 1e-13
"""Exchange rates that differ by no larger share are one."""
SCORES_TIED = 1e-11
"""Scores of cells tie that are no larger than this share of their terms."""
DENSITIES_TIED = 1e-6
"""Scores tie where no coefficient of theirs is as large as this share of the gain's."""
CELL_TIED = 1e-13
"""A cell is undecided where |s_c| is at most this share of the sizes of its terms: rounding."""
VERTEX_ZERO = 1e-14
"""Multipliers of a vertex up to this are zero, which costs no more accuracy than this."""
MULTIPLIER_ZERO = 1e-15
"""Multipliers of a linear programme up to this are rounding."""
MULTIPLIER_FAINT = 1e-12
"""Multipliers no larger are rounding: their limits need not bind."""
SCORE_FAINT = 1e-9
"""Critical points where no term of s, a density, is larger are left out: they move no rate."""
CLOSED = 1e-11
"""The height of s at which gaps are kept closed: at zero a rounding opens them."""

# Linear programmes

PROGRAMME_TIED = 1e-9
"""A linear programme's own rounding: of prices, disparities, shares of a budget, and ρ."""
DETERMINED = 1e-12
"""Unknowns that move by no larger part, squared, along what equations leave open do not move."""
INTERIOR_SOLVED = 1e-12
"""Rows with no larger coefficient are no rows; a problem with no larger residuals and
complementarity, in units where rows and gains are of order one, is solved.
"""

# Newton's method and series

KKT_TOLERANCE = 2e-14
"""Newton stops when every optimality condition holds to this."""
ENOUGH = 1e-11
"""Residual of a rule that needs no mixture."""
CUTS_LOSE = 1e-14
"""What a rule with cuts of its own may lose of the Lagrangian's maximum at its multipliers."""
NOISE = 4e-16
"""Rounding of a series relative to the terms that were added up: below it a sign means nothing."""
ROOT = 1e-9
"""A score is zero where it is this share of its terms on the panel; a jump is larger."""
DEPENDENT = 1e-10
"""Functions whose combinations are no larger than this, relatively, depend on each other."""
CERTIFIED_OFF = 1e-9
"""Of the largest budget: how far a certified rule may be from its own."""
