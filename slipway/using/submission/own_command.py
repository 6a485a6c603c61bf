"""A person's own command: the text that a job's parameter has, and the template that runs it."""

from __future__ import annotations

import shlex
from pathlib import Path

from slipway.authoring.packages.own_modules import nearest_program
from slipway.authoring.packages.packing import runs_any_folder
from slipway.authoring.packages.project_file import PROJECT
from slipway.base.errors import ConfigError
from slipway.base.formatting import join, nearest, quoted, short
from slipway.model.catalog.command_line import refusal, with_shell
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import USUAL_SCRIPT, Template

_MEMBERS = ("*", "*/*")
"""The places of a workspace's members, as far as they are looked for."""


def command_line(words: tuple[str, ...], folder: Path) -> str:
    """Return the command as a parameter has it, for a shell where it needs one. One word alone is a line already, or a
    file of the folder; a Python file is run by Python, and a shell's by bash. Raises ConfigError for a flag or a folder
    in the place of a program."""
    alone = len(words) == 1 and not (" " in words[0] and (folder / words[0]).is_file())
    _require_program(words[0], folder / words[0], alone=alone)
    _require_known(words[0], folder)
    line = words[0] if alone else shlex.join(words)
    first = line.partition(" ")[0] if alone else words[0]
    if first.endswith(".py"):
        line = f"python {line}"
    elif first.endswith(".sh") and "/" not in first:
        line = f"bash {line}"
    return with_shell(line) if refusal(line) else line


def _require_program(word: str, place: Path, *, alone: bool) -> None:
    if word.startswith("-"):
        raise ConfigError(
            f"{short(word)} stands in the place of a command",
            why="a command begins with the program to run",
            fix="slipway run --help" if word in ("-h", "--help") else f"python {short(word)} …, for example",
        )
    if not alone and " " in word and not word.startswith("/") and not place.is_file():
        raise ConfigError(
            f"{quoted(word)} is no program",
            why="what follows a line in quotes is none of it",
            fix=f"{quoted(f'{word} …')}, all of it in quotes",
        )
    if place.is_dir() and word and (alone or "/" in word) and not is_of_project(word, place.parent):
        main = (place / "__main__.py").is_file()
        raise ConfigError(
            f"{short(word)} is a folder, and no program",
            why="a command begins with the program to run",
            fix=f"slipway run python {word}" if main else f"slipway run --code {word} COMMAND, which runs in it",
        )


def _require_known(word: str, folder: Path) -> None:
    """Raise ConfigError for a mistyped program of the folder's project, which no image has."""
    project = folder / PROJECT
    text = project.read_text(encoding="utf-8", errors="replace") if project.is_file() else ""
    program = word.partition(" ")[0]
    near = nearest_program(program, text)
    if near and not (folder / program).exists() and not _is_of_member(program, folder):
        raise ConfigError(
            f"{short(program)} is not a program of the folder's project",
            why=f"{PROJECT} names {near}",
            fix=f"did you mean {near}? A program {program} of the image runs by: slipway run -- env {program} …",
        )


def _is_of_member(program: str, folder: Path) -> bool:
    """Return whether a project in a subfolder names a program so, such as a member of a workspace."""
    inner = [project for pattern in _MEMBERS for project in folder.glob(f"{pattern}/{PROJECT}")]
    return any(is_of_project(program, project.parent) for project in inner)


def is_of_project(word: str, folder: Path) -> bool:
    """Tell whether a folder's project names a command so, which its job has on its PATH."""
    project = folder / PROJECT
    if not project.is_file():
        return False
    from slipway.authoring.packages.slipway_command import ENTRY, SCRIPTS  # It imports the launcher's other modules.

    sections = SCRIPTS.findall(project.read_text(encoding="utf-8", errors="replace"))
    return any(found[1] == word for section in sections for found in ENTRY.finditer(section))


def script_template(catalog: Catalog, name: str | None, machine: str | None) -> Template:
    """Return the template of this name, or the usual one, that runs a command in any folder, with a choice of machines
    where one is chosen. Raises ConfigError."""
    found = _template(catalog, name)
    if machine and all(parameter.name != "machine" for parameter in found.parameters):
        raise ConfigError(
            f"{found.name} has no choice of machines",
            why="it has no parameter machine",
            fix=f"slipway templates show {found.name}, which has its machines; leave --machine out",
        )
    return found


def _template(catalog: Catalog, name: str | None) -> Template:
    fitting = {template.name: template for template in catalog.templates.values() if runs_any_folder(template)}
    wanted = name or (USUAL_SCRIPT if USUAL_SCRIPT in fitting or len(fitting) != 1 else next(iter(fitting)))
    if wanted in fitting:
        return fitting[wanted]
    if not fitting:
        raise ConfigError(
            f"no template of stack {catalog.stack} runs a command in a folder of yours",
            why="such a template has SCRIPT as its module and code_flag=True, as templates/script.py of slipway init; "
            "its stack has `slipway:workspace.code`",
            fix="slipway templates, for what there is to run; or ask the stack's owners for one",
        )
    near = nearest(wanted, fitting) or next(iter(fitting))
    raise ConfigError(
        f"{quoted(wanted)} runs no command in a folder of yours" if name else "several templates run a command",
        why=f"{join(fitting)} {'do' if len(fitting) > 1 else 'does'}",
        fix=f"slipway run --template {near} …",
    )
