"""`slipway submit`: from a template's name to an accepted job, and on to its end if asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from slipway.cli import completion, screen
from slipway.cli.context import Context, catalog_option, output_option
from slipway.cli.submit_arguments import SubmitArguments, WaitOptions
from slipway.errors import ConfigError, PolicyError
from slipway.kinds import KINDS
from slipway.submission.candidates import prepare
from slipway.submission.request import checked_request_id, new_request_id

_PLANNED = ("format",)


def _refuse(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None and not ctx.resilient_parsing:
        raise ConfigError(f"{parameter.opts[0]} is not supported by this version", fix="slipway submit --help")


def _planned(command: Any) -> Any:
    for name in _PLANNED:
        option = click.option(
            f"--{name}",
            f"planned_{name}".replace("-", "_"),
            hidden=True,
            is_flag=False,
            flag_value="",
            expose_value=False,
            callback=_refuse,
        )
        command = option(command)
    return command


def _then(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())


@click.command("submit", short_help="Submit a job from a template.")
@click.argument("template", shell_complete=completion.complete_templates)
@click.option("-p", "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter; may be repeated.")
@click.option(
    "--capacity", metavar="TYPE", help="Where the machines come from. Default: the template's first type that can run."
)
@click.option("--as", "kind", type=click.Choice(list(KINDS)), help="The kind of job. Default: the template's first.")
@click.option(
    "--wait-for",
    multiple=True,
    metavar="TYPE=TIME",
    help="How long to wait for a capacity type before the next is taken, as in pool=30m; flex-start=0 waits forever.",
)
@click.option("--then", callback=_then, metavar="TYPE,…", help="The capacity types after those, in order.")
@click.option("--code", metavar="DIR", help="Run this folder's code, as git sees it, instead of the reviewed one.")
@click.option("--sweep", metavar="FILE", help="One run for each point of a grid or list (YAML, JSON) or CSV.")
@click.option("--retry-failed", is_flag=True, help="With --sweep: send its failed runs once more.")
@click.option("--rate", type=click.IntRange(0), metavar="N", help="With --sweep: submissions a minute; 0: no limit.")
@click.option("--experiment", metavar="NAME", help="An experiment in place of the template's.")
@click.option("--experiment-run", metavar="NAME", help="The run's name in the experiment. Default: the job's.")
@click.option("--dry-run", is_flag=True, help="Print the exact request and send nothing.")
@click.option("--wait", is_flag=True, help="Wait for the end; the exit code tells how it ended.")
@click.option("-f", "--follow", is_flag=True, help="Wait, and show state and logs meanwhile. Ctrl-C detaches.")
@click.option("--timeout", metavar="TIME", help="Stop waiting after 90s, 10m or 2h (exit 9); the job goes on.")
@click.option("--request-id", metavar="ID", help="Name this submission: repeated with the same id it runs only once.")
@catalog_option
@output_option
@_planned
def submit(
    template: str,
    params: tuple[str, ...],
    capacity: str | None,
    kind: str | None,
    wait_for: tuple[str, ...],
    then: tuple[str, ...],
    code: str | None,
    sweep: str | None,
    retry_failed: bool,
    rate: int | None,
    experiment: str | None,
    experiment_run: str | None,
    dry_run: bool,
    wait: bool,
    follow: bool,
    timeout: str | None,
    request_id: str | None,
    catalog: str | None,
    output: str,
) -> None:
    """Submit a job from TEMPLATE to its pool, or beside it.

    \b
      slipway submit dask-digits -p trees=500 --follow
      slipway submit dask-digits --wait-for pool=30m --then spot
      slipway submit dask-digits --sweep grid.yaml
      slipway submit dask-digits --dry-run
    """
    ending = WaitOptions.of(wait=wait, follow=follow, timeout=timeout, dry_run=dry_run)
    typed = SubmitArguments(
        template, params, capacity, kind, wait_for, then, code, sweep, experiment, experiment_run, catalog
    )
    id_ = checked_request_id(request_id) if request_id is not None else None
    context = Context(catalog)
    if sweep is not None:
        from slipway.cli.sweep import sweep_runs

        sweep_runs(context, typed, id_, ending, dry_run=dry_run, retry=retry_failed, rate=rate, json=output == "json")
        return
    for flag, given in (("--retry-failed", retry_failed), ("--rate", rate is not None)):
        if given:
            raise ConfigError(f"{flag} is for sweeps", fix=f"slipway submit {template} --sweep FILE {flag} …")
    asked = typed.request()
    if code is not None:
        from slipway.cli.code_flag import with_code

        asked = with_code(context, asked, Path(code), upload=not dry_run)
    prepared = prepare(context.catalog, asked, context.user)
    if dry_run:
        from slipway.cli.submission_run import forecast
        from slipway.submission.preflight import offline_request

        planned = prepared.under(id_ or new_request_id())
        try:
            taken = forecast(context, planned)
        except PolicyError:
            screen.out(screen.json_text(offline_request(planned), indent=2))
            raise
        body = taken.body if taken else offline_request(planned)
        screen.out(screen.json_text(body, indent=2))
        return
    from slipway.cli.submission_run import send

    submitted, submission_id = send(context, typed, prepared, id_, json=output == "json")
    job = submitted.attempt.job
    if ending.waits:
        from slipway.cli.watching import watch

        job = watch(context, job, logs=follow, timeout=ending.timeout, quiet=output == "json")
    if output == "json":
        from slipway.cli.submission_display import document

        screen.out_json("submission", document(context, submitted, job, submission_id))
    if ending.waits:
        from slipway.cli.ending import ending_of

        problem = ending_of(context, job)
        if problem:
            raise problem
