"""Git trees of commits, as the CI job's checkout knows them, in which this runs: GitLab's API does not tell them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from slipway.base.errors import ConfigError

_ID = re.compile(r"[0-9a-f]{40,64}")
_PATIENCE = 120.0


def here() -> str:
    """Return the tree of the checked-out commit. Raises ConfigError where there is none."""
    tree = _tree("HEAD")
    if not tree:
        fix = "run this in the job's checkout"
        raise ConfigError("the merge result is not known", why=f"git finds no commit in {Path.cwd()}", fix=fix)
    return tree


def of(commit: str) -> str:
    """Return the tree of a commit, fetched where the checkout lacks it; empty where origin no longer has it."""
    if not _ID.fullmatch(commit):
        return ""
    tree = _tree(commit)
    if not tree and _git("fetch", "--quiet", "--no-tags", "--depth=1", "origin", commit) is not None:
        tree = _tree(commit)
    return tree


def _tree(commit: str) -> str:
    return (_git("rev-parse", "--quiet", "--verify", f"{commit}^{{tree}}") or "").strip()


def _git(*words: str) -> str | None:
    """Return git's answer, None for a refusal."""
    # A checkout's own settings may name programs, which must not run here.
    settings = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
    try:
        done = subprocess.run(
            ("git", *settings, *words),
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
