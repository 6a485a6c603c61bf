"""Names for the shell's completion: templates and jobs, when the catalog answers at once."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from slipway.errors import SlipwayError

if TYPE_CHECKING:
    from slipway.cli.context import Context

_RECENT = 50


def templates(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The catalog's templates, with what they do."""
    try:
        found = _context(ctx).catalog.templates.values()
    except SlipwayError:
        return []
    return [CompletionItem(one.name, help=one.summary) for one in found if one.name.startswith(incomplete)]


def jobs(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The newest jobs' names, with their states."""
    try:
        recent = list(islice(_context(ctx).vertex.jobs_of_every_kind(page_size=_RECENT), _RECENT))
    except SlipwayError:
        return []
    return [
        CompletionItem(job.display_name, help=job.state) for job in recent if job.display_name.startswith(incomplete)
    ]


def _context(ctx: click.Context) -> Context:
    """With little patience: somebody has pressed a key and waits."""
    from slipway.cli.context import Context
    from slipway.cloud.session import Patience

    return Context(ctx.params.get("catalog"), patience=Patience(connect=1.0, read=2.0, attempts=1))
