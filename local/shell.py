"""`eval "$(make shell [AS=WHO] [STACK=NAME])"`: what a shell needs to deploy to the local cloud.

It starts the cloud, where none runs, and names the stack's project to it: its people, accounts and quota.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from contextlib import closing
from pathlib import Path

from vertex_local.environment import of_shell
from vertex_local.identities import HOME, ROLES, SUBMITTER, Project
from vertex_local.server import daemon, named_project
from vertex_local.server.cloud_file import Record, read_record, state_folder

from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.standard_output import exit_after

from . import environment, project_folder
from .engine.engine import ensure
from .engine.progress import Printer
from .errors import as_slipways
from .plugin import installation
from .stack_file import LaptopStack, read

_GROUP = "group:"


def variables(who: str, stack: str | None) -> dict[str, str]:
    """Return the variables of a shell that acts as `who` on a stack of this project's folder. Of a group that is the
    submitter, who is in it from then on. Raises SlipwayError."""
    played = read(project_folder(), stack) if stack else None
    folder = state_folder()
    with as_slipways():
        record, project = _cloud(folder, played, who)
        if who.startswith(_GROUP):
            named_project.name(record, {"project": project.id, "groups": {who: [SUBMITTER]}})
            who = "submitter"
        who = played.submitter if played and who == "submitter" else who
        if who not in project.principals:
            raise ConfigError(
                f"{who} is nobody in project {project.id}",
                why=f"it has {', '.join(project.principals)}",
                fix="name one of them with --as, or a stack that names more people with --stack",
            )
        engine = _engine(folder)
        return {
            **engine,
            **of_shell(record, folder, project, who),
            **environment.own_things(folder, who),
            "VERTEX_LOCAL_STATE": str(folder),  # For `vertex-local` in another folder.
        }


def _cloud(folder: Path, played: LaptopStack | None, who: str) -> tuple[Record, Project]:
    """Return a running cloud, and the stack's project in it. Print who is there, and how `who` submits."""
    started = daemon.start(folder, {})
    word = "started" if started.fresh else "running"
    print(f"local cloud {word}: {started.record.url}{f' ({started.note})' if started.note else ''}", file=sys.stderr)
    if played is None:
        return started.record, HOME
    project = named_project.name(started.record, played.declaration())
    record = read_record(folder)
    assert record, "it runs"
    # A group that the stack file does not name is one of a program of somebody's own, which has another catalog.
    own = who.startswith(_GROUP) and who not in played.groups
    groups = ", ".join(group.partition(":")[2] for group in ([who] if own else played.groups))
    people = f"--as {', '.join(project.principals)}"
    print(f"project {project.id}: {people}{f'; submitter is in {groups}' if groups else ''}", file=sys.stderr)
    catalog = f"gs://{played.stack.workspace.catalog_bucket}"
    use = "slipway use $(pulumi stack output catalog), in the program's folder" if own else f"slipway use {catalog}"
    print(f"to submit, once it is deployed: {use}", file=sys.stderr)
    return record, project


def _engine(folder: Path) -> dict[str, str]:
    """Return the variables of an engine that exists by then, with a home and a backend in the state folder."""
    with closing(Printer(sys.stderr)) as printer:
        engine = ensure(printer)
        installation.install(folder / "pulumi-home", Path(sys.executable))
        (folder / "pulumi-state").mkdir(exist_ok=True)
    return environment.engine_variables(folder, engine.bin, os.environ.get("PATH", ""))


def main() -> int:
    parser = argparse.ArgumentParser(prog="make shell", description=__doc__)
    parser.add_argument("--as", dest="who", default="deployer", metavar="|".join((*ROLES, "EMAIL", f"{_GROUP}EMAIL")))
    parser.add_argument("--stack", metavar="NAME", help="the project of a stack file, with the people it names")
    options = parser.parse_args()
    try:
        for name, value in variables(options.who, options.stack).items():
            print(f"export {name}={shlex.quote(value)}")
    except SlipwayError as error:
        print(error.render(), file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    exit_after(main)
