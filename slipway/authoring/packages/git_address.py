"""A repository's address with a commit, a branch or a tag, as people paste and pip writes it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from slipway.base.errors import ConfigError, Fix
from slipway.base.formatting import quoted

_ADDRESS = re.compile(
    r"(?:git\+)?(?P<url>(?:(?:https|ssh)://(?:(?P<user>[^/@\s]*)@)?[\w.-]+(?::\d+)?/|file:///|[\w.-]+@[\w.-]+:)[^@#\s]+)"
    r"(?:@(?P<revision>\w[\w./+-]*))?(?:#(?P<fragment>\S*))?"
)
_PAGE = re.compile(
    r"(?P<url>https://.+?)(?:/-)?/(?:tree/(?P<revision>[^/]+)(?:/(?P<folder>.+?))?/?|blob/(?P<of>[^/]+)/(?P<file>.+))"
)
"""The address of the page of a folder or a file at a forge."""
_FOLDER = re.compile(r"(?:^|&)(?:subdirectory=)?(?P<folder>[\w./ -]+)$")
_SHORT_COMMIT = re.compile(r"[0-9a-f]{4,39}")
_NEVER_ASKS = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "LC_ALL": "C",
}
_OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
_STALLS = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30")


@dataclass(frozen=True)
class GitAddress:
    url: str
    #: Empty for the default branch.
    revision: str = ""
    #: The folder in it; empty for its top.
    folder: str = ""

    @classmethod
    def parse(cls, text: str) -> GitAddress | None:
        """Parse an address; None for what is none. Raises ConfigError for one with a password or token in it."""
        found = _ADDRESS.fullmatch(text)
        if not found:
            return None
        user = found["user"] or ""
        if ":" in user or len(user) > 30:
            raise ConfigError(
                "the address of the code has a password or token in it",
                why="it would stand in the shell's history and in what is printed",
                fix="leave it out, and have git know it: git credential approve, or an address by ssh",
            )
        if not found["revision"] and (page := _PAGE.fullmatch(found["url"])):
            beside = str(PurePosixPath(page["file"]).parent) if page["file"] else ""
            return cls(page["url"], page["revision"] or page["of"], page["folder"] or beside.removeprefix("."))
        inner = _FOLDER.search(found["fragment"] or "")
        return cls(found["url"].rstrip("/"), found["revision"] or "", inner["folder"] if inner else "")

    @property
    def name(self) -> str:
        return PurePosixPath(self.folder or self.url.rpartition(":")[2]).name.removesuffix(".git")

    def fetch(self, into: Path) -> tuple[Path, str]:
        """Fetch the commit alone, by this person's own git, which asks for nothing; return the folder and the commit.
        Raises ConfigError."""
        self._git(into, "init", "--quiet", "--template=")
        self._git(into, "remote", "add", "origin", self.url)
        self._git(into, *_STALLS, "fetch", "--quiet", "--depth=1", "--no-tags", "origin", self.revision or "HEAD")
        self._git(into, "checkout", "--quiet", "--detach", "FETCH_HEAD")
        if (into / ".gitmodules").is_file():
            try:
                self._git(into, *_STALLS, "submodule", "--quiet", "update", "--init", "--recursive", "--depth=1")
            except ConfigError as problem:
                raise ConfigError(
                    f"can't fetch the submodules of {self.url}",
                    why=problem.why.replace(f"{into}/", ""),
                    fix=f"git clone --recursive {shlex.quote(self.url)}, and --code with that folder",
                ) from problem
        folder = (into / self.folder).resolve()
        if not folder.is_dir() or not folder.is_relative_to(into.resolve()):
            tops = sorted(path.name for path in into.iterdir() if path.is_dir() and path.name != ".git")
            why = f"it has {', '.join(tops[:5]) or 'no folder'}"
            raise ConfigError(f"{self.url} has no folder {quoted(self.folder)}", why=why, fix="#FOLDER, from its top")
        return folder, self._git(into, "rev-parse", "HEAD")

    def _git(self, folder: Path, *words: str) -> str:
        environ = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK} | _NEVER_ASKS
        try:
            done = subprocess.run(
                ["git", *words],
                cwd=folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                start_new_session=True,  # without a terminal, at which ssh would ask
                check=False,
            )
        except OSError as problem:
            why = f"git can't be run: {problem.strerror}"
            raise ConfigError("fetching code needs git", why=why, fix="install git, or put it on PATH") from problem
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            fix: Fix = f"see what git answers without asking you: git ls-remote {shlex.quote(self.url)}"
            if _SHORT_COMMIT.fullmatch(self.revision):
                fix = f"all 40 digits of the commit, as servers find no shorter one; or else {fix}"
            what = f" @ {self.revision}" if self.revision else ""
            raise ConfigError(f"can't fetch {self.url}{what}", why="\n".join(lines[-3:]), fix=fix)
        return done.stdout.decode(errors="replace").strip()
