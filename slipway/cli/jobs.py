"""`slipway jobs`: list, show, logs, wait; with cancel and open from beside.

A job is named by its name, its number or its full resource name.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import click

from slipway.cli import completion, screen
from slipway.cli.cancel import cancel, sweep_filter
from slipway.cli.context import Context, catalog_option, output_option
from slipway.cli.documents import job_document, roles
from slipway.cli.ending import ending_of
from slipway.cli.open import open_job
from slipway.cli.show import show
from slipway.cli.sweep_list import apart, tally, values_of
from slipway.cloud.logging import LogEntry
from slipway.cloud.resources import CustomJob
from slipway.formatting import seconds, span
from slipway.jobs.cost import job_cost
from slipway.jobs.tail import Tail, job_filter, newest
from slipway.jobs.waiting import state_word
from slipway.labels import RUN_LABEL, STACK_LABEL, TEMPLATE_LABEL, USER_LABEL, label_value
from slipway.sweep.runs import in_order

_STATES = ("queued", "pending", "running", "succeeded", "failed", "cancelling", "cancelled", "paused", "expired")
_SEVERITIES = ("debug", "info", "notice", "warning", "error", "critical")


@click.group("jobs", short_help="List, show, follow, await and cancel jobs.")
def jobs() -> None:
    """Look after jobs. JOB is a name (dask-digits-7k2p3f9a), a number, or a full resource name, of any kind."""


jobs.add_command(cancel)
jobs.add_command(open_job)
jobs.add_command(show)


@jobs.command("list")
@click.option("--template", metavar="NAME", help="Only jobs of this template.")
@click.option("--user", metavar="NAME", help="Only this person's.")
@click.option("--sweep", metavar="ID", help="Only the runs of this sweep.")
@click.option("--state", type=click.Choice(_STATES), help="Only jobs in this state.")
@click.option("--all", "everything", is_flag=True, help="Every job of the region, whoever submitted it, and how.")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), help="At most this many, newest first.  [default: 20; of a sweep all]"
)
@catalog_option
@output_option
def list_jobs(
    template: str | None,
    user: str | None,
    sweep: str | None,
    state: str | None,
    everything: bool,
    limit: int | None,
    catalog: str | None,
    output: str,
) -> None:
    """The newest jobs of this catalog's stack; those of a sweep in the order of its runs."""
    context = Context(catalog)
    labels = {
        STACK_LABEL: None if everything else context.catalog.stack,
        TEMPLATE_LABEL: label_value(template) if template else None,
        USER_LABEL: label_value(user) if user else None,
    }
    parts = [f'labels.{key}="{value}"' for key, value in labels.items() if value]
    if sweep:
        parts.append(sweep_filter(context.catalog.stack, sweep))
    if state:
        parts.append(f'state="JOB_STATE_{state.upper()}"')
    most = limit or (100_000 if sweep else 20)
    listed = context.vertex.jobs_of_every_kind(" AND ".join(parts), page_size=min(most, 100))
    found = in_order(islice(listed, most)) if sweep else list(islice(listed, most))
    values = values_of(context, found) if sweep else None
    if output == "json":
        documents = [job_document(job, context) for job in found]
        for document, own in zip(documents, values or (), strict=False):
            document["parameters"] = own
        screen.out_json("jobs", {"jobs": documents})
        return
    if not found:
        screen.note("no jobs" + (" match" if parts[1:] else f" of stack {context.catalog.stack} yet"))
        return
    rows = [_row(job, context) for job in found]
    columns: tuple[str, ...] = ("JOB", "STATE", "USER", "ON", "CREATED", "WAIT", "RUN")
    if sweep:
        numbers = [job.labels.get(RUN_LABEL, "–") for job in found]
        columns, rows = ("#", *columns), [(number, *row) for number, row in zip(numbers, rows, strict=True)]
    if values is not None:
        columns = (*columns, "PARAMETERS")
        rows = [(*row, words) for row, words in zip(rows, apart(values), strict=True)]
    screen.table(columns, rows, right=("#", "WAIT", "RUN"))
    if sweep:
        screen.note(tally(found))


def _row(job: CustomJob, context: Context) -> tuple[str, ...]:
    money = job_cost(job, context.catalog.region, context.now)
    created = f"{span((context.now - job.create_time).total_seconds())} ago" if job.create_time else "?"
    return (
        job.display_name or job.id,
        state_word(job.state),
        job.labels.get(USER_LABEL, "–"),
        context.cluster_name(job.persistent_resource_id) if job.persistent_resource_id else money.capacity_type,
        created,
        "–" if money.wait is None else span(money.wait),
        "–" if money.run is None else span(money.run),
    )


@jobs.command("logs")
@click.argument("job", shell_complete=completion.complete_jobs)
@click.option("-f", "--follow", is_flag=True, help="Go on until the job ends. Ctrl-C detaches.")
@click.option(
    "--tail", "last", type=click.IntRange(1), metavar="N", help="Only the last N lines, and those that follow."
)
@click.option("--role", metavar="ROLE", help="Only this role's, or this replica's: workers, workers-1, service.")
@click.option("--severity", type=click.Choice(_SEVERITIES), help="Only lines at least as severe.")
@catalog_option
@output_option
def logs(
    job: str, follow: bool, last: int | None, role: str | None, severity: str | None, catalog: str | None, output: str
) -> None:
    """What a job wrote, each line after the role that wrote it. JSON output is one object a line.

    Lines of `service` are the service's own: what a job waits for, preemptions, restarts.
    """
    context = Context(catalog)
    found = context.find_job(job)
    wanted = (severity or "").upper()
    logging = context.connection.logging(context.catalog.project)
    tail = newest(logging, job_filter(found.log_ids, severity=wanted), last) if last and found.log_ids else None

    def text(entry: LogEntry, job: CustomJob) -> str:
        return _line(entry, job, role, json_lines=output == "json")

    if follow:
        _follow(context, found, tail, wanted, text, plain=output == "json")
        return
    shown = 0
    for entry in Tail(logging, found.log_ids, severity=wanted).more() if tail is None else tail:
        if said := text(entry, found):
            screen.out(said)
            shown += 1
    if not shown:
        screen.note(f"no lines{f' of {role}' if role else ''} yet; {found.display_name} is {state_word(found.state)}")


def _follow(
    context: Context,
    job: CustomJob,
    tail: list[LogEntry] | None,
    severity: str,
    text: Callable[[LogEntry, CustomJob], str],
    *,
    plain: bool,
) -> None:
    from slipway.cli.watching import watch

    begin = tail[0].timestamp if tail else None
    ended = watch(context, job, logs=True, severity=severity, begin=begin, text=text, plain=plain)
    problem = ending_of(context, ended)
    if problem:
        raise problem


def _line(entry: LogEntry, job: CustomJob, role: str | None, *, json_lines: bool) -> str:
    """A line of the log as it is printed; empty for one of another role."""
    from slipway.cli.watching import line
    from slipway.jobs.events import kind_of
    from slipway.jobs.tail import of_role, prefix

    who = prefix(entry, roles(job), tuple(pool.replicas for pool in job.worker_pools))
    if role and not of_role(who, role):
        return ""
    if not json_lines:
        return line(entry, job)
    document = {"time": entry.stamp, "severity": entry.severity, "role": who, "task": entry.task}
    return screen.json_text({"schema": screen.SCHEMA, **document, "event": kind_of(entry), "text": entry.text})


@jobs.command("wait")
@click.argument("job", shell_complete=completion.complete_jobs)
@click.option("--timeout", metavar="TIME", help="Stop waiting after 90s, 10m or 2h (exit 9); the job goes on.")
@catalog_option
@output_option
def wait(job: str, timeout: str | None, catalog: str | None, output: str) -> None:
    """Wait for a job's end. Exit code: 0 succeeded, 4 failed or expired, 8 cancelled, 9 timeout."""
    from slipway.cli.watching import watch

    limit = seconds(timeout) if timeout is not None else None
    context = Context(catalog)
    ended = watch(context, context.find_job(job), logs=False, timeout=limit, quiet=output == "json")
    if output == "json":
        screen.out_json("job", {"job": job_document(ended, context)})
    problem = ending_of(context, ended)
    if problem:
        raise problem
