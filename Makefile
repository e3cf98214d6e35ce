# Every target does all the set-up it needs, once: a virtual environment in .venv with pinned versions.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help run test slow lint format clean

help:  ## show what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/make \1	\2/' | expand -t 14

run: $(READY)  ## the main job: does SSRead help a GCN on MUTAG? (10 folds, one seed, about a minute and a half)
	$(BIN)/ssread compare MUTAG --seeds 1 --positions 4 --dropout 0

test: $(READY)  ## the tests, all but the slow ones
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadgroup

slow: $(READY)  ## the slow tests: killed processes, a Ray cluster, compilers, every documented command
	$(BIN)/python -m pytest -m "slow and not alone" -n 2 --dist loadgroup --durations=12
	$(BIN)/python -m pytest -m "slow and alone" --durations=12

lint: $(READY)  ## style, types, and which package may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(READY)  ## fix the style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the environment and every cache
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "ssread needs Python 3.10 or newer, $(PYTHON) is older: try make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv || { echo "No virtual environment could be made (on Debian and Ubuntu: apt install python3-venv)." >&2; rm -rf .venv; exit 1; }
	@echo "Setting up .venv (once; about a minute with a fast connection) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@
