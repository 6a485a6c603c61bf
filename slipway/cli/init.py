"""Write a small repository of one's own: a stack, a template, a test.

A file that is there is left as it is, so that it may be run again.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click

from slipway import installation
from slipway.cli.terminal import screen
from slipway.errors import ConfigError
from slipway.files import write_atomically
from slipway.formatting import join, quoted

_STARTER = installation.PACKAGE / "starter"
_PROGRAM = "__main__.py"
_VALUE = re.compile(r"""[^\s"\\]+""")
_ASKED = {
    "PROJECT": ("--project", "Google Cloud project"),
    "REGION": ("--region", "Region"),
    "SUBMITTER": ("--submitter", "Who may submit, such as group:ml@acme.example"),
    "TEAM": ("--team", "Code owners, such as @acme/ml-platform"),
}


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--project", metavar="ID", help="The Google Cloud project of the first stack.")
@click.option("--region", metavar="REGION", help="Its region; us-central1 where nothing else is said.")
@click.option("--submitter", metavar="MEMBER", help="Who may submit: user:…, group:…, serviceAccount:….")
@click.option("--team", metavar="OWNER", help="Who must approve changes, in CODEOWNERS.")
@click.option("--yes", is_flag=True, help="Ask nothing: what no flag says and has no default is an error.")
def command(folder: Path, yes: bool, **given: str | None) -> None:
    starter = _files()
    program = starter[_PROGRAM]
    if folder.is_dir() and not _may_write(folder, program):
        why = f"without a {_PROGRAM} of slipway's it is no repository of slipway's"
        raise ConfigError(f"{folder} is not empty", why=why, fix="name a new folder")
    missing = {name: text for name, text in starter.items() if not (folder / name).exists()}
    values = {
        "NAME": re.sub(r"[^\w.-]", "-", folder.resolve().name),
        "SOURCE": installation.source("deploy"),
        **_values({key for key in _ASKED if any(f"@{key}@" in text for text in missing.values())}, given, yes),
    }
    for name, text in missing.items():
        write_atomically(folder / name, re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], text))
    if kept := sorted(starter.keys() - missing.keys()):
        screen.note(f"left as they are: {join(kept)}")
    for name in sorted(missing):
        screen.out(f"  {folder / name}")
    if re.search(r"(^|file://)/", values["SOURCE"]):
        screen.note("warning: requirements.txt names a path of this machine: put the address of a release there")
    screen.hint(f"  cd {folder} && make test")


def _files() -> dict[str, str]:
    """Return the text of each file by its name, the program first: by that a folder that was begun is known."""
    found = (path for path in _STARTER.rglob("*.in") if "github" not in path.parts)  # Filled by --workflows, to come.
    names = sorted(found, key=lambda path: path.name != f"{_PROGRAM}.in")
    files = {path.relative_to(_STARTER).as_posix().removesuffix(".in"): path.read_text("utf-8") for path in names}
    return {".gitignore" if name == "gitignore" else name: text for name, text in files.items()}


def _may_write(folder: Path, program: str) -> bool:
    there = {path.name for path in folder.iterdir()} - {".git"}
    return not there or (_PROGRAM in there and (folder / _PROGRAM).read_bytes() == program.encode())


def _values(keys: set[str], given: dict[str, str | None], yes: bool) -> dict[str, str]:
    """Return what flags say, what is usual, or what a person answers. Raises ConfigError where nobody can be asked."""
    usual = {"PROJECT": os.environ.get("GOOGLE_CLOUD_PROJECT"), "REGION": "us-central1"}
    values = {}
    for key, (flag, question) in _ASKED.items():
        if key not in keys:
            continue
        value = given[key.lower()]
        if value is None and (yes or not sys.stdin.isatty()):
            value = usual.get(key)
        elif value is None:
            value = click.prompt(question, default=usual.get(key), err=True)
        if not value:
            raise ConfigError(f"{flag} is missing", why="nobody can be asked here", fix=f"add {flag} VALUE")
        if not _VALUE.fullmatch(value):
            raise ConfigError(f"{flag} {quoted(value)} is no name", fix="leave out spaces, quotes and backslashes")
        values[key] = value
    return values
