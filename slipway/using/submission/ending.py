"""A job's end: the request for it, its error, and the ways on after a lack of machines: commands that can be typed,
from the parameters that the job records."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from slipway.base.errors import Cancelled, ConfigError, JobTimeout, ResourceError, SlipwayError
from slipway.base.formatting import span
from slipway.google.catalog.lookup import standing
from slipway.google.jobs import CANCELLED, FAILED, NO_MACHINES, VertexJob
from slipway.google.logging import LogEntry
from slipway.model.capacity import CAPACITY_TYPES, POOL
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import render
from slipway.model.catalog.template import Offer, Parameter, Template
from slipway.model.cluster import Reservation
from slipway.model.kinds import JobKind
from slipway.model.labels import CAPACITY_TYPE_LABEL, CODE_LABEL
from slipway.using.context import Context
from slipway.using.jobs.failure import read_failure
from slipway.using.submission.parameters import typed, unnamed
from slipway.using.submission.team import is_barred, team_to_name

_OTHERS = sorted(CAPACITY_TYPES.values(), key=lambda row: not row.waits_by_itself)
"""The other capacity types in the order of proposal: first the type that waits for its machines by itself."""

_LEFT_TO_FILL = re.compile(r"(\w+=)?…")
"""A word of a command that a person fills in. Any other word may hold text that somebody else typed, and is quoted."""


class Cause(Enum):
    """The reasons why a job ends for want of machines."""

    STOCK_OUT = "there were no machines for it, and the service has stopped trying"
    EXPIRED = "its machines did not arrive within its maximum wait"
    PREEMPTED = "its Spot machines were taken away too often, and the service restarts it no more"
    RESERVATION_OVER = "its reservation ended, and took its machines with it"
    RESERVATION_ENDED = "its reservation had ended before it got its machines"


@dataclass(frozen=True)
class NextStep:
    what: str
    #: Can be typed as it is, except for what is written `…` or `BUCKET`.
    command: str


@dataclass(frozen=True)
class RecoveredSubmission:
    """A submission as its job records it."""

    template: Template
    kind: JobKind
    offer: Offer
    values: Mapping[str, Value]
    #: Parameters that the job does not record, or whose values the template no longer takes.
    unknown: tuple[str, ...]
    #: The team that the job counts for, where a submission has to name it.
    team: str = ""

    @property
    def flags(self) -> tuple[str, ...]:
        """The words that choose kind and team as the job has them, where nothing else does."""
        kind = ("--as", self.kind.name) if self.kind.name != self.template.kind else ()
        return (*kind, *(("--team", self.team) if self.team else ()))

    def words(self, **others: Value) -> list[str]:
        """Return the parameters as typed, without defaults: `["-p", "trees=500"]`; `…` for unknown values."""
        words: list[str] = []
        for parameter in self.template.parameters:
            value = others.get(parameter.name, self.values.get(parameter.name))
            if value is None and parameter.name in self.unknown:
                words += ["-p", f"{parameter.name}=…"]
            elif value is not None and value != parameter.default:
                words += ["-p", f"{parameter.name}={render(value)}"]
        declared = {parameter.name for parameter in self.template.parameters}
        free = ((name, value) for name, value in self.values.items() if name not in declared)
        return [*words, *(word for name, value in free for word in ("-p", f"{name}={render(value)}"))]


def require_success(context: Context, job: VertexJob, followed: Sequence[LogEntry] = ()) -> None:
    """Raise the error of an ended job, as `problem_of_end` has it; nothing for success."""
    if problem := problem_of_end(context, job, followed):
        raise problem


def problem_of_end(context: Context, job: VertexJob, followed: Sequence[LogEntry] = ()) -> SlipwayError | None:
    """Return the error of an ended job, with the ways on or its code's last lines; None for success. `followed` are the
    last lines of its log that were read before."""
    problem, cause = error_of_end(job), cause_of(job, context.catalog.reservations)
    if problem and cause:
        problem.fix = "\n".join([*advice_lines(cause, next_steps(context, job, cause)), problem.fix])
    elif problem and (failure := read_failure(context, job, followed, waits=True)):
        problem.why = "\n".join([failure.without_guess(problem.why), *failure.words])
        problem.fix = "\n".join(filter(None, [failure.fix, problem.fix]))
    return problem


def error_of_end(job: VertexJob) -> SlipwayError | None:
    """Return an ended job's error for those who waited for it, None for success."""
    name, logs = job.called, f"slipway jobs logs {job.typed}"
    if job.state == "JOB_STATE_SUCCEEDED":
        return None
    if job.timed_out:
        limit = span(job.timeout or 0)
        return JobTimeout(
            f"job {name} reached its time limit of {limit}, and the service ended it",
            why="the limit is the longest run of this job where one was given, else the template's timeout_s",
            fix=({"like": job.typed, "max_run": "TIME"}, f", up to the template's own limit\n{logs}"),
        )
    if job.state == CANCELLED:
        way_on = "\nto go on from what it has kept: docs/full-pool.md#when-the-job-behind-was-cancelled"
        return Cancelled(f"job {name} was cancelled", why=job.error, fix=logs + (way_on if job.after else ""))
    word = {
        "JOB_STATE_EXPIRED": "expired: it did not get its machines, or did not finish, in time",
        "JOB_STATE_PARTIALLY_SUCCEEDED": "succeeded in part only",
    }.get(job.state, "failed")
    why = job.error or "the service has not said yet (it does about a minute after the end: slipway jobs show)"
    return ResourceError(f"job {name} {word}", why=why, fix=logs)


def next_steps(context: Context, job: VertexJob, cause: Cause) -> tuple[NextStep, ...]:
    """Return next steps: other capacity types of the template, fewer machines, a longer wait, another region; none for
    a job of no template of the catalog."""
    again = recover(context.catalog, job)
    return () if again is None else tuple(_steps(job, cause, again, context))


def advice_lines(cause: Cause, steps: tuple[NextStep, ...]) -> list[str]:
    width = max((len(step.command) for step in steps), default=0)
    head = f"{cause.value}{'. What to try now:' if steps else ''}"
    return [head, *(f"{step.command:<{width}}   {step.what}" for step in steps)]


def cause_of(job: VertexJob, reservations: Mapping[str, Reservation]) -> Cause | None:
    """Return the cause by the state and the service's words, where it is certain. None for other ends."""
    capacity_type = job.capacity_type
    if capacity_type == POOL or job.state not in FAILED:
        return None
    insufficient = NO_MACHINES.search(job.error) is not None
    if CAPACITY_TYPES[capacity_type].waits_by_itself:
        late = insufficient or job.state == "JOB_STATE_EXPIRED"
        return Cause.EXPIRED if job.start_time is None and late else None
    if CAPACITY_TYPES[capacity_type].preemptible and insufficient and job.start_time is not None:
        return Cause.PREEMPTED
    if not insufficient:
        return None
    ends = [each.ends for path in job.reservations if (each := reservations.get(path)) and each.ends]
    over = job.end_time and any(end <= job.end_time for end in ends)
    if not over:
        return Cause.STOCK_OUT
    return Cause.RESERVATION_OVER if job.start_time else Cause.RESERVATION_ENDED


def _steps(job: VertexJob, cause: Cause, again: RecoveredSubmission, context: Context) -> Iterator[NextStep]:
    own, catalog = ("--capacity", again.offer.capacity_type), context.address
    if cause is Cause.EXPIRED:
        longer = [*own, "--wait-for", f"{again.offer.capacity_type}=0"]
        yield NextStep("waits for as long as it takes", _command(job, again, catalog, *longer))
    offers = standing(again.template, again.kind, again.values, job.team)
    usable = [offer for offer in offers if offer.available and not is_barred(context.catalog, offer.cluster, job.team)]
    first = {offer.capacity_type: offer for offer in reversed(usable)}
    for offer in [first[row.name] for row in _OTHERS if row.name in first and row.name != again.offer.capacity_type]:
        what = CAPACITY_TYPES[offer.capacity_type].instead.format(offer.cluster)
        yield NextStep(what, _command(job, again, catalog, "--capacity", offer.capacity_type))
    if cause in (Cause.RESERVATION_OVER, Cause.RESERVATION_ENDED):
        return
    for name, fewer, machines in _fewer(again):
        what = f"fewer machines: {again.values[name]} → {fewer} {machines}"
        yield NextStep(what, _command(job, again, catalog, *own, **{name: fewer}))
    if replicas := job.own_settings.several:
        what = f"fewer machines: {replicas} → {replicas // 2}"
        yield NextStep(what, _command(job, again, catalog, *own, "--replicas", str(replicas // 2)))
    elsewhere = f"another region than {job.region}, by the catalog of a stack that is there"
    yield NextStep(elsewhere, _command(job, again, "gs://BUCKET", *own))


def _fewer(again: RecoveredSubmission) -> Iterator[tuple[str, int, str]]:
    """Yield (parameter, half of its value, role) for parameters that count replicas and may be smaller."""
    roles = again.offer.roles or again.template.roles
    bounds = {parameter.name: parameter.min for parameter in again.template.parameters}
    for index, spec in enumerate(again.kind.spec_of(again.offer.request).get("workerPoolSpecs", ())):
        name = str(spec.get("replicaCount", "")).removeprefix("${").removesuffix("}")
        value = again.values.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            least = max(1, int(bounds.get(name) or 1))
            if value > least:
                yield name, max(least, value // 2), roles[index] if index < len(roles) else name


def _command(job: VertexJob, again: RecoveredSubmission, catalog: str | None, *flags: str, **params: Value) -> str:
    words = ["slipway", "submit", again.template.name, *again.words(**params), *flags, *again.flags]
    if (replicas := job.own_settings.several) and "--replicas" not in flags:
        words += ["--replicas", str(replicas)]
    if CODE_LABEL in job.labels:
        words += ["--code", "…"]
    if catalog:
        words += ["--catalog", catalog]
    return " ".join(word if _LEFT_TO_FILL.fullmatch(word) else shlex.quote(word) for word in words)


def recover(catalog: Catalog, job: VertexJob) -> RecoveredSubmission | None:
    """Recover a job's submission; None for a job of no template, or of no offer, that the catalog has."""
    template, recorded = catalog.templates.get(job.template), job.parameters
    if template is None:
        return None
    declared = (
        {} if recorded is None else {parameter.name: _value(parameter, recorded) for parameter in template.parameters}
    )
    values = {name: value for name, value in declared.items() if value is not None}
    free = {name: value for name, value in (recorded or {}).items() if name not in declared}
    plain = {name: render(value) for name, value in {**values, **free}.items()}
    values |= {name: value for name, value in free.items() if name not in unnamed(template, plain)}
    unknown = tuple(parameter.name for parameter in template.parameters if parameter.name not in values)
    try:
        offers = standing(template, job.kind, values, job.team)
        usual = standing(template, job.kind, values)
    except ConfigError:
        return None
    for offer in offers:
        if offer.capacity_type == job.labels.get(CAPACITY_TYPE_LABEL) and offer.fits_shape(job.shape):
            return RecoveredSubmission(
                template=template,
                kind=job.kind,
                offer=offer,
                values=values,
                unknown=unknown,
                team=team_to_name(catalog, template, usual[0], job.team),
            )
    return None


def _value(parameter: Parameter, recorded: Mapping[str, Value]) -> Value | None:
    """Return a parameter's recorded value or default; None for a value that the template no longer takes."""
    if parameter.name not in recorded:
        return parameter.default
    return typed(parameter, render(recorded[parameter.name]))[0]
