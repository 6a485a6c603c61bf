"""`make select STACK=…`: selects a stack, and makes it where there is none, with the reviewed stack file left as it is.

`pulumi stack select --create` writes that file anew. So the engine makes the stack from a copy of the project's files,
and selects it here afterwards, which writes nothing. A run that is killed leaves at most an empty stack, which the next
one selects.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from slipway.authoring.stack.deleted_files import fix_of_deleted
from slipway.authoring.stack.yaml_file import pulumi_project
from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.standard_output import exit_after


def select(
    folder: Path,
    stack: str,
    secrets_provider: str = "",
    *,
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Select `stack` of a folder's project; `secrets_provider` is a new state's, `file` stands for the stack's."""
    project, declared = Path("Pulumi.yaml"), Path("stacks", f"Pulumi.{stack}.yaml")
    if not (folder / declared).is_file():
        raise ConfigError(
            f"there is no {declared}",
            why="each stack has a file",
            fix=fix_of_deleted(folder, stack) or "make select STACK=NAME, a stack of stacks/",
        )
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        (copy / declared).parent.mkdir()
        shutil.copyfile(folder / project, copy / project)
        shutil.copyfile(file or folder / declared, copy / declared)
        key = ("--secrets-provider", secrets_provider) if secrets_provider else ()
        _pulumi(copy, environ, stack, "--create", *key)
    _pulumi(folder, environ, stack)


def _pulumi(folder: Path, environ: Mapping[str, str] | None, stack: str, *flags: str) -> None:
    command = ("pulumi", "stack", "select", *flags, "--non-interactive", "--", stack)
    try:
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    except OSError as problem:
        raise ConfigError("pulumi can't be run", why=str(problem), fix="install Pulumi, or put it on PATH") from problem
    if done.returncode:
        raise SlipwayError(
            f"stack {stack} can't be selected",
            why=done.stderr.strip() or f"exit code {done.returncode}",
            fix="see what pulumi says; PULUMI_BACKEND_URL says where the state is, LAPTOP=1 takes the local cloud",
        )


def fix_of_missing(folder: Path, stack: str, flags: str = "", environ: Mapping[str, str] | None = None) -> str:
    """Return what to do when the backend has no such stack of a folder's project. `flags`: those of the command."""
    command = " ".join(filter(None, (f"make select STACK={stack}", flags)))
    another = "export PULUMI_BACKEND_URL=URL, or pulumi login URL, if the stack was deployed: another backend has it"
    if flags:
        another = f"leave out {flags}, if the stack was deployed with another backend: {flags} takes the local cloud's"
    fixes = [another]
    former = _former_name(folder, stack, environ)
    if former:
        fixes.append(
            f"or `name: {former}` again in Pulumi.yaml, the project's former name: the backend has its stack {stack}"
        )
    fixes.append(f"or {command}, which creates {'a second' if former else 'an empty'} stack")
    return "\n       ".join(fixes)


def _former_name(folder: Path, stack: str, environ: Mapping[str, str] | None) -> str:
    """Return the project's only former name, if the backend has its stack; empty otherwise.

    The history of a copied template can hold several names, some of them of other teams' projects.
    """
    names = _former_names(folder, environ)
    if len(names) != 1:
        return ""
    return "".join(names & _projects_with(folder, stack, environ))


def _former_names(folder: Path, environ: Mapping[str, str] | None) -> set[str]:
    """Return the names that Pulumi.yaml had in the history of its checkout, without the present one."""
    command = ("git", "log", "--format=", "--patch", "--", "Pulumi.yaml")
    try:
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    except OSError:
        return set()
    names = re.findall(r"^[+-]name: *[\"']?([\w.-]+)", done.stdout, re.MULTILINE)
    return set(names) - {pulumi_project(folder)}


def _projects_with(folder: Path, stack: str, environ: Mapping[str, str] | None) -> set[str]:
    """Return the projects of the backend that have a stack of this name; none if Pulumi can't list them."""
    command = ("pulumi", "stack", "ls", "--all", "--json", "--non-interactive")
    try:
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    except OSError:
        return set()
    listed = json.loads(done.stdout) if done.returncode == 0 else []
    names = [str(entry["name"]).split("/") for entry in listed]
    return {name[-2] for name in names if len(name) > 1 and name[-1] == stack}


def _advice(folder: Path, stack: str, flags: str) -> str:
    """Return what to do about a stack without a file, or about one that the backend does not have."""
    if (folder / "stacks" / f"Pulumi.{stack}.yaml").is_file():
        return fix_of_missing(folder, stack, flags)
    fix = fix_of_deleted(folder, stack) or "STACK=NAME, a stack of stacks/"
    return fix.replace("\n", "\n       ")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make select", description=__doc__)
    parser.add_argument("--stack", required=True)
    parser.add_argument("--secrets-provider", default="", help="the key of a new stack's secrets: gcpkms://…")
    parser.add_argument("--advise", action="store_true", help="print what to do about a missing stack or stack file")
    parser.add_argument("--flags", default="", help="with --advise: the flags of the command")
    options = parser.parse_args()
    if options.advise:
        print(f"  fix: {_advice(Path.cwd(), options.stack, options.flags)}")
        return 0
    try:
        select(Path.cwd(), options.stack, options.secrets_provider)
    except SlipwayError as problem:
        print(problem.render(), file=sys.stderr)
        return problem.exit_code
    print(f"stack {options.stack} is selected; stacks/Pulumi.{options.stack}.yaml is as it was")
    return 0


if __name__ == "__main__":
    exit_after(main)
