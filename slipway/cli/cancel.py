"""`slipway jobs cancel`: one job, or those of a sweep that have not ended."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import click

from slipway.cli import completion, screen
from slipway.cli.context import Context, catalog_option, output_option
from slipway.cli.documents import job_document
from slipway.cloud.failures import Conflict, NotFound, Refused
from slipway.cloud.resources import CustomJob
from slipway.cloud.vertex import Vertex
from slipway.errors import ConfigError, ResourceError
from slipway.formatting import span
from slipway.jobs.waiting import state_word
from slipway.labels import STACK_LABEL, SWEEP_LABEL
from slipway.submission.request import checked_request_id

_WIDTH = 8


@click.command("cancel")
@click.argument("job", required=False, shell_complete=completion.complete_jobs)
@click.option("--sweep", metavar="ID", help="All of this sweep's jobs that have not ended.")
@catalog_option
@output_option
def cancel(job: str | None, sweep: str | None, catalog: str | None, output: str) -> None:
    """Cancel a job that has not ended, or all of a sweep. Its machines are free when it is cancelled."""
    if (job is None) == (sweep is None):
        raise ConfigError("name what to cancel", why="it is either JOB or --sweep ID", fix="slipway jobs list")
    context = Context(catalog)
    if sweep is not None:
        _cancel_sweep(context, sweep, json=output == "json")
        return
    one = context.find_job(job or "")
    cancel_job(context.vertex, one, context.now)
    if output == "json":
        screen.out_json("job", {"job": job_document(context.vertex.job(one.name), context)})
    else:
        screen.out(f"cancelling {one.display_name or one.id}")
        screen.note(screen.faint(f"  slipway jobs wait {one.display_name or one.id}", sys.stderr))


def sweep_filter(stack: str, sweep: str) -> str:
    """The API's filter for the jobs of a stack's sweep. Raises ConfigError for what can be no sweep's id."""
    return f'labels.{STACK_LABEL}="{stack}" AND labels.{SWEEP_LABEL}="{checked_request_id(sweep)}"'


def _cancel_sweep(context: Context, sweep: str, *, json: bool) -> None:
    runs = list(context.vertex.jobs_of_every_kind(sweep_filter(context.catalog.stack, sweep)))
    if not runs:
        raise ResourceError(
            f"no jobs of sweep {sweep}", why=f"stack {context.catalog.stack} has none", fix="slipway jobs list"
        )
    going = [run for run in runs if not run.ended]
    if not going:
        raise ResourceError(
            f"sweep {sweep} has ended, there is nothing to cancel",
            why=f"all of its {len(runs):,} jobs have",
            fix=f"slipway jobs list --sweep {sweep}",
        )

    def asked(run: CustomJob) -> bool:
        try:
            context.vertex.cancel(run.name)
        except (Refused, Conflict, NotFound):  # It has ended meanwhile.
            return False
        return True

    context.connection.session.widen(_WIDTH)
    with ThreadPoolExecutor(_WIDTH, thread_name_prefix="cancel") as threads:
        names = [run.name for run, done in zip(going, threads.map(asked, going), strict=True) if done]
    if json:
        screen.out_json("sweep-cancellation", {"sweep": sweep, "jobs": len(runs), "cancelling": names})
    else:
        screen.out(f"cancelling {len(names):,} of {len(runs):,} jobs of sweep {sweep}; the others had ended")


def cancel_job(vertex: Vertex, job: CustomJob, now: datetime) -> None:
    """Asks for the job's end. Raises ResourceError for one that has ended, and CloudError."""
    if job.ended:
        name = job.display_name or job.id
        age = f" {span((now - job.end_time).total_seconds())} ago" if job.end_time else ""
        raise ResourceError(
            f"job {name} has ended, there is nothing to cancel",
            why=f"it {state_word(job.state)}{age}" if job.state != "JOB_STATE_CANCELLED" else f"cancelled{age}",
            fix=f"slipway jobs show {name}",
        )
    vertex.cancel(job.name)
