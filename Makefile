# Two commands do everything: `make demo` and `make test`. Each sets up what it needs and may be killed and run again.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
# Make would remove the $ and the letter after it, which the URN of a component's child has.
ifneq (,$(findstring $$,$(subst $$$$,,$(value ARGS))))
$(error ARGS has a $$ that make would remove. Write $$$$ instead, and the URN in single quotes: ARGS="--target 'URN'")
endif
.NOTPARALLEL:
# A proxy can't reach this machine, and need not see the tokens of what runs on it.
export NO_PROXY := 127.0.0.1,localhost,$(NO_PROXY)
export no_proxy := $(NO_PROXY),$(no_proxy)

# Where a shell keeps Python from writing bytecode, each of the thousand processes of a run compiles what it imports.
export PYTHONDONTWRITEBYTECODE :=
# A shell's other settings of Python, such as PYTHONOPTIMIZE or PYTHONWARNINGS, are for that shell's own programs.
unexport $(filter-out PYTHON PYTHONDONTWRITEBYTECODE,$(filter PYTHON%,$(.VARIABLES)))

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
# Arguments of pytest. They reach tests/run.py as a variable, which keeps quotes in them as they are.
export PYTEST_ARGS ?=
# The tests of vertex-local or slipway alone, or files of tests with this folder, file or word in their paths.
ONLY ?=
# A part of the test files, 1/4 for example, for machines that share the work.
SHARD ?=
# The number of test workers: two for each processor, at most twelve, unless you set it.
WORKERS ?=
# Fail if the tests take more seconds than this.
AT_MOST ?=
run = $(PY) -m tests.run $(1) $(if $(ONLY),--only "$(ONLY)") $(if $(SHARD),--shard "$(SHARD)") $(if $(WORKERS),--workers $(WORKERS)) \
	$(if $(AT_MOST),--at-most $(AT_MOST))
LOCK ?= --upgrade
STACK ?= local
NEWEST := .slipway/newest-gcp
# Where no STACK is named all is on this laptop, as `make demo` is; one that is named is on your backend, unless LAPTOP=1.
LAPTOP ?= $(if $(filter file,$(origin STACK))$(filter local,$(STACK)),1)
# AS is a variable of make's own, so that `?=` would leave it.
ifeq ($(origin AS),default)
AS := deployer
endif
# The roles of the laptop's own project are there in any case, so that a review of it can tell the mistakes of its file.
OF_STACK = $(if $(filter local,$(STACK)),,--stack "$(STACK)")
# The engine, and the shell's own login or, with LAPTOP, that of somebody of the laptop: engine WHO.
engine = $(if $(LAPTOP),export SLIPWAY_LAPTOP=1; given=$${PULUMI_BACKEND_URL:-}; environment=$$($(PY) -m local.shell --as $(1) $(OF_STACK)); eval "$$environment"; \
	  test -z "$$given" || test "$$given" = "$$PULUMI_BACKEND_URL" || echo 'LAPTOP=1 uses the state of the local cloud and ignores your PULUMI_BACKEND_URL' >&2;) \
	command -v pulumi >/dev/null || export PATH="$$PATH:$$($(PY) -m local.engine)"
# Says what to do where the backend has no such stack, or there is no login to one.
known = known=$$(pulumi stack --show-name --stack "$(STACK)" --non-interactive 2>&1) || { echo "$$known"; case "$$known" in *"no stack named"*) \
	  $(PY) -m local.select_stack --advise --stack "$(STACK)" --flags "$(if $(LAPTOP),LAPTOP=1)";; \
	  *PULUMI_ACCESS_TOKEN*) echo '  fix: add LAPTOP=1 for the local cloud, or export PULUMI_BACKEND_URL, where the state is';; esac; exit 2; }
# The engine's errors name no way out. Its last word may come after this shell's end, so nothing but that ends what reads it.
# The patterns have both parentheses for the bash of macOS.
advised = 2> >(trap '' INT TERM HUP; while IFS= read -r line || [ -n "$$line" ]; do printf '%s\n' "$$line"; case "$$line" in \
	  (*'stack is currently locked'*) echo '  fix: see that no run of it is going, here or elsewhere; then make cancel STACK=$(STACK)$(if $(LAPTOP), LAPTOP=1)';; \
	  (*'--yes or --skip-preview'*) echo '  fix: make $@ STACK=$(STACK)$(if $(LAPTOP), LAPTOP=1) ARGS=--yes, as no terminal can confirm it';; \
	  (*passphrase*) echo '  fix: export PULUMI_CONFIG_PASSPHRASE=…, the one that this stack was made with';; esac; done >&2)
# A preview may end in the provider's words before the program runs.
explained = || { code=$$?; echo 'what the errors mean: make preview STACK=$(STACK)$(if $(LAPTOP), LAPTOP=1) 2>&1 | slipway explain -' >&2; exit "$$code"; }
# The engine writes the file of the stack that it is given, so it is given a copy; the key it finds in the state. On the laptop
# nobody acts as an account of Google's.
copied = test -f "stacks/Pulumi.$(STACK).yaml" || { echo "error: there is no stacks/Pulumi.$(STACK).yaml"; \
	  $(PY) -m local.select_stack --advise --stack "$(STACK)"; exit 2; }; \
	mkdir -p .slipway; $(if $(LAPTOP),sed -E '/^ *gcp:(impersonateServiceAccount|billingProject|userProjectOverride):/d',cat) \
	  "stacks/Pulumi.$(STACK).yaml" >".slipway/Pulumi.$(STACK).yaml"; \
	$(known); \
	export PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER=true PATH="$(abspath $(VENV))/bin:$$PATH"
OF_COPY = --stack "$(STACK)" --config-file ".slipway/Pulumi.$(STACK).yaml"

.PHONY: demo demo-down test test-all test-long lint format fuzz bench bench-faults newest-gcp review events preview up refresh destroy cancel select bootstrap shell yaml-host verify-cloud setup together lock release site help

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

demo: $(if $(wildcard $(READY)),setup,together) ## the main job: local cloud, `pulumi up`, two distributed training jobs: make demo [STACK=dev]
	@$(PY) -m local.demo --stack "$(STACK)"

demo-down: setup ## stop and clean all that `make demo` started
	@$(PY) -m local.demo down

test: $(if $(wildcard $(READY))$(filter vertex-local%,$(ONLY)),setup,together) ## before each commit: format, lint, types, units and twelve journeys: make test [ONLY=vertex-local|slipway|folder-or-word]
	@$(call run,smoke)

test-all: $(if $(wildcard $(READY)),setup,together) ## what CI runs for a pull request: all but the long tests: make test-all [SHARD=1/4]
	@$(call run,all)

test-long: setup ## each week, and before a release: tests that take minutes and hardly ever fail alone
	@$(call run,long)

lint: setup ## format, lint, strict types
	@$(PY) -m tests.run lint

format: setup ## write the format and what the linter can correct
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/ruff check --fix .

fuzz: setup ## many thousands of odd requests to the local cloud, others each time: make fuzz [REQUESTS=20000]
	@cd vertex-local && VERTEX_LOCAL_FUZZ=$(or $(REQUESTS),20000) $(abspath $(PY)) -m pytest tests/test_fuzz.py $(PYTEST_ARGS)

bench: setup ## the bars, one JSON line each
	@$(PY) -m bench

bench-faults: setup ## an hour of trouble at the calls of every journey: make bench-faults [ARGS="--minutes 240"]
	@$(PY) -m bench.faults $(ARGS)

newest-gcp: setup ## the newest pulumi-gcp of the registry, in an environment of its own: its types, and the stand-in with it
	@$(VENV)/bin/uv venv --quiet --clear --python $(PY) $(NEWEST)
	@$(VENV)/bin/uv pip install --quiet --python $(NEWEST) --require-hashes -r requirements-dev.txt
	@TMPDIR="$(abspath $(NEWEST))" $(VENV)/bin/uv pip install --quiet --python $(NEWEST) --no-deps --config-settings editable_mode=compat --editable . --editable vertex-local
	@$(VENV)/bin/uv pip install --quiet --python $(NEWEST) --upgrade-package pulumi-gcp pulumi-gcp
	@$(VENV)/bin/uv pip list --quiet --python $(NEWEST) | grep -E '^pulumi'
	@$(NEWEST)/bin/mypy --cache-dir $(NEWEST)/.mypy_cache components
	@SLIPWAY_NEWEST_GCP=1 $(NEWEST)/bin/python -m pytest -n $(or $(WORKERS),4) tests/components tests/local/plugin/test_provider_sdk.py \
		tests/end_to_end/test_newest_provider.py $(PYTEST_ARGS)
	@echo 'not shown: what the provider itself does. The stand-in ran, which behaves as the pinned version does (docs/upgrading.md)'

review: setup ## what this checkout would do, judged by the code of BASE: make review BASE=main [STACK=dev] [LAPTOP=1] [ARGS=…]
	@test -n "$(BASE)" || { echo 'error: BASE says what to compare with'; echo '  fix: make review BASE=main'; exit 2; }
	@$(call engine,previewer); $(PY) -m local.pull_request --base "$(BASE)" --stack "$(STACK)" $(ARGS)

events: setup ## what a preview would do, for `slipway drift` and `slipway review`: make events STACK=dev [LAPTOP=1]
	@rm -f ".slipway/$(STACK).events"
	@$(call engine,previewer); $(copied); events=".slipway/$(STACK).events"; \
	PULUMI_ENABLE_STREAMING_JSON_PREVIEW=1 pulumi preview --json $(OF_COPY) --non-interactive $(ARGS) >"$$events" || test -s "$$events"; \
	echo "events  $$events"

preview: ## what `up` would do: make preview STACK=dev [LAPTOP=1] [ARGS=…]
up: ## deploy a stack, its reviewed file left as it is: make up STACK=dev [LAPTOP=1] [ARGS=--yes]
refresh: ## take what lives into the state: make refresh STACK=dev [LAPTOP=1] [ARGS=--clear-pending-creates]
destroy: ## take a stack down: make destroy STACK=dev [LAPTOP=1] [ARGS=--yes]
preview up refresh destroy: setup
	@$(call engine,$(if $(filter preview,$@),previewer,deployer)); $(copied); \
	$(if $(filter destroy,$@),export SLIPWAY_PURPOSE=destroy PULUMI_RUN_PROGRAM=true;) \
	$(if $(filter preview,$@),,exec )pulumi $@ $(OF_COPY) $(ARGS) $(advised) $(if $(filter preview,$@),$(explained))

cancel: setup ## release the lock that a killed run left; see first that none is going: make cancel STACK=dev [LAPTOP=1] [ARGS=--yes]
	@$(call engine,deployer); $(known); exec pulumi cancel "$(STACK)" $(ARGS)

select: setup ## select a stack, made where there is none, with its reviewed file left as it is: make select STACK=dev [KEY=gcpkms://…] [LAPTOP=1]
	@$(call engine,deployer); $(PY) -m local.select_stack --stack "$(STACK)" --secrets-provider "$(KEY)"

bootstrap: LAPTOP =
bootstrap: setup ## once, by who owns the projects: CI's identities, states and keys, as bootstrap/ has them; of LAPTOP=1 a preview
	@$(call engine,owner); state=$(if $(LAPTOP),../.slipway/bootstrap,state); cd bootstrap; mkdir -p ../.slipway "$$state"; \
	export PULUMI_BACKEND_URL="file://./$$state?metadata=skip" PULUMI_CONFIG_PASSPHRASE= PULUMI_DISABLE_CHECKPOINT_BACKUPS=true; \
	pulumi stack select --create ci; $(if $(LAPTOP),exec pulumi preview --stack ci $(ARGS);) pulumi up --stack ci $(ARGS); \
	pulumi stack output settings --stack ci >../.slipway/settings.sh; \
	echo 'Read .slipway/settings.sh, which tells your forge; then type: bash .slipway/settings.sh'

shell: ## what a shell on the laptop needs: eval "$(make shell AS=owner|deployer|previewer|submitter|EMAIL|group:EMAIL [STACK=dev])"
	@$(MAKE) -s --no-print-directory setup >&2; $(PY) -m local.shell --as "$(AS)" --stack "$(STACK)"

verify-cloud: setup ## the demo's journey, or what documents leave open, on a real project: make verify-cloud PROJECT=… [PROBES=all] [REGION=…] [MAX_USD=…] [MAX_MINUTES=…] [RESERVATION=… MACHINE=…]
	@$(PY) -m journey.verify_cloud --project "$(PROJECT)" $(if $(PROBES),--probes "$(PROBES)") $(if $(REGION),--region "$(REGION)") $(if $(MAX_USD),--max-usd "$(MAX_USD)") $(if $(MAX_MINUTES),--max-minutes "$(MAX_MINUTES)") $(if $(RESERVATION),--reservation "$(RESERVATION)" --machine "$(MACHINE)") $(if $(YES),--yes)

yaml-host: ## Pulumi's language host for programs in YAML: export PATH="$PATH:$(make -s yaml-host)"
	@$(MAKE) -s --no-print-directory setup >&2; $(PY) -m local.engine yaml

lock: setup ## pin what pyproject.toml names, with hashes, in requirements*.txt
	@$(VENV)/bin/uv pip compile -q --generate-hashes --no-header $(LOCK) pyproject.toml --extra deploy -o requirements.txt
	@$(VENV)/bin/uv pip compile -q --generate-hashes --no-header $(LOCK) pyproject.toml --extra local --extra board --group dev --no-emit-package vertex-local \
		-o requirements-dev.txt
	@$(VENV)/bin/uv pip compile -q --generate-hashes --no-header $(LOCK) pyproject.toml --extra local -c requirements-dev.txt --no-emit-package vertex-local \
		-o slipway/front/starter/requirements-local.lock
	@$(VENV)/bin/uv pip compile -q --generate-hashes --no-header $(LOCK) --group release -o requirements-release.txt
	@$(VENV)/bin/uv pip compile -q --generate-hashes --no-header $(LOCK) --group site -o requirements-site.txt

release: setup ## sources, wheel, notes, bill of materials and hashes of this commit, in dist/: make release VERSION=1.2.3
	@test -n "$(VERSION)" || { echo 'error: VERSION says what is released'; echo '  fix: make release VERSION=1.2.3, as pyproject.toml has it'; exit 2; }
	@$(PY) -m journey.release "$(VERSION)"

site: setup ## the documentation as a web site, in build/site; a link that leads nowhere fails it
	@$(PY) -m journey.site

setup: $(READY) ## packages, into .venv

# From nothing, packages and engine come at once: one computes while the other waits for the network. Where no engine can
# be had, the command that needs it says so. Ctrl-C ends the set-up too, which has a process group of its own for that.
together:
	@set -m; $(MAKE_COMMAND) -s --no-print-directory setup & setup=$$!; set +m; \
	$(PYTHON) -m local.engine >/dev/null || [ $$? != 130 ] || { kill -- -$$setup; exit 130; }; wait $$setup

# Editable by path (compat), since by an import hook any folder called slipway beside a person's script would hide it.
# The mark is written last, so that a killed set-up is begun again and a finished one costs nothing. uv leaves a lock in the
# temporary folder for each source that it builds.
# Two at once take turns, and the second finds it made.
$(READY): requirements-dev.txt pyproject.toml vertex-local/pyproject.toml
ifndef MY_TURN
	@$(PYTHON) -c 'import fcntl, os, sys; fcntl.flock(os.dup2(os.open(".", 0), 9), 2); os.execvp(sys.argv[1], sys.argv[1:])' $(MAKE) -s --no-print-directory MY_TURN=1 $@
else
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "error: Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "\n  fix: make PYTHON=python3.11 …")'
	@echo "setup   virtual environment in $(VENV)"
	@rm -f $(READY)
	@test -x $(PY) && $(PY) -c 'import pip' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@echo "setup   packages, pinned with hashes (a minute where nothing is cached, seconds after)"
	@$(PY) -m pip install --quiet --disable-pip-version-check "$$(sed -n 's/^\(uv==[^ ]*\).*/\1/p' requirements-dev.txt)"
	@$(VENV)/bin/uv pip install --quiet --python $(PY) --require-hashes -r requirements-dev.txt
	@TMPDIR="$(abspath $(VENV))" $(VENV)/bin/uv pip install --quiet --python $(PY) --no-deps --config-settings editable_mode=compat --editable . --editable vertex-local
	@touch $(READY)
endif
