# Every target sets up .venv by itself, and again only after the files that describe it have changed.
PYTHON ?= python3
CONSTRAINTS ?= constraints.txt
OUT ?= out
BIN := .venv/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
# torch's own index of builds without CUDA, gigabytes smaller; set it to nothing for pip's choice.
TORCH ?= $(shell command -v nvidia-smi >/dev/null || echo https://download.pytorch.org/whl/cpu)
# Two processes of tests: each keeps to one thread, else they fight over the cores. Bytecode is kept, which they and the
# hundred programs that they start would compile anew otherwise.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal

LAYERS := $(shell sed -n 's/^"fairfl\.\(.*\)" = .*/\1/p' pyproject.toml)
ROUNDINGS := start-0 start-1 start-2 float32 float64

.PHONY: reproduce test test-fast verify-deep perturbed mutation bench docs lint typings sims clean
.NOTPARALLEL:  # two pips in one environment break it

reproduce: .venv/.ready-all
	$(BIN)/fairfl reproduce --out "$(OUT)"

test: .venv/.ready-dev
	$(PYTEST)

# For the loop of one change: the first row of the first two test functions of every file, of those not marked slow,
# with five examples of hypothesis, so that every family of every layer is asked (tests/conftest.py chooses); the tests of
# duality and calculus are asked whole.
test-fast: .venv/.ready-dev
	HYPOTHESIS_PROFILE=fast $(PYTEST) --fast

verify-deep: .venv/.ready-dev .venv/.ready-ray perturbed docs
	HYPOTHESIS_PROFILE=deep $(PYTEST) -m deep --timeout 0

# What tests say of the outcome of training, under other roundings: tests/helpers/perturbed.py says which, and what is
# left out.
perturbed: .venv/.ready-dev
	for kind in $(ROUNDINGS); do PERTURB=$$kind $(PYTEST) -m "not deep and not exact" \
	    tests/sims tests/studies --ignore tests/sims/engine --ignore tests/sims/algorithms || exit 1; done

# Whether claims and tests notice 300 faults put into claims/ and theory/: docs/results/mutation.md. Half an hour.
mutation: .venv/.ready-dev
	PYTHONPATH=tests/helpers $(BIN)/fairfl sweep tests/helpers/mutation.toml --import mutate --out $(OUT)/mutation
	$(BIN)/python tests/helpers/mutate.py $(OUT)/mutation/table.parquet

bench: .venv/.ready-bench
	$(BIN)/fairfl bench --out BENCHMARKS.md

# The site of the documentation: out/site/index.html. Warnings are errors.
docs: .venv/.ready-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs "$(OUT)/site"

lint: .venv/.ready-dev typings
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m pyright

# The core and torch, without the tools of development.
sims: .venv/.ready-sims

# The links by which type checkers and editors find fairfl.theory and its siblings.
typings:
	rm -rf typings
	mkdir -p typings/fairfl
	ln -s $(addprefix ../../,$(LAYERS) $(wildcard fairfl/[!_]* fairfl/__init__.py*)) typings/fairfl

clean:
	rm -rf .venv typings "$(OUT)" build dist *.egg-info .coverage .benchmarks .hypothesis .pytest_cache .ruff_cache
	find . -name .git -prune -o -name __pycache__ -prune -exec rm -rf {} +

# setuptools first, and no build isolation: one download less, and the pinned version builds.
.venv/.made:
	$(PYTHON) -m venv .venv
	$(PIP) install -c "$(CONSTRAINTS)" "setuptools>=77"
	touch $@

# .venv/.ready-NAME: the core and the extra NAME, all of which need torch. Where its index cannot be reached, pip chooses.
.venv/.ready-%: .venv/.made pyproject.toml setup.py _support/version.py constraints.txt
	test -z "$(TORCH)" || $(PIP) install -c "$(CONSTRAINTS)" --no-deps --retries 0 --timeout 5 \
	    --index-url "$(TORCH)" torch 2>/dev/null || true
	$(PIP) install -c "$(CONSTRAINTS)" --no-build-isolation --editable ".[$*]"
	touch $@
