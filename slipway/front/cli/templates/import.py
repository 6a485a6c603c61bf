"""Make templates of job files of gcloud.

Each FILE is what gcloud ai custom-jobs create --config takes, a request for a job, or what describe --format=yaml
prints. Its template is written to templates/NAME.py. Of several files all become templates, or none does.

\b
  slipway templates import job.yaml --name digits
  slipway templates import jobs/*.yaml
  slipway templates import job.yaml --name lora --code jobs/lora
  slipway templates import job.yaml --print
"""

# ruff: noqa: N999 - the path is the verb
from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slipway.base.errors import ConfigError
from slipway.base.files import write_atomically
from slipway.base.formatting import join
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, word_option
from slipway.reviewing.sources import text_of

if TYPE_CHECKING:
    from slipway.authoring.gcloud.importing import Naming
    from slipway.authoring.stack.yaml_file import FileMistake

_NO_NAME = re.compile(r"[^a-z0-9]+")


@click.command()
@click.argument("files", nargs=-1, required=True, type=WORD, metavar="FILE…")
@word_option("--name", metavar="NAME", help="What the template of one file is called. Default: the file's name.")
@word_option("--summary", metavar="TEXT", help="What the template of one file does, in a line. Default: its source.")
@word_option("--code", metavar="DIR", help="The folder that has the code of a Python package: jobs/lora.")
@click.option("--print", "prints", is_flag=True, help="Print the Python and write nothing.")
def command(files: tuple[str, ...], name: str | None, summary: str | None, code: str | None, prints: bool) -> None:
    from slipway.authoring.gcloud.importing import Naming

    files = tuple(dict.fromkeys(files))
    if files[1:] and (given := [flag for flag, value in (("--name", name), ("--summary", summary)) if value]):
        why = f"{join(files)} would all have it"
        raise ConfigError(f"{join(given)} can't be of several files", why=why, fix="import that one alone")
    asked = {
        file: Naming(
            name=name or _NO_NAME.sub("-", Path(file).stem.lower()).strip("-"),
            summary=summary or f"imported from {Path(file).name}",
            folder=(code or "").rstrip("/"),
            is_draft=prints,
        )
        for file in files
    }
    sources = _sources(asked, prints=prints)
    if prints:
        heads = {target: f"# {target}\n" if len(sources) > 1 else "" for target in sources}
        screen.out("\n\n".join(f"{heads[target]}{source}".rstrip("\n") for target, source in sources.items()))
        return
    _write(sources)
    for target in sources:
        screen.out(f"wrote {target}")
    names = join(naming.name for naming in asked.values())
    screen.note(f"next: add {names} to slipway:templates of a stack file, then slipway check")


def _sources(asked: Mapping[str, Naming], *, prints: bool) -> dict[Path, str]:
    """Return the Python of each template by its file, and tell the differences. Raises ConfigError with the mistakes of
    all job files."""
    from slipway.authoring.gcloud.importing import read
    from slipway.authoring.gcloud.output import Note
    from slipway.authoring.gcloud.python_source import python_source
    from slipway.authoring.gcloud.workers import UNPINNED

    sources, notes, errors = dict[Path, str](), list[Note](), list[ConfigError]()
    for file, naming in asked.items():
        target = Path("templates", f"{naming.name.replace('-', '_')}.py")
        also = [] if prints else _not_writable(target)
        also += _twice(file, naming, asked)
        try:
            text = text_of(file, "name a job file in YAML, as UTF-8", strict=True)
            imported = read(text, file, naming, also)
        except ConfigError as error:
            errors.append(error)
            continue
        notes += imported.notes
        sources[target] = python_source(imported.template).replace(UNPINNED, "")
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ConfigError(
            f"{len(errors)} of {len(asked)} files can't be imported, and nothing was written",
            why="\n".join(f"{error.what}: {error.why}" if "\n" not in error.why else error.why for error in errors),
            fix="correct them, or import the others alone",
        )
    for note in notes:
        screen.note(f"note: {note}")
    return sources


def _not_writable(target: Path) -> list[FileMistake]:
    from slipway.authoring.gcloud.importing import flag_mistake

    if not target.parent.is_dir():
        return [flag_mistake("there is no folder templates/ here", "run it in the repository's root, or add --print")]
    if target.exists() or target.is_symlink():
        fix = "--name ANOTHER, or --print to see what it would be"
        return [flag_mistake(f"{target} exists, and was not overwritten", fix)]
    return []


def _twice(file: str, naming: Naming, asked: Mapping[str, Naming]) -> list[FileMistake]:
    """Find an earlier file whose template has the same name."""
    from slipway.authoring.gcloud.importing import flag_mistake

    first = next(other for other, its in asked.items() if its.name == naming.name)
    if first == file:
        return []
    return [flag_mistake(f"{first} and {file} would both be template {naming.name}", "import one alone, with --name")]


def _write(sources: Mapping[Path, str]) -> None:
    """Write all files, or none. Raises ConfigError."""
    written: list[Path] = []
    try:
        for target, source in sources.items():
            written.append(target)
            write_atomically(target, source)
    except OSError as problem:
        for target in written:
            target.unlink(missing_ok=True)
        why = f"{written[-1]}: {problem.strerror or problem}"
        raise ConfigError("nothing was written", why=why, fix="make room there, then run it again") from problem
