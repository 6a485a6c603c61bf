"""Make a template of a job file of gcloud.

FILE is what gcloud ai custom-jobs create --config takes, or what describe --format=yaml prints. The template is written
to templates/NAME.py.

\b
  slipway templates import job.yaml --name digits
  slipway templates import job.yaml --name lora --code jobs/lora
  slipway templates import job.yaml --print
"""

# ruff: noqa: N999 - the path is the verb
from __future__ import annotations

import re
from pathlib import Path

import click

from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, word_option
from slipway.reviewing.sources import text_of

_NO_NAME = re.compile(r"[^a-z0-9]+")


@click.command()
@click.argument("file", type=WORD, metavar="FILE")
@word_option("--name", metavar="NAME", help="What the template is called. Default: the file's name.")
@word_option("--summary", metavar="TEXT", help="What it does, in a line. Default: where it comes from.")
@word_option("--code", metavar="DIR", help="The folder that has the code of a Python package: jobs/lora.")
@click.option("--print", "prints", is_flag=True, help="Print the Python and write nothing.")
def command(file: str, name: str | None, summary: str | None, code: str | None, prints: bool) -> None:
    from slipway.authoring.gcloud.importing import Naming, flag_mistake, read
    from slipway.authoring.gcloud.python_source import python_source

    path = Path(file)
    called = name or _NO_NAME.sub("-", path.stem.lower()).strip("-")
    naming = Naming(called, summary or f"imported from {path.name}", (code or "").rstrip("/"))
    target = Path("templates", f"{called.replace('-', '_')}.py")
    also = []
    if not prints and not target.parent.is_dir():
        fix = "run it in the repository's root, or add --print"
        also.append(flag_mistake("there is no folder templates/ here", fix))
    elif not prints and target.exists():
        fix = "--name ANOTHER, or --print to see what it would be"
        also.append(flag_mistake(f"{target} exists, and was not overwritten", fix))
    imported = read(text_of(file, "name a job file in YAML, as UTF-8", strict=True), file, naming, also)
    source = python_source(imported.template)
    for note in imported.notes:
        screen.note(f"note: {note}")
    if prints:
        screen.out(source.rstrip("\n"))
        return
    with target.open("x", encoding="utf-8") as out:
        out.write(source)
    screen.out(f"wrote {target}")
    screen.note(f"next: add {called} to slipway:templates of a stack file, then slipway check")
