"""`slipway completion`: completion for a shell, and the names it suggests when the catalog answers at once."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class

from slipway.cli import screen
from slipway.errors import SlipwayError


@click.command("completion", short_help="Print the completion script for a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script.

    \b
      bash:  slipway completion bash >> ~/.bashrc
      zsh:   slipway completion zsh >> ~/.zshrc
      fish:  slipway completion fish > ~/.config/fish/completions/slipway.fish
    """
    from slipway.cli.main import slipway

    maker = get_completion_class(shell)
    assert maker is not None  # The choice above lists only shells that click knows.
    screen.out(maker(slipway, {}, "slipway", "_SLIPWAY_COMPLETE").source())


if TYPE_CHECKING:
    from slipway.cli.context import Context

_RECENT = 50


def complete_templates(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The catalog's templates, with what they do."""
    try:
        found = _context(ctx).catalog.templates.values()
    except SlipwayError:
        return []
    return [CompletionItem(one.name, help=one.summary) for one in found if one.name.startswith(incomplete)]


def complete_jobs(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The newest jobs' names, with their states."""
    try:
        recent = list(islice(_context(ctx).vertex.jobs_of_every_kind(page_size=_RECENT), _RECENT))
    except SlipwayError:
        return []
    return [
        CompletionItem(job.display_name, help=job.state) for job in recent if job.display_name.startswith(incomplete)
    ]


def _context(ctx: click.Context) -> Context:
    """With little policy: somebody has pressed a key and waits."""
    from slipway.cli.context import Context
    from slipway.cloud.session import HttpPolicy

    return Context(ctx.params.get("catalog"), policy=HttpPolicy(connect=1.0, read=2.0, attempts=1))
