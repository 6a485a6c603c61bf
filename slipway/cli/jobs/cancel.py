"""Cancel a job, or all of a sweep, that has not ended.

Its machines are freed once it has been cancelled.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import click

from slipway.cli.terminal import screen
from slipway.cli.terminal.documents import job_document
from slipway.cli.terminal.options import WORD, catalog_and_output, complete_jobs, found_job
from slipway.cloud.failures import Conflict, NotFound, Refused
from slipway.cloud.jobs import VertexJob
from slipway.context import Context
from slipway.errors import ConfigError, ResourceError
from slipway.submission.ending import cancel_job
from slipway.sweeps.runs import sweep_filter

_WIDTH = 8


@click.command()
@click.argument("job", type=WORD, required=False, shell_complete=complete_jobs)
@click.option("--sweep", type=WORD, metavar="ID", help="All of this sweep's jobs that have not ended.")
@catalog_and_output
def command(job: str | None, sweep: str | None, catalog: str | None, output: str) -> None:
    if (job is None) == (sweep is None):
        raise ConfigError("name what to cancel", why="it is either JOB or --sweep ID", fix="slipway jobs list")
    context = Context(catalog)
    if sweep is not None:
        _cancel_sweep(context, sweep, json=output == "json")
        return
    one = found_job(context, job or "")
    name = one.display_name or one.id
    with screen.interruptible(f"{name} may be cancelled already", f"slipway jobs show {one.typed}"):
        cancel_job(context.vertex, one, context.now)
    with screen.after(f"job {name} is being cancelled", f"slipway jobs show {one.typed}"):
        if output == "json":
            screen.out_json("job", {"job": job_document(context.vertex.job(one.name), context)})
        else:
            screen.out(f"cancelling {name}")
            screen.hint(f"  slipway jobs wait {one.typed}")


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
            why=f"all of its {len(runs):,} jobs have ended",
            fix=f"slipway jobs list --sweep {sweep}",
        )

    def asked(run: VertexJob) -> bool:
        try:
            context.vertex.cancel(run.name)
        except (Refused, Conflict, NotFound):  # It has ended meanwhile.
            return False
        return True

    context.connection.session.widen(_WIDTH)
    listing = f"slipway jobs list --sweep {sweep}"
    some = screen.interruptible(f"some jobs of sweep {sweep} may be cancelled already", listing)
    with some, ThreadPoolExecutor(_WIDTH, thread_name_prefix="cancel") as threads:
        names = [run.name for run, done in zip(going, threads.map(asked, going), strict=True) if done]
    with screen.after(f"{len(names):,} jobs of sweep {sweep} are being cancelled", listing):
        if json:
            screen.out_json("sweep-cancellation", {"sweep": sweep, "jobs": len(runs), "cancelling": names})
        else:
            screen.out(f"cancelling {len(names):,} of {len(runs):,} jobs of sweep {sweep}; the others had ended")
