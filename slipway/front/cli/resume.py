"""End a pause: what waits in people's commands is sent.

Without a cluster, that of the whole stack.
"""

from __future__ import annotations

from collections.abc import Mapping

import click

from slipway.base.errors import PolicyError, ResourceError
from slipway.base.formatting import join
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, catalog_and_output
from slipway.front.cli.terminal.submission import confirm_for_others
from slipway.using.context import Context
from slipway.using.jobs.pause import Pause, own_resumption, read_pauses, resume


@click.command()
@click.argument("cluster", type=WORD, required=False)
@click.option("--yes", is_flag=True, help="Do not ask, whoever paused it.")
@catalog_and_output
def command(*, cluster: str | None, yes: bool, catalog: str | None, output: str) -> None:
    context = Context(catalog)
    pauses = read_pauses(context.connection.storage, context.catalog.work_bucket, barred=False)
    paused = pauses.get(cluster or "")
    if paused is None:
        ended, said = _ended_before(context, cluster, pauses), "resumed already"
    else:
        _confirm(context, paused, catalog, yes=yes)
        resume(context, paused)
        ended, said = paused, "resumed"
    if output == "json":
        screen.out_json("resumption", ended.document)
        return
    left = join(each.words(context.catalog.stack) for each in pauses.values() if each is not paused)
    shares = ", unless a share holds it" if context.catalog.shares else ""
    screen.out(f"{said}: what waits in commands is sent within a minute{shares}{f'; {left}' if left else ''}")


def _ended_before(context: Context, cluster: str | None, pauses: Mapping[str, Pause]) -> Pause:
    """Return the pause that the same command ended before. Raises ResourceError where there is none."""
    if before := own_resumption(context, cluster or ""):
        return before
    what = f"cluster {cluster}" if cluster else f"stack {context.catalog.stack}"
    others = "\n".join(each.resume for each in pauses.values())
    raise ResourceError(f"{what} is not paused", fix=others or "slipway pools")


def _confirm(context: Context, paused: Pause, catalog: str | None, *, yes: bool) -> None:
    """Ask whether to end somebody else's pause. Raises the errors of `confirm_for_others`."""
    if paused.by == context.user or yes or context.agent:
        return
    theirs = PolicyError(paused.words(context.catalog.stack), why="somebody else paused it", fix="--yes")
    confirm_for_others(theirs, "Resume", paused.resume.split()[1:], catalog, "nothing is resumed")
