"""`slipway jobs`: list, show, logs, wait; with cancel and open from beside.

A job is named by its name, its number or its full resource name.
"""

from __future__ import annotations

import json
from itertools import islice

import click

from slipway.cli import screen, suggest
from slipway.cli.cancel import cancel, sweep_filter
from slipway.cli.context import Context, catalog_option, output_option
from slipway.cli.documents import job_document, role_at, roles
from slipway.cli.found import found as named
from slipway.cli.opening import open_job
from slipway.cli.trials import show_trials
from slipway.cloud.failures import CloudError
from slipway.cloud.resources import CustomJob
from slipway.errors import ConfigError
from slipway.jobs.account import account, problem_of
from slipway.jobs.tail import Tail, job_filter, newest
from slipway.jobs.waiting import reason, state_word
from slipway.submit import naming
from slipway.words import exact, join, seconds, span

_STATES = ("queued", "pending", "running", "succeeded", "failed", "cancelling", "cancelled", "paused", "expired")
_SEVERITIES = ("debug", "info", "notice", "warning", "error", "critical")


@click.group("jobs", short_help="List, show, follow, await and cancel jobs.")
def jobs() -> None:
    """Look after jobs. JOB is a name (dask-digits-7k2p3f9a), a number, or a full resource name, of any kind."""


jobs.add_command(cancel)
jobs.add_command(open_job)


@jobs.command("list")
@click.option("--template", metavar="NAME", help="Only jobs of this template.")
@click.option("--user", metavar="NAME", help="Only this person's.")
@click.option("--sweep", metavar="ID", help="Only the runs of this sweep.")
@click.option("--state", type=click.Choice(_STATES), help="Only jobs in this state.")
@click.option("--all", "everything", is_flag=True, help="Every job of the region, whoever submitted it, and how.")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="At most so many, newest first."
)
@catalog_option
@output_option
def list_jobs(
    template: str | None,
    user: str | None,
    sweep: str | None,
    state: str | None,
    everything: bool,
    limit: int,
    catalog: str | None,
    output: str,
) -> None:
    """The newest jobs of this catalog's stack."""
    context = Context(catalog)
    labels = {
        naming.STACK_LABEL: None if everything else context.catalog.stack,
        naming.TEMPLATE_LABEL: naming.label_value(template) if template else None,
        naming.USER_LABEL: naming.label_value(user) if user else None,
    }
    parts = [f'labels.{key}="{value}"' for key, value in labels.items() if value]
    if sweep:
        parts.append(sweep_filter(context.catalog.stack, sweep))
    if state:
        parts.append(f'state="JOB_STATE_{state.upper()}"')
    found = list(islice(context.vertex.jobs_of_every_kind(" AND ".join(parts), page_size=min(limit, 100)), limit))
    if output == "json":
        screen.out_json("jobs", {"jobs": [job_document(job, context) for job in found]})
        return
    if not found:
        screen.note("no jobs" + (" match" if parts[1:] else f" of stack {context.catalog.stack} yet"))
        return
    screen.table(
        ("JOB", "STATE", "USER", "ON", "CREATED", "WAIT", "RUN"),
        [_row(job, context) for job in found],
        right=("WAIT", "RUN"),
    )


def _row(job: CustomJob, context: Context) -> tuple[str, ...]:
    money = account(job, context.catalog.region, context.now)
    created = f"{span((context.now - job.create_time).total_seconds())} ago" if job.create_time else "?"
    return (
        job.display_name or job.id,
        state_word(job.state),
        job.labels.get(naming.USER_LABEL, "–"),
        context.cluster_name(job.persistent_resource_id) if job.persistent_resource_id else money.way,
        created,
        "–" if money.wait is None else span(money.wait),
        "–" if money.run is None else span(money.run),
    )


@jobs.command("show")
@click.argument("job", shell_complete=suggest.jobs)
@catalog_option
@output_option
def show(job: str, catalog: str | None, output: str) -> None:
    """Everything about one job: state and why it waits, machines, times, cost, output."""
    context = Context(catalog)
    found = named(context, job)
    why = _why(context, found) if not found.ended and found.start_time is None else ""
    if output == "json":
        screen.out_json("job", {"job": {**job_document(found, context), "waitsFor": why or None}})
        return
    for key, value in _facts(context, found, why):
        screen.out(f"{key:<10} {value}")
    if found.tried:
        screen.out("")
        show_trials(found)


def _why(context: Context, job: CustomJob) -> str:
    try:
        cluster = context.vertex.persistent_resource(job.persistent_resource_id) if job.persistent_resource_id else None
        active = tuple(context.vertex.active_custom_jobs())
    except CloudError as problem:
        return f"why is not known: {problem.message}"
    return reason(job, cluster, context.cluster_name(job.persistent_resource_id), active, context.now)


def _on(name: str, id_: str) -> str:
    """``cpu (cpu-1a2b3c4)``; the id alone where it has no name any more."""
    return id_ if name == id_ else f"{name} ({id_})"


def _facts(context: Context, job: CustomJob, why: str) -> list[tuple[str, str]]:
    from slipway.cli.following import cost_words

    money = account(job, context.catalog.region, context.now)
    pools = [
        f"{pool.replicas} × {pool.shape.machine} ({role_at(job, index)})"
        for index, pool in enumerate(job.worker_pools)
        if pool.replicas
    ]
    place = context.cluster_name(job.persistent_resource_id)
    facts = [
        ("job", job.display_name),
        ("name", job.name),
        ("state", f"{state_word(job.state)}{f': {why}' if why else ''}"),
        ("error", job.error),
        ("template", job.labels.get(naming.TEMPLATE_LABEL, "")),
        ("commit", job.labels.get(naming.COMMIT_LABEL, "")),
        (
            "code",
            join(dict.fromkeys(uri for pool in job.worker_pools for uri in pool.packages or (pool.image,) if uri)),
        ),
        ("user", job.labels.get(naming.USER_LABEL, "")),
        ("request", job.labels.get(naming.REQUEST_LABEL, "")),
        ("on", _on(place, job.persistent_resource_id) or money.way),
        ("machines", join(pools)),
        ("created", job.create_time.isoformat(timespec="seconds") if job.create_time else ""),
        ("waited", exact(money.wait) if money.wait is not None else ""),
        ("ran", exact(money.run) if money.run is not None else ""),
        ("cost", cost_words(money.cost, money.paid_anyway) if money.run is not None else ""),
        ("output", job.output),
        ("model", job.model),
        ("console", context.console_link(job.id)),
    ]
    return [(key, value) for key, value in facts if value]


@jobs.command("logs")
@click.argument("job", shell_complete=suggest.jobs)
@click.option("-f", "--follow", is_flag=True, help="Go on until the job ends. Ctrl-C detaches.")
@click.option("--tail", "last", type=click.IntRange(1), metavar="N", help="Only the last N lines.")
@click.option("--role", metavar="ROLE", help="Only this role's, or this replica's: workers, workers-1.")
@click.option("--severity", type=click.Choice(_SEVERITIES), help="Only lines at least as severe.")
@catalog_option
@output_option
def logs(
    job: str, follow: bool, last: int | None, role: str | None, severity: str | None, catalog: str | None, output: str
) -> None:
    """What a job wrote, each line after the role that wrote it. JSON output is one object a line."""
    from slipway.cli.following import line, watch
    from slipway.jobs.tail import prefix

    if follow and (last or role or output == "json"):
        raise ConfigError("--follow shows everything as text", fix="leave out --tail, --role and --output json")
    context = Context(catalog)
    found = named(context, job)
    wanted = (severity or "").upper()
    if follow:
        ended = watch(context, found, logs=True, severity=wanted)
        problem = problem_of(ended)
        if problem:
            raise problem
        return
    logging = context.connection.logging(context.catalog.project)
    entries = (
        newest(logging, job_filter(found.log_ids, severity=wanted), last)
        if last and found.log_ids
        else Tail(logging, found.log_ids, severity=wanted).more()
    )
    replicas = tuple(pool.replicas for pool in found.worker_pools)
    shown = 0
    for entry in entries:
        who = prefix(entry, roles(found), replicas)
        if role and who != role and who.rpartition("-")[0] != role:
            continue
        shown += 1
        if output == "json":
            document = {"time": entry.stamp, "severity": entry.severity, "role": who, "task": entry.task}
            screen.out(json.dumps({"schema": screen.SCHEMA, **document, "text": entry.text}, ensure_ascii=False))
        else:
            screen.out(line(entry, found))
    if not shown:
        screen.note(f"no lines{f' of {role}' if role else ''} yet; {found.display_name} is {state_word(found.state)}")


@jobs.command("wait")
@click.argument("job", shell_complete=suggest.jobs)
@click.option("--timeout", metavar="TIME", help="Stop waiting after 90s, 10m or 2h (exit 9); the job goes on.")
@catalog_option
@output_option
def wait(job: str, timeout: str | None, catalog: str | None, output: str) -> None:
    """Wait for a job's end. Exit code: 0 succeeded, 4 failed or expired, 8 cancelled, 9 timeout."""
    from slipway.cli.following import watch

    limit = seconds(timeout) if timeout is not None else None
    context = Context(catalog)
    ended = watch(context, named(context, job), logs=False, timeout=limit, quiet=output == "json")
    if output == "json":
        screen.out_json("job", {"job": job_document(ended, context)})
    problem = problem_of(ended)
    if problem:
        raise problem
