"""Runs as TOML texts: plain, of one's own parts, group-fair, with groups that join, with grids."""

PLAIN = """
[data]
name = "synthetic"
clients = 5
[model]
kind = "softmax"
[[algorithm]]
name = "fedavg"
[training]
rounds = 3
epochs = 1
"""
OWN = """
[data]
name = "blobs"
[model]
kind = "tanh"
width = 5
[[algorithm]]
name = "median"
shrink = 0.5
lr = 0.2
[[algorithm]]
name = "fedavg"
[training]
rounds = 3
schedule = {kind = "warmup", over = 3}
participation = {kind = "odd"}
[computing]
memory_limit = "auto"
[run]
seeds = [0, 1]
"""
FAIR = """
[data]
name = "fedfb-synthetic"
[model]
kind = "logistic"
[[algorithm]]
name = "fedavg"
[[algorithm]]
name = "fedfb"
rule = {notion = "eo", budget = 0.1, surrogate = "zero_one"}
every = 2
[[algorithm]]
name = "fairfed"
beta = 0.5
[[algorithm]]
name = "lft"
rule = {alpha = 0.2}
[[algorithm]]
name = "lft"
average_every = 2
budgets = [0.1, 0.2, 0.3]
[[algorithm]]
name = "agnosticfair"
kernels = 3
[training]
rounds = 2
batch_size = 256
"""
DYNAMIC = """
[data]
name = "synthetic"
clients = 6
[model]
kind = "softmax"
[[algorithm]]
name = "dynamic_qfedavg"
rule = {name = "modified_normalized_fedavg", beta = 0.5}
momentum = 0.5
server_lr = 0.8
[training]
rounds = 6
participation = {kind = "joining", joins = [0, 2, 5], leaves = [4, 0, 0]}
server_schedule = {kind = "exponential", factor = 0.9}
"""
GRID = """
[data]
name = "synthetic"
clients = 4
grid = {beta = [0.0, 1.0]}
[model]
kind = "softmax"
[[algorithm]]
name = "qfedavg"
grid = {q = [0.0, 2.0], lr = [0.05, 0.1]}
[[algorithm]]
name = "dual_weighted"
objective = {name = "QFFL", grid = {q = [1.0, 3.0]}}
label = "dual"
[training]
rounds = 4
participation = {kind = "uniform", grid = {count = [2, 3]}}
grid = {schedule = [{kind = "constant"}, {kind = "cosine", last = 0.1}]}
[run]
seeds = [3, 5]
"""
