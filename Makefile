# Needs only make and Python 3.11 or later; everything else is installed into .venv at the versions of constraints.txt.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
USER_READY := .venv/ready
DEVELOPER_READY := .venv/ready-for-development

.DEFAULT_GOAL := help
.PHONY: help demo test tests quick lint docs bench browser

help:
	@echo "make demo   dock a nanoparticle three ways, and show on one page which to trust and what each cost"
	@echo "make test   check everything: lint, types and all tests"
	@echo "make quick  lint, and the tests that take seconds"
	@echo "make lint   style, types, and the spelling and grammar of all prose"
	@echo "make browser   the distribution's Chromium, for tests of pages (Debian and Ubuntu, as root or by sudo)"
	@echo "make docs   the manual, as pages for a browser"
	@echo "make bench  speed and memory, beside other engines"

# Unscaled, by the published rule, and with a bounded error; two ligands of eight, from nearer by and with a wider bound, so
# that it takes a minute. A demo never writes into the folder of an earlier one.
DEMO := nanoparticle-docking --against friction-implicit,threshold-adaptive,error-controlled \
	--set model.ligands=2 --set model.gap="36 nm" --set run.stop.advance="17 nm" \
	--set variants.error-controlled.scaling.tolerance=0.1
demo: $(USER_READY)
	@out=runs/demo; n=1; \
	while [ -e "$$out" ]; do n=$$((n + 1)); out=runs/demo-$$n; done; \
	echo "The docking of a nanoparticle with two of its eight ligands, in three ways:"; \
	$(BIN)/articulon compare $(DEMO) --out "$$out" && \
	page="$(CURDIR)/$$out/comparison.html" && echo "The page is $$page" && \
	if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" = Darwin ]; then \
	$(BIN)/python -m webbrowser "file://$$page" >/dev/null 2>&1 || true; fi

# Types are checked beside the tests, which wait for nothing. Without a browser, tests of pages say that there is none.
test: $(DEVELOPER_READY)
	@$(MAKE) --no-print-directory browser || true
	@$(MAKE) --no-print-directory --jobs=2 lint tests

tests:
	$(BIN)/pytest -n 2

quick: lint
	$(BIN)/pytest -n 2 -m "not slow"

lint: $(DEVELOPER_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src
	$(BIN)/python -m tools.prose

browser:
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
	if command -v $$name >/dev/null 2>&1; then exit 0; fi; done; \
	if ! command -v apt-get >/dev/null 2>&1; then echo "no apt-get: install Chromium by hand for the tests of pages"; exit 1; fi; \
	as_root=; if [ "$$(id -u)" != 0 ]; then as_root="sudo -n"; fi; \
	$$as_root apt-get update -qq && \
	$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null || \
	{ echo "Chromium was not installed (no root or sudo, or no network); the tests of pages are skipped"; exit 1; }

# The manual, for any host of static pages.
docs: $(DEVELOPER_READY)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo "The manual is $(CURDIR)/docs/_build/html/index.html"

bench: $(DEVELOPER_READY)
	$(BIN)/articulon bench

$(USER_READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[studio]"
	@touch $@

$(DEVELOPER_READY): pyproject.toml constraints.txt | $(USER_READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	@touch $@
