# Every target does all the set-up it needs, once: a virtual environment in .venv with pinned versions.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
TESTERS := 'httpx>=0.28' 'hypothesis>=6.100' 'playwright>=1.50' 'pytest>=8' 'pytest-xdist>=3.6'
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check
# Several processes run side by side.
test slow coverage oldest: export OMP_NUM_THREADS := 1

.PHONY: help run test slow coverage oldest wheel lint docs format clean audit sbom lock

help:  ## show what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/make \1	\2/' | expand -t 14

run: $(READY)  ## the main job: does SSRead help a GCN on MUTAG? (10 folds, one seed, about a minute)
	$(BIN)/ssread compare MUTAG --seeds 1 --positions 4 --dropout 0

test: $(READY)  ## the tests, all but the slow ones
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadgroup

slow: $(READY)  ## the slow tests: killed processes, a Ray cluster, compilers, every documented command
	$(BIN)/python -m pytest -m slow -n 3 --dist loadgroup --durations=12

coverage: $(READY)  ## how much of the package the tests go through, with the branches that none takes (about ten minutes)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -m "not slow" -n 2 --dist loadgroup
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

oldest: $(READY)  ## the tests with the oldest versions that pyproject.toml allows, on Python 3.10 (make oldest PYTHON=python3.10)
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) .venv/oldest
	$(BIN)/uv pip install --quiet --no-config --python .venv/oldest --resolution lowest-direct '.[all]' $(TESTERS)
	.venv/oldest/bin/python -m pytest -m "not slow" -n 2 --dist loadgroup

wheel: $(READY)  ## wheel and sdist in empty environments: the core alone, every extra, everything
	$(BIN)/python .ci/try_wheel.py

lint: $(READY)  ## style, types, and which package may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

docs: $(READY)  ## the site, from the pages in docs/ and the docstrings: docs/_build/html/index.html
	$(BIN)/sphinx-build -q -W --keep-going docs docs/_build/html

audit: $(READY)  ## known vulnerabilities and licences of everything that is installed
	$(BIN)/python .ci/supply_chain.py licences
	$(BIN)/python .ci/supply_chain.py audit

sbom: $(READY)  ## the bill of materials of a release, sbom.json (CycloneDX)
	$(BIN)/python .ci/supply_chain.py sbom sbom.json

lock: $(READY)  ## requirements.lock anew: the hashes of the files of every version in constraints.txt
	$(BIN)/python .ci/lock.py

format: $(READY)  ## fix the style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the environment and every cache
	rm -rf .venv docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(READY): pyproject.toml constraints.txt requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "ssread needs Python 3.10 or newer, $(PYTHON) is older: try make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv || { echo "No virtual environment could be made (on Debian and Ubuntu: apt install python3-venv)." >&2; rm -rf .venv; exit 1; }
	@echo "Setting up .venv (once; about a minute with a fast connection) ..."
	@$(INSTALL) --require-hashes --no-deps -r requirements.lock
	@$(INSTALL) --no-build-isolation -c constraints.txt -e '.[dev]'
	@touch $@
