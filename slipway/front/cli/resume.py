"""End a pause: what waits in people's commands is sent.

Without a cluster, that of the whole stack.
"""

from __future__ import annotations

import click

from slipway.base.errors import PolicyError, ResourceError
from slipway.base.formatting import join
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, catalog_and_output
from slipway.front.cli.terminal.submission import confirm_for_others
from slipway.using.context import Context
from slipway.using.jobs.pause import read_pauses, resume


@click.command()
@click.argument("cluster", type=WORD, required=False)
@click.option("--yes", is_flag=True, help="Do not ask, whoever paused it.")
@catalog_and_output
def command(*, cluster: str | None, yes: bool, catalog: str | None, output: str) -> None:
    context = Context(catalog)
    stack = context.catalog.stack
    pauses = read_pauses(context.connection.storage, context.catalog.work_bucket, barred=False)
    paused = pauses.get(cluster or "")
    if paused is None:
        what = f"cluster {cluster}" if cluster else f"stack {stack}"
        others = "\n".join(each.resume for each in pauses.values())
        raise ResourceError(f"{what} is not paused", fix=others or "slipway pools")
    if paused.by != context.user and not (yes or context.agent):
        theirs = PolicyError(paused.words(stack), why="somebody else paused it", fix="--yes")
        confirm_for_others(theirs, "Resume", paused.resume.split()[1:], catalog, "nothing is resumed")
    resume(context, paused)
    if output == "json":
        screen.out_json("resumption", paused.document)
        return
    left = join(each.words(stack) for each in pauses.values() if each is not paused)
    shares = ", unless a share holds it" if context.catalog.shares else ""
    screen.out(f"resumed: what waits in commands is sent within a minute{shares}{f'; {left}' if left else ''}")
