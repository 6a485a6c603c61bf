"""Tests have the variables of any user's shell, whatever the shell has that starts them."""

import os
import subprocess
import sys

from tests.bare_environment import bare
from tests.python_files import ROOT

HOSTILE = {
    "PYTHONOPTIMIZE": "2",
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": "error",
    "PYTHONPATH": "/nonexistent",
    "PULUMI_STACK": "prod",
    "SLIPWAY_CATALOG": "gs://another",
    "GITHUB_ACTIONS": "true",
    "NO_COLOR": "1",
}
REGISTRIES = (
    "HTTPS_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "PIP_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "GOPROXY",
)


def test_what_leads_to_registries_is_kept_and_settings_of_programs_are_not() -> None:
    kept = dict.fromkeys(("PATH", "HOME", "LANG", "CI", *REGISTRIES), "x")
    assert bare({**kept, **HOSTILE}) == kept


def test_this_run_has_a_bare_environment() -> None:
    assert HOSTILE.keys() & os.environ.keys() == set()
    assert (sys.flags.optimize, sys.warnoptions, sys.flags.dont_write_bytecode) == (0, [], 0)


def test_a_hostile_shell_changes_no_test_run() -> None:
    this = f"{__file__}::{test_this_run_has_a_bare_environment.__name__}"
    words = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", this]
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **HOSTILE}, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith(". "), done.stdout + done.stderr


def test_a_command_runs_with_the_bare_environment() -> None:
    words = [sys.executable, "-I", "tests/bare_environment.py", "env"]
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **HOSTILE}, capture_output=True, text=True, check=True)
    names = {line.partition("=")[0] for line in done.stdout.splitlines()}
    assert "PATH" in names and HOSTILE.keys() & names == set()
