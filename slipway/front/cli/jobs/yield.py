"""Have a running job make room for one that waits, and go on behind it.

It ends after its next checkpoint, and goes on from there in a job of the same name. Only for a template with
checkpoints=True, on a pool.
"""
# ruff: noqa: N999 - the path is the verb

from __future__ import annotations

import shlex

import click

from slipway.base.formatting import few, seconds, span
from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.documents import out_jobs
from slipway.front.cli.terminal.options import WORD, catalog_and_output, found_job, word_option
from slipway.model.kinds import CUSTOM_JOB
from slipway.using.context import Context
from slipway.using.jobs.description import describe
from slipway.using.submission.yielding import (
    WITHIN_S,
    before,
    lacking,
    make_room,
    require_own,
    require_yields,
    rival_of,
)


@click.command()
@click.argument("job", type=WORD, shell_complete=completions.active_jobs)
@word_option("--to", metavar="WHOM", required=True, help="The job that waits, or the person whose first one it is.")
@click.option(
    "--within",
    metavar="TIME",
    help=f"End it without a new checkpoint after 90s or 2h.  [default: {WITHIN_S / 60:.0f}m]",
)
@catalog_and_output
def command(*, job: str, to: str, within: str | None, catalog: str | None, output: str) -> None:
    limit = seconds(within) if within is not None else WITHIN_S
    context = Context(catalog)
    target = found_job(context, job, of_template=False)
    require_yields(target)
    here = context.vertex.at(target.region)
    active = list(here.active_jobs(CUSTOM_JOB))
    rival = rival_of(target, to, active)
    require_own(context, target, rival)
    if first := before(rival, active):
        names = few([other.called for other in first], 3)
        screen.note(
            f"note: {names} {'waits' if len(first) == 1 else 'wait'} before {rival.called}, and may get the room"
        )
    if short := lacking(target, rival, here.persistent_resource(target.persistent_resource_id)):
        screen.note(f"note: {rival.called} waits on: it lacks {short} even then")
    words = ["slipway", "jobs", "yield", target.typed, "--to", to, *(["--within", within] if within else [])]
    again = shlex.join([*words, *(["--catalog", catalog] if catalog else [])])
    with screen.interruptible(f"{target.called} may have been asked already", again):
        yielded = make_room(context, target, rival, limit, tell=lambda text: screen.note(f"note: {text}"), again=again)
    if output == "json":
        out_jobs([describe(yielded.behind, context)], alone=True)
        return
    screen.out(f"{target.called} makes room for {yielded.asked.whom}, and goes on behind it as {yielded.behind.id}")
    screen.hint(f"  it ends after its next checkpoint, at the latest in {span(yielded.asked.within)}")
    screen.hint(f"  slipway jobs wait {target.typed}")
