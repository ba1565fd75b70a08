"""What solvers refuse: calls, and the words of their errors."""

import numpy as np
from bad_input import refused
from scipy import stats

import fairfl as ff
from fairfl.theory import aggregation

NAN, INF = float("nan"), float("inf")
COMMON = {"NAN": NAN, "INF": INF, "np": np, "stats": stats}
COMMON |= {name: getattr(ff, name) for name in ff.__all__} | vars(aggregation)
LAWS = ff.Federation.normal([[0, 1], [1, 0]], q=[0.3, 0.6])
EVEN = np.full((2, 2, 2), 0.25)
OTHER = ff.Client((stats.laplace(), stats.norm(1)))
FEDERATIONS = {
    "NORMAL": stats.norm(),
    "LAWS": LAWS,
    "ATOMS": ff.Federation.finite([0.0, 1.0], EVEN, [0.25, 0.75]),
    "NO_EVENT": ff.Federation.finite(
        [0.0, 1.0], EVEN, [[[0.25, 0.75], [1e-310, 0.0]], [[0.25, 0.75]] * 2]
    ),
    "POSITIVES": ff.Federation.finite([0.0], [[[0.5], [0.5]]], [1.0]),
    "OTHER": ff.Federation([OTHER]),
    "PROBIT": ff.Federation.normal([[0, 1]], eta=ff.Monotone(stats.norm.cdf, stats.norm.ppf)),
    "OTHER_TWO": ff.Federation([OTHER] * 2),
    "FRONTIER": ff.frontier(LAWS, "lft_ensemble", points=5),
}
test_the_public_functions = refused(
    r"""
solve([[0, 1]], 'cfl', 0.1) | federation must be a Federation, got list
solve(LAWS, 'fedavg', 0.1)
    | scheme must be one of 'cfl', 'lft_fedavg', 'lft_ensemble', 'client_aware', got 'fedavg'
solve(ATOMS, 'cfl', None) | eps must be given, or multipliers
solve(ATOMS, 'lft_fedavg', [0.1, None]) | eps must be numbers, got \[0.1, None\]
Federation.finite([0.0], [[[1.0], [1e-320]]], [0.5])
    | weight times share of client 0's group 1 must be 0 or at least 1e-307, got 9.9998\de-321
Federation.normal([[0, 1], [1, 0]], q=[0.5, 1e-310])
    | weight times share of client 1's group 1 must be 0 or at least 1e-307, got 5e-311
solve(NO_EVENT, 'lft_fedavg', 0.1, notion='eo')
    | true_positive_rate_parity.* of group 1 at 0, must be 0 or at least 1e-307, got
solve(LAWS, 'cfl', 0.1, method='grid') | method must be one of 'exact', 'lp', got 'grid'
solve(ATOMS, 'cfl', 0.1, notion='dpp')
    | notion must be one of 'demographic_parity', .*'equal_opportunity', .*'eodds', got 'dpp'
solve(ATOMS, 'cfl', 0.1, difference='largest')
    | difference must be one of 'pairwise', 'overall', got 'largest'
min_disparity(LAWS, 'lft_ensemble', notion='eo', certify=True)
    | certify takes demographic parity of two groups, .*notion='true_positive_rate_parity'
Federation([Client([NORMAL] * 3), Client([NORMAL] * 2)])
    | clients\[1\].laws must hold 3 laws as those of client 0 do, got 2
Federation([Client([NORMAL] * 3, 0.5)]) | clients\[0\].q must be 3 shares that sum to one, got 0.5
Federation([Client([NORMAL] * 2, [0.5, 0.6])])
    | clients\[0\].q must be one number or 2 shares that sum to one, got \[0.5, 0.6\]
Federation.normal([[0, 1, 2]], q=0.5) | q must have shape \(1, 3\) for 3 groups, got \(\)
solve(ATOMS, 'cfl', 0.1, sees='a') | sees must be one of 'xa', 'x', got 'a'
solve(ATOMS, 'cfl', 0.1, costs=(1, -1))
    | costs must not be negative, and the largest from 0.001 to 1000 .*got \(1, -1\)
solve(ATOMS, 'cfl', 0.1, costs=([1, 2, 3], 1))
    | costs must be 'balanced', or two costs, each a number or one for each of 2 groups
solve(ATOMS, 'cfl', 0.1, costs=(1, 2, 3)) | costs must be .*got \(1, 2, 3\)
solve(ATOMS, 'cfl', 0.1, costs=(1000000.0, 2000000.0))
    | costs must not be negative, and the largest from 0.001 to 1000 \(only their ratios
solve(ATOMS, 'cfl', 0.1, costs='fair') | costs must be 'balanced', .*got 'fair'
solve(POSITIVES, 'cfl', 0.1, costs='balanced')
    | costs='balanced' needs 1e-12 of the people or more with each label, got P\(y = 1\) = 1
solve(ATOMS, 'lft_fedavg', 0.1, local_eps=0.1)
    | local_eps goes with 'cfl' and 'client_aware', got scheme 'lft_fedavg': use eps
solve(ATOMS, 'client_aware', 0.1, local_eps=[0.1, -2]) | local_eps must be non-negative, got -2
solve(ATOMS, 'client_aware', 0.1, local_eps=[0.1] * 3)
    | local_eps must have shape \(\) or \(2,\), one per client, got \(3,\)
solve(ATOMS, 'client_aware', [0.1, 0.1])
    | eps must be one number for 'client_aware', got shape \(2,\)
frontier(ATOMS, 'cfl', 2, costs=(5, 1)).accuracy_at(0.1)
    | accuracy_at needs costs of one, this frontier's differ: utility_at
solve(ATOMS, 'client_aware', 0.1).classifier(0.0, 0, 2)
    | i must be a client number in 0..1, got \[2\]
solve(LAWS, 'cfl', -0.1) | eps must be non-negative, got -0.1
solve(LAWS, 'cfl', NAN) | eps must not hold NaN, got nan
solve(LAWS, 'cfl', [0.1, 0.1]) | eps must be one number for 'cfl', got shape \(2,\)
solve(LAWS, 'lft_ensemble', [0.1] * 3)
    | eps must have shape \(\) or \(2,\), one per client, got \(3,\)
solve(LAWS, 'cfl', 0.1, method='lp', grid=1) | grid must be a whole number of at least 2, got 1
frontier(None, 'cfl') | federation must be a Federation, got NoneType
frontier(LAWS, 'CFL') | scheme must be one of .*got 'CFL'
frontier(LAWS, 'lft_fedavg', effort='much')
    | effort must be one of 'ordinary', 'thorough', got 'much'
frontier(LAWS, 'cfl', budgets='common')
    | budgets='common' goes with 'lft_ensemble' or 'lft_fedavg', got scheme 'cfl'
frontier(LAWS, 'lft_fedavg', budgets='one') | budgets must be one of 'each', 'common', got 'one'
frontier(LAWS, 'cfl', points=1) | points must be a whole number of at least 2, got 1
FRONTIER.accuracy_at(-1.0) | disparity must be at least .*got -1
FRONTIER.accuracy_at(NAN) | disparity must not hold NaN
min_disparity(LAWS, 'lft') | scheme must be one of .*got 'lft'
min_disparity(3, 'cfl') | federation must be a Federation, got int
min_disparity(LAWS, 'cfl', certify=True) | certify takes 'lft_ensemble', .*, got 'cfl'
min_disparity(OTHER_TWO, 'lft_fedavg', certify=True) | laws must be normal for an enclosure
min_disparity(ATOMS, 'lft_ensemble', certify=True) | normal laws and logistic η, got .* finite X
min_disparity(OTHER, 'lft_ensemble', certify=True)
    | laws must be normal .* got ScipyLaw\(laplace.*\) for client 0, group 0
min_disparity(PROBIT, 'lft_ensemble', certify=True) | eta must be Logistic .* got Monotone
""",
    COMMON | FEDERATIONS,
)

MODELS = {"ZERO": np.zeros(3), "LOSSES": lambda t: (np.full(5, 1 + t @ t), np.tile(2 * t, (5, 1)))}
test_minimax = refused(
    r"""
solve_minimax(LOSSES, 'afl', ZERO, jac=True) | objective must be an aggregation objective.*'afl'
solve_minimax(LOSSES, AFL(), jac=True) | start must be given
solve_minimax(LOSSES, AFL(), [0, NAN, 0], jac=True) | start must not hold NaN
solve_minimax(LOSSES, AFL(), np.zeros((3, 1)), jac=True) | start must be a vector.*\(3, 1\)
solve_minimax(LOSSES, AFL(), ZERO) | jac must be a function.*got None
solve_minimax([abs, abs], AFL(), ZERO, jac=[abs]) | jac must be True, or a list of 2
solve_minimax(lambda t: t, AFL(), ZERO, jac=lambda t: t)
    | jac must return shape .*\(3, 3\), got \(3,\)
solve_minimax(lambda t: (t,), AFL(), ZERO, jac=True) | must return the pair .values, Jacobian.
solve_minimax([1.0, 2.0], AFL(), ZERO, jac=True) | losses must be a function.*\[1.0, 2.0\]
solve_minimax(lambda t: (t[:, None], t), AFL(), ZERO, jac=True) | losses must return.*\(3, 1\)
solve_minimax(lambda t: (t * NAN, np.eye(3)), AFL(), ZERO, jac=True) | losses must be finite.*nan
solve_minimax(lambda t: (t, np.full((3, 3), INF)), AFL(), ZERO, jac=True)
    | jac must be finite at start
solve_minimax(LOSSES, PropFair(0.5), ZERO, jac=True)
    | start must have losses in the .*f_i <= M = 0.5
solve_minimax(LOSSES, FedAvg().weighted([0.5, 0.5]), ZERO, jac=True) | n = 2 clients
solve_minimax(LOSSES, AFL(), ZERO, jac=True, tolerance=0) | tolerance must be in \(0, inf\), got 0
""",
    COMMON | MODELS,
)
