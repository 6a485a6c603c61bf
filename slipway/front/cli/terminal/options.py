"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from slipway.base.formatting import unfit
from slipway.front.cli.terminal import completions

if TYPE_CHECKING:
    from slipway.google.jobs import VertexJob
    from slipway.using.context import Context

Command = Callable[..., Any]


class _Word(click.ParamType[str]):
    """Text that is not empty: in a script, empty text is an unset variable."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value).strip():
            self.fail("it is empty; leave it out, or give it a value", param, ctx)
        if wrong := unfit(str(value)):  # For a variable of the environment; typed text was checked before.
            self.fail(f"it {wrong}", param, ctx)
        return str(value)


WORD = _Word()
word_option = partial(click.option, type=WORD)
_CATALOG = "The catalog to use.  [env: SLIPWAY_CATALOG; else slipway use]"
catalog_option = word_option("--catalog", metavar="gs://BUCKET", help=_CATALOG)
_TIMEOUT = "Stop waiting after 90s, 10m or 2h (exit 9); the job goes on."
timeout_option = click.option("--timeout", metavar="TIME", help=_TIMEOUT)
job_argument = click.argument("job", type=WORD, shell_complete=completions.jobs)


def output_option(command: Command, *, csv: bool = False) -> Command:
    more = "; csv: a row for each, for other programs" if csv else ""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(["table", "json", *(["csv"] if csv else [])]),
        default="table",
        show_default=True,
        help=f"json: one versioned document on stdout, and nothing else there{more}.",
    )(command)


def catalog_and_output(command: Command, *, csv: bool = False) -> Command:
    return catalog_option(output_option(command, csv=csv))


catalog_and_output_with_csv = partial(catalog_and_output, csv=True)


def jobs_argument(*, required: bool) -> Callable[[Command], Command]:
    return click.argument(
        "jobs", type=WORD, nargs=-1, required=required, metavar="JOB…", shell_complete=completions.active_jobs
    )


def found_jobs(context: Context, texts: Sequence[str], *, of_template: bool = True) -> list[VertexJob]:
    """Return each job once, in the order of the names. Raises ResourceError for a missing one."""
    found = (found_job(context, text, of_template=of_template) for text in texts)
    return list({job.name: job for job in found}.values())


def found_job(context: Context, text: str, *, of_template: bool = True) -> VertexJob:
    """Return the job that `find_job` does, and tell which of several was taken. Raises ResourceError."""
    from slipway.front.cli.terminal import screen
    from slipway.using.jobs.finding import find_job

    return find_job(context, text, of_template=of_template, tell=lambda message: screen.note(f"note: {message}"))
