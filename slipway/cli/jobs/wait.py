"""Wait for a job's end.

Exit code: 0 succeeded, 4 failed or expired, 8 cancelled, 9 timeout.
"""

from __future__ import annotations

import click

from slipway.cli.terminal import completions, screen
from slipway.cli.terminal.documents import job_document
from slipway.cli.terminal.options import WORD, catalog_and_output, found_job
from slipway.cli.terminal.watching import events_of_cost, watch
from slipway.context import Context
from slipway.formatting import seconds
from slipway.submission.ending import require_success


@click.command()
@click.argument("job", type=WORD, shell_complete=completions.active_jobs)
@click.option("--timeout", metavar="TIME", help="Stop waiting after 90s, 10m or 2h (exit 9); the job goes on.")
@catalog_and_output
def command(job: str, timeout: str | None, catalog: str | None, output: str) -> None:
    limit = seconds(timeout) if timeout is not None else None
    context = Context(catalog)
    ended = watch(context, found_job(context, job), logs=False, timeout=limit, quiet=output == "json")
    if output == "json":
        screen.out_json("job", {"job": job_document(ended, context, events_of_cost(context, ended))})
    require_success(context, ended)
