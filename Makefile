# Every target does its own set-up: a virtual environment in .venv, and, for root on Debian, the
# system packages that are missing. `make test PY=/path/to/python` uses that Python as it is.

VENV ?= .venv
F90 ?= gfortran
WORKERS ?= 2
PYTEST_ARGS ?=

# What 'make quick' runs: neither Fortran is compiled nor PSyclone called, and nothing is searched for at
# random. All other tests are left out, by name.
QUICK := tests/unit tests/theory tests/test_architecture.py tests/test_cases.py tests/test_errors.py tests/test_rows.py
LEFT_OUT := $(filter-out $(QUICK) $(addsuffix /,$(QUICK)),$(sort $(wildcard tests/test_*.py) $(dir $(wildcard tests/*/test_*.py))))

ifdef PY
READY :=
else
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
endif

export F90
# A recipe finds psyclone-storage, and whatever else the environment holds, by name.
export PATH := $(abspath $(dir $(PY))):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help demo test slow twin quick lint format docs bench gpu tools clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

demo: $(READY) tools  ## compile a realistic algorithm, and compute waves on two ranks
	examples/lfric/demo/run

test: $(READY) tools  ## run every test that this machine can run
	$(PY) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $$(command -v $(F90) >/dev/null && echo --compile --f90 $(F90)) $(PYTEST_ARGS)

slow:  ## run every test, and list those that take most processor time
	$(MAKE) test PYTEST_ARGS="--cpu-times 30 $(PYTEST_ARGS)"

twin: $(READY)  ## run the tests of the storage runtime without its compiled core
	PSYCLONE_STORAGE_CORE=python $(PY) -m pytest -q -n $(WORKERS) --dist loadfile tests/unit/storage

quick: $(READY)  ## run the tests of two minutes, and say which are left out
	$(PY) -m pytest -q -n $(WORKERS) --dist worksteal $(QUICK) $(PYTEST_ARGS)
	@echo "Left out: $(LEFT_OUT). 'make test' runs all."

lint: $(READY)  ## check style and types
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy
	$(PY) -m pylint src setup.py

format: $(READY)  ## lay the Python sources out
	$(PY) -m ruff format

docs: $(READY)  ## run the examples of the documentation and check its links
	$(PY) -m pytest -q tests/test_docs.py

bench: $(READY) tools  ## measure the compiler and the code that it generates
	@for script in $(filter-out benchmarks/gpu.py,$(wildcard benchmarks/*.py)); do \
	    echo "== $$script"; $(PY) $$script || exit 1; done

gpu: $(READY)  ## run what needs a GPU, and write docs/design/gpu.md
	$(PY) benchmarks/gpu.py

tools:
	@.ci/system-packages fortran mpi

$(VENV)/.ready: pyproject.toml setup.py $(wildcard src/psyclone_storage/storage/core/_compiled*.[ch])
	@.ci/system-packages python headers
	$$(.ci/find-python) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --upgrade pip
	$(VENV)/bin/python -m pip install --quiet -e '.[test,dev]'
	@touch $@

clean:  ## remove the environment and everything that was built
	rm -f src/psyclone_storage/storage/core/_compiled*.so
	rm -rf $(VENV) build dist examples/*/*/build external/*/build src/*.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
