"""Show everything about one job.

State and why it waits, machines and their use, restarts, times, cost, output.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import click

from slipway.base.columns import Column, table_of
from slipway.base.formatting import counted, exact, join, short
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.chart import show_usage
from slipway.front.cli.terminal.documents import usage_document
from slipway.front.cli.terminal.options import catalog_and_output, found_job, job_argument
from slipway.front.cli.terminal.watching import cost_words, run_words
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.pipeline_tasks import PipelineTask
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import render
from slipway.model.labels import (
    CODE_LABEL,
    INPUT,
    NOTIFICATION,
)
from slipway.using.context import Context
from slipway.using.jobs.claim import known_retries
from slipway.using.jobs.claimant import JobGoneError
from slipway.using.jobs.description import describe
from slipway.using.jobs.failure import Failure, read_failure, reason_in
from slipway.using.jobs.idle import idle_accelerators, idle_words
from slipway.using.jobs.listing import with_parts
from slipway.using.jobs.log import JobEvent, JobEvents, last_word, read_events
from slipway.using.jobs.metrics import Metrics, read_metrics
from slipway.using.jobs.pause import about_pause
from slipway.using.jobs.race import Race, end, read_race
from slipway.using.jobs.results import number, parameter_order
from slipway.using.jobs.roles import machines_of, who_of
from slipway.using.jobs.room import Round, round_of
from slipway.using.jobs.utilization import Utilization, read_utilization
from slipway.using.jobs.wait_reader import WaitReason, read_why
from slipway.using.submission.ending import Cause, NextStep, advice_lines, cause_of, next_steps
from slipway.using.submission.next_attempt import next_attempt

_METRICS = 12
_EVENTS: tuple[Column[JobEvent], ...] = (
    Column("WHEN", lambda event: event.at.isoformat(timespec="seconds") if event.at else "?"),
    Column("WHAT", lambda event: event.kind),
    Column("REPLICA", lambda event: "/".join(filter(None, (event.trial, event.role or "–")))),
    Column("THE SERVICE SAID", lambda event: event.text, wraps=True),
)
_TASKS: tuple[Column[PipelineTask], ...] = (
    Column("TASK", lambda task: "· " * task.path.count(".") + task.path.rpartition(".")[2]),
    Column("STATE", lambda task: task.state),
    Column("RAN", lambda task: exact(task.ran) if task.ran is not None else "–"),
    Column("ERROR", lambda task: task.error, wraps=True),
)


@dataclass(frozen=True)
class JobDetails:
    """A job with all its details."""

    job: VertexJob
    #: The reason why it waits, empty for a job that does not.
    why: str
    events: JobEvents
    usage: Utilization
    #: The reason why it ended for want of machines.
    cause: Cause | None
    #: The ways on after that.
    steps: tuple[NextStep, ...]
    #: The job that its submission fell back to.
    next: VertexJob | None = None
    #: The reason why it failed by itself.
    failure: Failure | None = None
    metrics: Metrics = field(default_factory=Metrics)
    #: What it was asked of the room that it makes, or has made; None where nobody asked.
    room: Round | None = None
    #: How often its code was started again after a failure; None where nobody asked for that, or it is not known.
    retried: int | None = None
    #: None for a job of no race, and where that can't be read.
    race: Race | None = None


@click.command()
@job_argument
@catalog_and_output
def command(job: str, catalog: str | None, output: str) -> None:
    context = Context(catalog)
    details = _read(context, found_job(context, job))
    if output == "json":
        screen.out_json("job", {"job": _document(context, details)})
        return
    screen.fields(_facts(context, details))
    if details.failure and details.failure.words:
        lines = ["", *details.failure.words]
        if details.failure.fix:
            lines.append(f"fix: {details.failure.fix}")
        screen.out("\n".join(lines))
    if details.job.tried:
        _show_trials(details.job)
    if details.job.tasks:
        screen.out("")
        screen.show(table_of(_TASKS, details.job.tasks))
    if details.cause:
        screen.out("\n".join(("", *advice_lines(details.cause, details.steps))))
    if details.events.all:
        screen.out("")
        screen.show(table_of(_EVENTS, details.events.all))
        if details.events.more:
            screen.hint(f"older ones: slipway jobs logs {details.job.typed}")
    if details.usage.rows:
        show_usage(details.usage)


def _read(context: Context, job: VertexJob) -> JobDetails:
    brief, project, now = context.brief, context.catalog.project, context.now
    logging = brief.logging(project)
    cluster, word = context.cluster_name(job.persistent_resource_id), partial(last_word, logging)

    def waits() -> WaitReason:
        quotas, stack = brief.quotas(project), context.catalog.identity.label
        return read_why(context.vertex, job, cluster, now, word, quotas, stack, also=about_pause(context, job))

    with ThreadPoolExecutor(7, thread_name_prefix="show") as threads:
        metrics = threads.submit(read_metrics, context, [job])
        race = threads.submit(_race_of, context, job)
        why = threads.submit(waits) if job.waits else None
        events = threads.submit(read_events, logging, job)
        usage = threads.submit(read_utilization, brief.monitoring(project), job, now)
        fallback = threads.submit(next_attempt, context, job)
        parts = threads.submit(with_parts, context, [job])
        retried = threads.submit(known_retries, context.brief.storage, job)
        room = threads.submit(_room, context, job)
        # The log of a job that ended for want of machines tells no more about that.
        cause = cause_of(job, context.catalog.reservations)
        failure = threads.submit(read_failure, context, job) if cause is None else None
        # A submission that fell back has gone on already.
        cause = cause if fallback.result() is None else None
        return JobDetails(
            job=parts.result()[0],
            why=why.result()(now) if why else "",
            events=events.result(),
            usage=usage.result(),
            cause=cause,
            steps=next_steps(context, job, cause) if cause else (),
            next=fallback.result(),
            failure=failure.result() if failure else None,
            metrics=metrics.result()[job.name],
            retried=retried.result(),
            room=room.result(),
            race=race.result(),
        )


def _race_of(context: Context, job: VertexJob) -> Race | None:
    """Read a job's race, and cancel its legs that wait on though another one runs."""
    if not job.race:
        return None
    race = None
    with suppress(CloudError, JobGoneError):
        race = read_race(context, job)
        end(context, race.left_over, screen.note)
    return race


def _room(context: Context, job: VertexJob) -> Round | None:
    if not (job.yields and job.start_time):
        return None
    try:
        return round_of(context.brief.storage, job)
    except CloudError:
        return None


def _document(context: Context, details: JobDetails) -> dict[str, Any]:
    job, events, parameters = details.job, details.events, details.job.parameters
    if parameters is not None:  # Each trial has values of its own for the others.
        parameters = {name: value for name, value in parameters.items() if name not in job.tuned}
    description, room = describe(job, context, events, reason_in(details.failure, job)), details.room
    return {
        **description.document,
        **({"room": {"made": room.made, **room.asked._asdict()}} if room and room.asked else {}),
        "parameters": parameters,
        "tuned": job.tuned,
        "waitsFor": details.why or None,
        "race": [{"region": leg.region, "name": leg.name, "state": leg.job_state} for leg in details.race.legs]
        if details.race
        else None,
        "fallback": details.next.name if details.next else None,
        # Null where its log could not be read.
        "restarts": None if events.why else len(events.of("restart")),
        "preemptions": None if events.why else len(events.of("preemption")),
        "tasks": job.tasks or None,
        "events": events.all,
        "eventsWhy": events.why or None,
        "retried": details.retried,
        "usage": usage_document(details.usage, idle_accelerators(details.usage, job, description.account)),
        **_metrics_document(details.metrics),
        "failure": details.failure,
        "next": details.steps,
    }


def _metrics_document(metrics: Metrics) -> dict[str, Any]:
    return {
        "metrics": dict(metrics),
        "metricsNotFinite": metrics.not_finite,
        "metricsSource": metrics.source or None,
        "metricsWhy": metrics.why or None,
        "metricSteps": [{"step": step.step, **step.values} for step in metrics.steps],
    }


def _facts(context: Context, details: JobDetails) -> list[tuple[str, str]]:
    job, why = details.job, details.why
    id_ = job.persistent_resource_id
    description = describe(job, context, details.events)
    money = description.account
    idle = idle_accelerators(details.usage, job, money)
    cost = cost_words(money) if money.run is not None else ""
    crossing = context.crossing(job.region)
    variables = dict(entry.split("=", 1) for pool in job.worker_pools for entry in pool.env)
    inputs = (f"{name.removeprefix(INPUT).lower()}={at}" for name, at in variables.items() if name.startswith(INPUT))
    untold = f"asked for; its log says when nobody was told: slipway jobs logs {job.typed}"
    facts = [
        ("called", job.chosen_name),
        ("job", job.display_name),
        ("name", job.name),
        ("state", f"{job.job_state}{f': {why}' if why else ''}"),
        ("error", job.error),
        ("race", details.race.words if details.race else ", ".join(job.race)),
        ("fell back", f"to {details.next.display_name} ({details.next.capacity_type})" if details.next else ""),
        ("room", details.room.words if details.room else ""),
        ("template", f"{job.template}  {description.source}".strip()),
        ("parameters", _parameters(job, context.catalog)),
        ("settings", str(job.own_settings)),
        ("inputs", ", ".join(inputs)),
        ("commit", str(job.revision)),
        ("code", _code(job)),
        ("user", job.user),
        ("team", job.team),
        ("notify", untold if NOTIFICATION in variables else ""),
        ("note", job.note),
        ("labels", description.own_labels),
        ("request", job.request_id),
        ("on", f"{description.on}{f' ({id_})' if id_ != description.cluster else ''}{context.elsewhere(job.region)}"),
        ("machines", f"{machines_of(job)}{f', for each of {job.trials} trials at once' if job.trials > 1 else ''}"),
        ("created", job.create_time.isoformat(timespec="seconds") if job.create_time else ""),
        ("waited", exact(money.wait) if money.wait is not None else ""),
        ("ran", run_words(money) if money.run is not None else ""),
        ("retried", "" if details.retried is None else f"{details.retried} of {job.own_settings.retries}"),
        ("restarts", _restarts(details)),
        ("gpus", idle_words(idle) if idle else ""),
        ("usage", details.usage.why if job.start_time is not None and not details.usage.rows else ""),
        ("cost", "; ".join(part for part in (cost, crossing) if part)),
        ("metrics", _metrics(details.metrics)),
        ("output", job.output),
        ("experiment", job.run_of_experiment),
        ("model", job.model),
        ("console", description.console),
        ("web access", join(f"{who_of(task, job)} {_link(url)}" for task, url in job.shells.items())),
    ]
    return [(key, value) for key, value in facts if value]


def _code(job: VertexJob) -> str:
    """Return `gs://…/code.tar.gz  @ 3f9c2e1 with local changes`."""
    uris = dict[str, None]()
    for pool in job.worker_pools:
        image = "" if pool.packages and not pool.launcher else pool.image  # A package is installed in a prebuilt one.
        uris |= dict.fromkeys((image, *pool.packages))
    sources = join(filter(None, uris))
    if CODE_LABEL not in job.labels:
        return sources
    return f"{sources}  @ {job.code}" if job.code.commit else f"{sources}, never committed"


def _parameters(job: VertexJob, catalog: Catalog) -> str:
    """Return `workers=2, trees=500, lr by trial`: all of them, defaults too, in the template's order, and whole."""
    if job.parameters is None:
        return "unknown: the job does not record them" if job.template else ""
    names = dict.fromkeys((*parameter_order(catalog, [job]), *job.parameters))
    texts = {short(name): render(job.parameters[name]) for name in names if name in job.parameters}
    shown = {name: text if text == " ".join(text.split()) else repr(text) for name, text in texts.items()}
    return ", ".join(f"{name} by trial" if name in job.tuned else f"{name}={text}" for name, text in shown.items())


def _metrics(metrics: Metrics) -> str:
    """Return `accuracy=0.981, loss=NaN`, the first ones of many."""
    texts = [f"{short(name)}={number(value)}" for name, value in metrics.items()]
    texts += [f"{short(name)}={value}" for name, value in metrics.not_finite.items()]
    more = f" and {len(texts) - _METRICS} more" if len(texts) > _METRICS else ""
    return f"{', '.join(texts[:_METRICS])}{more}"


def _link(url: str) -> str:
    """Add the scheme, which the service leaves out."""
    return url if "://" in url else f"https://{url}"


def _restarts(details: JobDetails) -> str:
    """Return `2, 2 preemptions`; empty for a job without restarts."""
    events = details.events
    if events.why:
        return f"not known: {events.why}"
    restarts, preemptions = len(events.of("restart")), len(events.of("preemption"))
    if not restarts and not preemptions:
        return ""
    return f"{'at least ' if events.more else ''}{restarts}, {counted(preemptions, 'preemption')}"


def _show_trials(job: VertexJob) -> None:
    screen.out("")
    names = list(dict.fromkeys(name for trial in job.tried for name in trial.values))
    chosen = job.best_trial
    rows = []
    for trial in job.tried:
        measured = (f"{trial.metrics[goal]:.4g}" if goal in trial.metrics else "–" for goal in job.goals)
        tried = (trial.values.get(name, "–") for name in names)
        rows.append((f"{trial.id}{' ★' if trial is chosen else ''}", trial.state.lower(), *tried, *measured))
    screen.table(("TRIAL", "STATE", *names, *job.goals), rows, right=tuple(job.goals))
