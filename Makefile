# Everything sets itself up from a fresh clone: Python 3.11+ with venv, a C++ compiler, make, git. No other tool.
#
#   make lab     JupyterLab on the first notebook        LAB_PORT=8888  LAB_FLAGS="--no-browser ..."
#   make lab JAX=1     the same, with JAX in .venv for notebook 15: 380 MB more on disk, once
#   make test    lint, types, fast tests, what one does first in the browser, and notebooks: eleven minutes on two cores,
#                with the set-up; TEST_JOBS=2 side by side
#   make check   ruff, words and a choice of fast tests, in two minutes; CHECK_TESTS="tests/ops tests/plan" for others
#   make test-slow     random programs, hostile files, evaluation sets, builds of packages and other profiles, most of the
#                      browser, the picture audit
#   make test-sweep    many more random programs, the held-out set; for a night, not for CI
#   make lint    ruff and mypy
#   make test-jax      functions of JAX, JAX's own cases, notebooks with JAX; installs JAX in .venv-jax
#   make test-watch    wb.watch in loops of other libraries, sweeps on Dask; installs torch, Keras and more in .venv-watch
#   make test-models   a held set of models against their own runtimes; installs torch and TensorFlow in .venv-models
#   make test-oldest   some fast tests with the oldest versions that pyproject.toml allows, in .venv-oldest
#   make wheels  a manylinux wheel for each Python that is found, tried in an empty environment, in dist/
#   make bench   speed side by side with other engines
#   make sanitize-address   the tests on a build with AddressSanitizer and UndefinedBehaviorSanitizer; SANITIZE_TESTS=...
#   make valgrind           a few tests under valgrind
#   make sanitize-trie   the shape trie's stress program under ThreadSanitizer and AddressSanitizer (SECONDS_EACH=20)
#   make fuzz    coverage-guided fuzzing of the readers; FUZZ_SECONDS=60 each  FUZZ_TARGETS="graphdef onnx ..."
#   make labextension   builds the JupyterLab extension anew from its TypeScript; Node from a wheel, 230 MB of packages
#   make pictures   the pictures of the panel in README and course, taken anew; a test says when they are too old
#   make docs    the site: guides, the course, the reference from the docstrings, in build/docs; a minute, once .venv-docs is there
#   make setup   only the virtual environment, with everything for development
#   make clean   removes the environment, the build and the caches
#
# Options: PYTHON=python3.12 (interpreter for .venv), TYPE_PROFILE=standard_all (which typed kernels are
#          compiled; also training+quantization, everything, or the path of a profile file)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
TYPE_PROFILE ?= standard_all
LAB_PORT ?= 8888
LAB_FLAGS ?=
LAB_NOTEBOOK ?= 01_first_loop.ipynb
TEST_JOBS ?= 2
# A test in a browser waits half of its time for pages and kernels.
BROWSER_JOBS ?= $(shell expr $(TEST_JOBS) + 1)

VENV := $(CURDIR)/.venv
# The editable install calls meson and ninja of the environment again when sources changed.
export PATH := $(VENV)/bin:$(PATH)
# By its full path, so that a rebuild on import works without the environment's bin on PATH too.
export CYTHON := $(VENV)/bin/cython
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONHOME

PIP_INSTALL := $(VENV)/bin/python -m pip install --quiet
SETUP_ARGS := --no-build-isolation --config-settings=setup-args=-Dtype_profile=$(TYPE_PROFILE)
LAB_STAMP := $(VENV)/.lab-$(subst /,_,$(TYPE_PROFILE))
DEV_STAMP := $(VENV)/.dev-$(subst /,_,$(TYPE_PROFILE))
# Limits of a stage: seconds of processor time of each of its processes, and eight times as long by the clock, for a hang on a
# busy machine.
limited = ulimit -t $(1) && timeout $$((8 * $(1)))
LABEXTENSION := $(VENV)/share/jupyter/labextensions/workbench

.PHONY: help pictures environments lab check test test-fast test-browser test-slow test-sweep test-notebooks test-jax test-watch test-models test-oldest lint bench sanitize-address sanitize-trie valgrind fuzz setup \
  labextension notebooks browser docs wheels clean

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

# --- set-up ------------------------------------------------------------------------------------------------------

$(VENV)/.made:
	@.ci/check-tools "$(PYTHON)"
	@echo "making .venv with $$($(PYTHON) --version)"
	@rm -rf "$(VENV)" build && $(PYTHON) -m venv "$(VENV)" && touch "$@"

# First what the build needs (an editable install must not be isolated from it), then the project itself.
$(LAB_STAMP): pyproject.toml | $(VENV)/.made
	@echo "installing the build tools and the workbench (it compiles: some minutes, once)"
	@python .ci/build-requires.py > "$(VENV)/build-requires.txt"
	@$(PIP_INSTALL) -r "$(VENV)/build-requires.txt"
	@$(VENV)/bin/python -m pip uninstall --quiet --yes workbench 2> /dev/null || true  # an install under its old name
	@$(PIP_INSTALL) $(SETUP_ARGS) --editable '.[lab,arrow,onnx]'
	@rm -f "$(VENV)"/.lab-* "$(VENV)"/.dev-* && touch "$@"

# An editable install leaves data files out: JupyterLab finds its extension through a link.
$(LABEXTENSION): | $(LAB_STAMP)
	@mkdir -p "$(@D)" && ln -sfn "$(CURDIR)/widgets/labextension" "$@"

$(DEV_STAMP): $(LAB_STAMP) | $(LABEXTENSION)
	@echo "installing what the tests need"
	@$(PIP_INSTALL) $(SETUP_ARGS) --editable '.[dev]'
	@rm -f "$(VENV)"/.dev-* && touch "$@"

setup: $(DEV_STAMP)

# --- JupyterLab --------------------------------------------------------------------------------------------------

# Started in notebooks/: beside the repository root, ./workbench would hide an installed package. The extension manager
# would ask the outside world.
lab: $(LAB_STAMP) $(LABEXTENSION)
	@if [ -n "$(JAX)" ]; then $(PIP_INSTALL) "$$(python -c 'from workbench.libraries import EXTRAS; print(*EXTRAS["jax"])')"; fi
	@.ci/lab-settings "$(VENV)/share/jupyter/lab/settings"
	@echo "JupyterLab is starting on port $(LAB_PORT) or the next free one; its address is printed below. Ctrl-C ends it."
	@cd notebooks && exec jupyter lab --port=$(LAB_PORT) --LabApp.default_url=/lab/tree/$(LAB_NOTEBOOK) \
	  --LabApp.extension_manager=readonly $$([ "$$(id -u)" != 0 ] || echo --allow-root) $(LAB_FLAGS)

# --- tests -------------------------------------------------------------------------------------------------------

test: lint test-fast test-browser test-notebooks

# Before a commit: the layers, the words, the documentation's code, and what each part of the machine rests on.
CHECK_TESTS ?= tests/ir tests/debugger tests/cli/test_terminal.py tests/analysis/claims tests/test_layers.py tests/test_words.py tests/test_docs.py
check: $(DEV_STAMP)
	ruff check .
	ruff format --check .
	python .ci/words.py
	pytest -n $(TEST_JOBS) $(CHECK_TESTS)

lint: $(DEV_STAMP)
	ruff check .
	ruff format --check .
	python .ci/words.py
	mypy workbench widgets kernels_pyx

# Whole modules side by side, then those that hold times or memory against a bound, which want the machine for themselves
# (ALONE in tests/conftest.py). The limits of the stages are of a hang.
LONGEST := --durations=12 --durations-min=5
SPREAD := -n $(TEST_JOBS) $(LONGEST)
SPREAD_IN_BROWSERS := -n $(BROWSER_JOBS) $(LONGEST)

test-fast: $(DEV_STAMP)
	$(call limited,3600) pytest --alone never $(SPREAD)
	$(call limited,600) pytest --alone only

test-browser: $(DEV_STAMP) browser
	$(call limited,3600) pytest --alone never $(SPREAD_IN_BROWSERS) -m "browser and not sweep and not slow" tests/browser

test-slow: $(DEV_STAMP) browser
	$(call limited,3600) pytest --alone never $(SPREAD) -m "slow and not browser"
	$(call limited,600) pytest --alone only -m "slow and not browser"
	$(call limited,3600) pytest $(SPREAD_IN_BROWSERS) -m "browser and slow and not sweep" tests/browser

# Many random programs, the held-out evaluation set, every notebook in a browser: for an hour or a night.
test-sweep: $(DEV_STAMP) browser
	pytest --alone never $(SPREAD) -m sweep

# Notebooks that import JAX or PyTorch are left to test-jax and test-watch, whose environments have it.
JAX_SOURCES := $(shell grep -lx "import jax" notebooks/sources/*.py notebooks/sources/solutions/*.py)
JAX_NOTEBOOKS := $(patsubst notebooks/sources/%.py,notebooks/%.ipynb,$(JAX_SOURCES))
TORCH_SOURCES := $(shell grep -lx "import torch" notebooks/sources/*.py notebooks/sources/solutions/*.py)
TORCH_NOTEBOOKS := $(patsubst notebooks/sources/%.py,notebooks/%.ipynb,$(TORCH_SOURCES))
NBVAL := -p nbval --nbval --nbval-current-env --nbval-cell-timeout=60 --nbval-sanitize-with=tests/nbval.cfg
test-notebooks: $(DEV_STAMP)
	$(call limited,900) pytest $(NBVAL) $(patsubst %,--ignore=%,$(JAX_NOTEBOOKS) $(TORCH_NOTEBOOKS)) -n $(TEST_JOBS) --dist loadfile notebooks

# Other libraries write the models in an environment of their own; the workbench reads them without these libraries.
MODELS_VENV := $(CURDIR)/.venv-models
$(MODELS_VENV)/.made: tests/models/requirements.txt | $(VENV)/.made
	@echo "installing torch, TensorFlow and scikit-learn in .venv-models"
	@rm -rf "$(MODELS_VENV)" && $(PYTHON) -m venv "$(MODELS_VENV)"
	@timeout 900 "$(MODELS_VENV)/bin/python" -m pip install --quiet -r tests/models/requirements.txt
	@touch "$@"

test-models: $(DEV_STAMP) $(MODELS_VENV)/.made
	@timeout 900 "$(MODELS_VENV)/bin/python" -m tests.models.make
	$(call limited,1200) pytest -m models -s -q tests/models

# Libraries in environments of their own, on top of the other: without them the workbench must work, too.
JAX_VENV := $(CURDIR)/.venv-jax
WATCH_VENV := $(CURDIR)/.venv-watch
OLDEST_VENV := $(CURDIR)/.venv-oldest
DOCS_VENV := $(CURDIR)/.venv-docs
OLDEST_EXTRAS := lab arrow onnx
OLDEST_REQUIREMENTS := build/oldest-requirements.txt
$(JAX_VENV)/.made: tests/jax/requirements.txt
$(WATCH_VENV)/.made: tests/recorder/requirements.txt
$(OLDEST_VENV)/.made: $(OLDEST_REQUIREMENTS)
$(DOCS_VENV)/.made: .ci/docs/requirements.txt
$(JAX_VENV)/.made $(WATCH_VENV)/.made $(OLDEST_VENV)/.made $(DOCS_VENV)/.made: | $(DEV_STAMP)
	@echo "installing $< in $(notdir $(@D))"
	@rm -rf "$(@D)" && $(PYTHON) -m venv "$(@D)"
	@"$(@D)/bin/python" -c "import sys, sysconfig; open(sysconfig.get_path('purelib') + '/workbench.pth', 'w').write( \
	  'import site; site.addsitedir(%r)\n' % sys.argv[1])" "$$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
	@timeout 900 "$(@D)/bin/python" -m pip install --quiet -r "$<"
	@touch "$@"

# The lower bounds of the core and of two extras; what only the tests need is that of .venv.
$(OLDEST_REQUIREMENTS): pyproject.toml .ci/lower-bounds.py | $(DEV_STAMP)
	@mkdir -p "$(@D)" && python .ci/lower-bounds.py $(OLDEST_EXTRAS) > "$@"

# All of them, best side by side: most of the time goes to the network (make -j4 environments).
environments: $(JAX_VENV)/.made $(WATCH_VENV)/.made $(MODELS_VENV)/.made $(OLDEST_VENV)/.made $(DOCS_VENV)/.made

test-jax: $(JAX_VENV)/.made
	$(call limited,1200) "$(JAX_VENV)/bin/python" -m pytest $(SPREAD) -m jax tests/jax tests/test_course.py
	$(call limited,300) "$(JAX_VENV)/bin/python" -m pytest $(NBVAL) -n 0 $(JAX_NOTEBOOKS)

# With sweeps on two processes of Dask, which die there.
test-watch: $(WATCH_VENV)/.made browser
	$(call limited,1800) "$(WATCH_VENV)/bin/python" -m pytest $(SPREAD) -m watch tests/recorder tests/sweep/test_dask.py tests/plan/native tests/cli/mcp \
	  tests/frontends/python/test_foreign_objects.py tests/test_course.py tests/test_doc_code.py
	$(call limited,600) "$(WATCH_VENV)/bin/python" -m pytest $(NBVAL) -n 0 $(TORCH_NOTEBOOKS)

# First that the old versions are those that are imported, then tests of several layers. What is left out checks its own
# models with onnx, whose version 1.16 refuses inputs of Loop that are left out.
test-oldest: $(OLDEST_VENV)/.made
	"$(OLDEST_VENV)/bin/python" .ci/lower-bounds.py --check $(OLDEST_EXTRAS)
	$(call limited,600) "$(OLDEST_VENV)/bin/python" -m pytest --alone never $(SPREAD) $(OLDEST_TESTS)
OLDEST_TESTS := tests/ir tests/ops/test_numbers.py tests/plan/test_plan.py tests/session/test_undo.py tests/trace/test_file.py \
  tests/trace/test_provenance.py tests/trace/spill/test_files.py tests/frontends/test_onnx_import.py \
  --deselect tests/frontends/test_onnx_import.py::test_every_case_is_imported_and_its_text_reads_back

bench: $(DEV_STAMP)
	pytest -m bench -s

# A build of its own under build/; minutes, not seconds.
sanitize-address: $(DEV_STAMP)
	@.ci/sanitize address $(SANITIZE_TESTS)

valgrind: $(DEV_STAMP)
	@.ci/sanitize valgrind $(SANITIZE_TESTS)

# atheris is needed for this alone, so it is not among the project's dependencies. Findings stay under build/fuzz/TARGET.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= graphdef pbtxt saved_model checkpoint onnx samediff graph_text trace pt2
fuzz: $(DEV_STAMP)
	@python -c 'import atheris' 2> /dev/null || $(PIP_INSTALL) atheris
	@for target in $(FUZZ_TARGETS); do \
	  python tests/fuzz/run.py $$target build/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1; done

SECONDS_EACH ?= 20
sanitize-trie:
	.ci/sanitize-trie $(SECONDS_EACH)

browser:
	@.ci/browser

wheels:
	@python3 .ci/wheels.py

# What it writes is committed, so that nobody else needs Node.
labextension: | $(DEV_STAMP)
	@python .ci/labextension.py

# Writes the .ipynb anew from the text files, with fresh outputs; some import JAX or PyTorch.
notebooks: $(WATCH_VENV)/.made
	@"$(WATCH_VENV)/bin/python" .ci/notebooks.py

# The README's pictures of the panel and those of the course, taken from a started JupyterLab.
pictures: $(WATCH_VENV)/.made
	@"$(WATCH_VENV)/bin/python" .ci/pictures.py

# The site: pages of workbench/docs, the course with its stored outputs, the reference from the docstrings. A warning of
# Sphinx and a link that leads nowhere fail.
docs: $(DOCS_VENV)/.made
	@"$(DOCS_VENV)/bin/python" .ci/docs/stage.py
	@rm -rf build/docs
	@"$(DOCS_VENV)/bin/python" -m sphinx -q -W --keep-going -n -c .ci/docs -b html build/docs-source build/docs
	@python .ci/docs/links.py build/docs
	@echo "the documentation is in build/docs/index.html"

clean:
	rm -rf .venv .venv-models .venv-jax .venv-watch .venv-oldest .venv-docs build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path ./.git -prune -o \( -name __pycache__ -o -name .ipynb_checkpoints \) -type d -print0 | xargs -0r rm -rf
