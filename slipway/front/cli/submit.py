"""Submit a job from a template, on its pool or on machines of its own.

\b
  slipway submit dask-digits -p trees=500 --follow
  slipway submit dask-digits --wait-for pool=30m --then spot
  slipway submit dask-digits --sweep grid.yaml
  slipway submit --like dask-digits-7k2p3f9a -p trees=500
  slipway submit dask-digits --dry-run
"""

from __future__ import annotations

import re
import shlex
from typing import Any

import click

from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted
from slipway.front.cli.terminal import completions
from slipway.front.cli.terminal.arguments import SubmitArguments, WaitOptions
from slipway.front.cli.terminal.gcloud import check_format, format_option
from slipway.front.cli.terminal.mistakes import run_meant
from slipway.front.cli.terminal.options import WORD, catalog_and_output, job_options, timeout_option, word_option
from slipway.front.cli.terminal.single_job import submit_one
from slipway.model.capacity import POOL
from slipway.model.kinds import KINDS
from slipway.model.secret import NOTIFY
from slipway.using.context import Context
from slipway.using.submission.request import checked_request_id

_FILE = re.compile(r"\.{0,2}/.*|.*\.(py|sh|ipynb)")


class _OfTemplates(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and _FILE.fullmatch(args[0]):  # Before its flags, which are not ours.
            raise ConfigError(
                f"{quoted(args[0])} is a file, and no template",
                fix=f"slipway run {shlex.join(args)}, which runs it here",
            )
        try:
            return super().parse_args(ctx, [*args])
        except click.UsageError:
            if run := run_meant(ctx, args):
                raise ConfigError("slipway submit takes a template, and no command", fix=run) from None
            raise


@click.command(cls=_OfTemplates)
@click.argument("template", type=WORD, required=False, shell_complete=completions.templates)
@word_option(
    "--like",
    metavar="JOB",
    shell_complete=completions.jobs,
    help="In place of a template: that job's, with its code and parameters, and -p on top. A session's run: session/2.",
)
@job_options
@click.option(
    "--race",
    is_flag=False,
    flag_value="",
    callback=lambda _, __, value: None if value is None else tuple(filter(None, map(str.strip, value.split(",")))),
    metavar="[REGION,…]",
    help="Wait for machines in these regions at once, or in all of the stack's: the first that has them runs it.",
)
@word_option(
    "--by",
    metavar="TIME",
    help='By when it should end, as "Fri 09:00": the cheapest capacity types that likely do, each for as long as the '
    "next one still has time.",
)
@click.option("--as", "kind", type=click.Choice(list(KINDS)), help="The kind of job. Default: the template's first.")
@word_option(
    "--code",
    metavar="CODE",
    shell_complete=click.Path().shell_complete,
    help="Run this folder's code, as git sees it, instead of the reviewed one; or a file's, as of run.",
)
@word_option(
    "--sweep",
    metavar="FILE",
    shell_complete=click.Path().shell_complete,
    help="One run for each point of a grid or list (YAML, JSON) or CSV. --then are the types to take where runs would "
    "wait; --notify tells when the first one fails, and at the end.",
)
@click.option("--retry-failed", is_flag=True, help="With --sweep: send its failed runs once more.")
@click.option(
    "--retry-cancelled", is_flag=True, help="With --sweep: go on with it: what was cancelled, and what was never sent."
)
@click.option(
    "--keep-code", is_flag=True, help="With --sweep and --code: send the rest with the code that the sweep began with."
)
@click.option("--rate", type=click.IntRange(0), metavar="N", help="With --sweep: submissions a minute; 0: no limit.")
@click.option("--experiment", metavar="NAME", help="An experiment in place of the template's.")
@click.option("--experiment-run", metavar="NAME", help="The run's name in the experiment. Default: the job's.")
@click.option(
    "--urgent",
    is_flag=True,
    help="On a full pool, have running jobs make room that go on from checkpoints: for whom the stack lets do so.",
)
@click.option("--wait", is_flag=True, help="Wait for the end; the exit code tells how it ended.")
@click.option("-f", "--follow", is_flag=True, help="Wait, and show state and logs meanwhile. Ctrl-C detaches.")
@timeout_option
@format_option
@catalog_and_output
def command(
    *,
    retry_failed: bool,
    retry_cancelled: bool,
    keep_code: bool,
    rate: int | None,
    dry_run: bool,
    wait: bool,
    follow: bool,
    timeout: str | None,
    request_id: str | None,
    output: str,
    format_: str | None,
    template: str | None,
    **words: Any,
) -> None:
    """`words` are the other fields of `SubmitArguments`."""
    ending = WaitOptions.of(wait=wait, follow=follow, timeout=timeout, dry_run=dry_run)
    typed = SubmitArguments(template or "", **words)
    if (template is None) == (typed.like is None):
        raise click.UsageError(
            f"--like {typed.like} has a template already: name no other."
            if typed.like
            else "Missing argument 'TEMPLATE', or a job to submit the like of: --like JOB."
        )
    id_ = checked_request_id(request_id) if request_id is not None else None
    context, json = Context(typed.catalog, in_season=True), output == "json"
    check_format(format_, ("--output json", json), ("--sweep", typed.sweep is not None), dry_run=dry_run)
    if ending.waits and NOTIFY in context.environ:
        from slipway.using.jobs.notification import Notifier

        Notifier(context)  # An address that may not be told is refused before anything is sent.
    places = (typed.wait_for, typed.then, typed.capacity_type, typed.pool, typed.race is not None, typed.urgent)
    if typed.by is not None and (typed.sweep is not None or any(places)):
        raise ConfigError("--by chooses capacity types for one job", fix="leave out what else chooses them, or --by")
    if typed.sweep is not None:
        if typed.urgent:
            raise ConfigError("--urgent is for one job", fix="leave it out, or submit without --sweep")
        from slipway.front.cli.terminal.sweep import submit_sweep
        from slipway.using.sweeps.runs import RunsAgain

        again = RunsAgain(failed=retry_failed, cancelled=retry_cancelled, keep_code=keep_code)
        submit_sweep(context, typed, id_, ending, dry_run=dry_run, again=again, rate=rate, json=json)
        return
    elsewhere = typed.wait_for or typed.then or typed.race is not None or typed.capacity_type not in (None, POOL)
    if typed.urgent and elsewhere:
        why = "room is made on the pool, where it waits until it starts"
        raise ConfigError("--urgent goes with no other capacity type", why=why, fix="leave out the other flag")
    flags = {"--retry-failed": retry_failed, "--retry-cancelled": retry_cancelled, "--keep-code": keep_code}
    flags |= {"--rate": rate is not None}
    for flag, given in flags.items():
        if given:
            raise ConfigError(f"{flag} is for sweeps", fix=f"slipway submit TEMPLATE --sweep FILE, with {flag}")
    submit_one(context, typed, id_, ending, dry_run=dry_run, json=json, format_=format_)
