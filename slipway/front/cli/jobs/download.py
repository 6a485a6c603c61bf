"""Fetch what a job has written below its output directory.

It goes into DEST, else into a folder that is called as the job. What is there already is kept, so that after an
interruption the same command goes on where it stopped. A file that differs is never replaced without --overwrite.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from slipway.base.formatting import counted, size
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, catalog_and_output, found_last_attempt, job_argument
from slipway.using.context import Context
from slipway.using.jobs.download import Download, Tell, download


class _Folder(click.Path):
    """A folder by its name: an empty name would be the current one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(WORD.convert(value, param, ctx), param, ctx)


@click.command()
@job_argument
@click.argument("dest", required=False, type=_Folder(file_okay=False, path_type=Path))
@click.option("--overwrite", is_flag=True, help="Replace files of DEST that differ from the job's.")
@catalog_and_output
def command(job: str, dest: Path | None, overwrite: bool, catalog: str | None, output: str) -> None:
    context = Context(catalog)
    target = found_last_attempt(context, job)
    folder = dest or Path(target.typed)
    if not target.ended:
        screen.note(f"{target.display_name} is {target.outcome}; this is what it has written so far")
    again = f"slipway jobs download {target.typed} {shlex.quote(str(folder))}{' --overwrite' if overwrite else ''}"
    progress: AbstractContextManager[Tell] = nullcontext(_quarters())
    if sys.stderr.isatty() and screen.coloured(sys.stderr):
        from slipway.front.cli.terminal.redrawn import transfer

        progress = transfer()
    with screen.interruptible(f"what has arrived stays in {folder}", f"to go on: {again}"), progress as tell:
        done = download(context, target, folder, overwrite=overwrite, tell=tell)
    if output == "json":
        screen.out_json("download", _document(target.name, done))
    elif done.files:
        kept = f" ({len(done.present):,} of them already there)" if done.present else ""
        total = size(sum(file.stored.size for file in done.files))
        screen.out(f"{counted(f'{len(done.files):,}', 'file')}, {total}, in {done.folder}{kept}")
    elif not done.left_out:
        screen.note(f"{target.display_name} has written nothing below {done.source}{'' if target.ended else ' yet'}")
    done.require_all()


def _quarters() -> Callable[[int, int, int], None]:
    """Return a callback that prints a line at each quarter."""
    reported = 0

    def tell(files: int, count: int, total: int) -> None:
        nonlocal reported
        quarter = 4 * count // total if total else 4
        if reported < quarter < 4:
            reported = quarter
            screen.note(f"{size(count)} of {size(total)} fetched, {counted(f'{files:,}', 'file')} there")

    return tell


def _document(job: str, done: Download) -> dict[str, object]:
    fetched = set(done.fetched)
    return {
        "job": job,
        "source": done.source,
        "folder": str(done.folder),
        "files": [
            {
                "object": file.stored.at.name,
                "path": str(file.path),
                "bytes": file.stored.size,
                "fetched": file in fetched,
            }
            for file in done.files
        ],
        "leftOut": done.left_out,
    }
