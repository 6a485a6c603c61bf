"""Wait for a job's end, or for that of several.

Exit code: 0 succeeded, 4 failed or expired, 8 cancelled, 9 timeout; of several that of the first which failed.
"""

from __future__ import annotations

import click

from slipway.base.errors import WaitTimeout, first_of
from slipway.base.formatting import seconds
from slipway.front.cli.terminal.documents import out_jobs
from slipway.front.cli.terminal.options import catalog_and_output, found_jobs, jobs_argument, timeout_option
from slipway.front.cli.terminal.watching import events_of_cost, watch
from slipway.using.context import Context
from slipway.using.jobs.description import describe
from slipway.using.jobs.failure import read_causes
from slipway.using.submission.ending import problem_of_end


@click.command()
@jobs_argument(required=True)
@timeout_option
@catalog_and_output
def command(jobs: tuple[str, ...], timeout: str | None, catalog: str | None, output: str) -> None:
    limit = seconds(timeout) if timeout is not None else None
    context = Context(catalog)
    begun = context.clock.monotonic()
    ended = []
    for number, job in enumerate(found_jobs(context, jobs)):
        left = None if limit is None else max(0.0, limit - (context.clock.monotonic() - begun))
        now = context.vertex.job(job.name) if number else job  # It may have ended during the wait for another.
        try:
            ended.append(watch(context, now, logs=False, timeout=left, quiet=output == "json"))
        except WaitTimeout as late:
            late.what = f"job {job.called} has not ended after {limit:.0f} s"
            raise
    problems = [problem for job in ended if (problem := problem_of_end(context, job))]
    problem = first_of(problems) if problems else None
    if output == "json":
        causes = read_causes(context, ended)
        descriptions = (describe(job, context, events_of_cost(context, job), causes.get(job.name)) for job in ended)
        out_jobs(descriptions, alone=len(jobs) == 1, problem=problem)
    if problem:
        raise problem
