"""The reviewed commit of a deployment, to which every job can be traced."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path, PurePosixPath

from slipway.authoring.packages.working_tree import is_packed
from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted
from slipway.model.labels import SHORT, UNKNOWN_COMMIT, Revision

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
# A deployment publishes the files in these, whether git ignores them or not.
_PUBLISHED = ("templates/*.py", "jobs/*/*")
_ELSEWHERE = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"})


def checkout_revision(checkout: Path, environ: Mapping[str, str]) -> Revision:
    """Return the checkout's commit as git tells it. `SLIPWAY_COMMIT` is used only where there is no git to ask: a
    tarball, an image.

    Raises ConfigError for a `SLIPWAY_COMMIT` that is not a commit, or not the checkout's.
    """
    given = environ.get("SLIPWAY_COMMIT", "").strip().lower()
    if given and not _COMMIT.fullmatch(given):
        raise ConfigError(
            f"SLIPWAY_COMMIT is not a commit: {given!r}",
            why="it labels every job, so it must be 7 or more hexadecimal digits",
            fix="export SLIPWAY_COMMIT=$(git rev-parse HEAD), or unset it",
        )
    status, refusal = _git(checkout, "status", "--porcelain=v2", "--branch", "--untracked-files=normal")
    oid = re.search(r"^# branch\.oid ([0-9a-f]+)$", status, re.MULTILINE)
    if refusal and given:
        raise ConfigError(
            f"SLIPWAY_COMMIT can't be compared with the checkout: git says {refusal!r}",
            why="jobs would be traced to a commit that nobody has looked at",
            fix="let git read the checkout (git status says how), or deploy from a folder without .git",
        )
    if oid is None or not _git(checkout, "ls-files", "--", ".")[0]:
        return Revision(given[:SHORT] or UNKNOWN_COMMIT, dirty=False)
    if not oid[1].startswith(given):
        raise ConfigError(
            f"SLIPWAY_COMMIT is {given[:SHORT]}, and the checkout is at {oid[1][:SHORT]}",
            why="jobs would be traced to a commit that they don't come from",
            fix=f"git checkout {given}, or unset SLIPWAY_COMMIT: git is asked then",
        )
    changed = any(not line.startswith("#") for line in status.splitlines())
    return Revision(oid[1][:SHORT], dirty=changed or _ignored(checkout))


class CommitOrder(Enum):
    """The order of a commit and the deployed one."""

    SAME = "same"
    LATER = "later"
    #: An ancestor of the deployed commit.
    EARLIER = "earlier"
    #: Each has commits that the other one has not.
    DIVERGED = "diverged"
    #: The clone does not have the deployed commit.
    MISSING = "missing"
    #: The clone does not have the commits between both.
    SHALLOW = "shallow"


def commit_order(checkout: Path, commit: str, deployed: str) -> CommitOrder:
    """Return the order of a commit and the deployed one, each by its first digits or more."""
    short = min(len(commit), len(deployed))
    if short and commit[:short] == deployed[:short]:
        return CommitOrder.SAME
    ours, theirs = _full(checkout, commit), _full(checkout, deployed)
    base = _git(checkout, "merge-base", ours, theirs)[0].strip() if ours and theirs else ""
    if base and base == ours:
        return CommitOrder.EARLIER
    if base and base == theirs:
        return CommitOrder.LATER
    # A shallow clone lacks history, so that related commits look unrelated.
    if _git(checkout, "rev-parse", "--is-shallow-repository")[0].strip() == "true":
        return CommitOrder.SHALLOW
    return CommitOrder.DIVERGED if ours and theirs else CommitOrder.MISSING


def _full(checkout: Path, commit: str) -> str:
    """Return all digits of a commit that the clone has, or an empty text."""
    if not _COMMIT.fullmatch(commit):
        return ""
    found = _git(checkout, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")[0].strip()
    # Of a branch with this name, git returns the newest commit.
    return found if found.startswith(commit) else ""


def commits_since(checkout: Path, commit: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Return `3f9c2e1 Its subject` of commits since another that touch these paths, newest first, if git tells."""
    if not _COMMIT.fullmatch(commit):
        return ()
    subjects, _ = _git(checkout, "log", "--format=%h %s", f"{commit}..HEAD", "--", *paths)
    return tuple(subjects.splitlines())


def file_at(path: Path, ref: str) -> str:
    """Return a file's text at a commit, branch or tag of its checkout. Raises ConfigError where git has none."""
    text, refusal = _git(path.resolve().parent, "show", "--end-of-options", f"{ref}:./{path.name}")
    if not text:
        raise ConfigError(
            f"there is no {path} at {quoted(ref)}",
            why=f"git says: {refusal}" if refusal else "this is no checkout of git, or the file is empty there",
            fix="a commit, branch or tag that has the file",
        )
    return text


def _ignored(checkout: Path) -> bool:
    """Tell whether git ignores a published file, except those that Python and tools leave there."""
    listed, _ = _git(checkout, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", *_PUBLISHED)
    return any(is_packed(PurePosixPath(name)) for name in listed.split("\0") if name)


def _git(checkout: Path, *arguments: str) -> tuple[str, str]:
    """Return git's answer, and its refusal. Both are empty where there is no git, or no checkout of its own."""
    command = ["git", "--no-optional-locks", "-C", str(checkout), *arguments]
    # A git hook sets variables that would make git read another checkout than this one.
    plain = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    environ = {**plain, "LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30, env=environ)
    except OSError:
        return "", ""
    except subprocess.TimeoutExpired:
        return "", "nothing within 30 s"
    if done.returncode == 0:
        return done.stdout, ""
    refusal = (done.stderr.strip().splitlines() or ["nothing"])[0].removeprefix("fatal: ")
    return "", "" if refusal.startswith("not a git repository") else refusal
