"""Options and arguments that several commands share, with what completion suggests for them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from slipway.errors import SlipwayError
from slipway.recorded_parameters import unfit

if TYPE_CHECKING:
    from slipway.cloud.jobs import VertexJob
    from slipway.context import Context

_RECENT = 50

Command = Callable[..., Any]


class _Word(click.ParamType[str]):
    """Text that is there: in a script, empty text is a variable that nobody set, and stands for no choice at all."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value).strip():
            self.fail("it is empty; leave it out, or give it a value", param, ctx)
        if wrong := unfit(str(value)):  # Of a variable of the environment; what is typed was looked at before.
            self.fail(f"it {wrong}", param, ctx)
        return str(value)


WORD = _Word()


def catalog_and_output(command: Command) -> Command:
    return click.option(
        "--catalog",
        type=WORD,
        metavar="gs://BUCKET",
        help="The catalog to use.  [env: SLIPWAY_CATALOG; else slipway use]",
    )(output_option(command))


def output_option(command: Command) -> Command:
    return click.option(
        "-o",
        "--output",
        type=click.Choice(["table", "json"]),
        default="table",
        show_default=True,
        help="json: one versioned document on stdout, and nothing else there.",
    )(command)


def template_argument(command: Command) -> Command:
    return click.argument("template", type=WORD, shell_complete=_templates)(command)


def job_argument(command: Command) -> Command:
    return click.argument("job", type=WORD, shell_complete=complete_jobs)(command)


def found_job(context: Context, text: str) -> VertexJob:
    """The job that a person named by name, number or full resource name. Raises ResourceError.

    Of several of one name it is the newest, or the one that this is a copy of, which is said.
    """
    from slipway.cli.terminal import screen
    from slipway.jobs.claim import original
    from slipway.jobs.finding import find_jobs

    newest, *namesakes = find_jobs(context.vertex, text)
    if not namesakes:
        return newest
    ran = original(context.vertex, context.connection.storage, newest)
    which = f"{ran.id}, which runs the submission" if ran else f"the newest, {newest.id}"
    screen.note(f"note: {len(namesakes) + 1} jobs are called {text}; this is {which}")
    return ran or newest


def complete_jobs(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The newest jobs' names, with their states."""
    try:
        recent = list(islice(_context(ctx).vertex.jobs_of_every_kind(page_size=_RECENT), _RECENT))
    except SlipwayError:
        return []
    return [
        CompletionItem(job.display_name, help=job.state) for job in recent if job.display_name.startswith(incomplete)
    ]


def _templates(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The catalog's templates, with what they do."""
    from slipway.cli.terminal.screen import visible

    try:
        found = _context(ctx).catalog.templates.values()
    except SlipwayError:
        return []
    return [CompletionItem(one.name, help=visible(one.summary)) for one in found if one.name.startswith(incomplete)]


def _context(ctx: click.Context) -> Context:
    """With little patience: somebody has pressed a key and waits."""
    from slipway.cloud.session import HttpPolicy
    from slipway.context import Context

    return Context(ctx.params.get("catalog"), policy=HttpPolicy(connect=1.0, read=2.0, attempts=1))
