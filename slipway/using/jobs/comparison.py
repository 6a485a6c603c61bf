"""Jobs side by side, field by field: their requests, machines and outcomes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from slipway.base.formatting import join, last_part
from slipway.google.jobs import VertexJob
from slipway.model.catalog.parameter_types import Value
from slipway.model.labels import CODE_LABEL, RUN_LABEL, SWEEP_LABEL, own_labels
from slipway.model.own_settings import OF_JOB
from slipway.model.prices import exact_text
from slipway.using.jobs.description import JobDescription
from slipway.using.jobs.metrics import Metrics
from slipway.using.jobs.roles import machines_of

PRICE, COST = ("machines", "pricePerHour"), ("outcome", "cost")
"""Groups and names of the fields in USD."""


@dataclass(frozen=True)
class ComparedField:
    """A field of all jobs."""

    #: One of parameter, env, secret, setting, code, job, label, machines, metric and outcome.
    group: str
    name: str
    #: The jobs' values in the jobs' order, None for a job that lacks it. Times are seconds, `cost` and `pricePerHour`
    #: are USD as text.
    values: tuple[Value | None, ...]
    #: All values are equal; 1 and True are not equal.
    alike: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alike", len({(type(value), value) for value in self.values}) == 1)


def compare_jobs(
    descriptions: Sequence[JobDescription],
    metrics: Mapping[str, Metrics],
    causes: Mapping[str, str],
    order: Iterable[str] = (),
) -> tuple[ComparedField, ...]:
    """Compare jobs. `metrics` and `causes` are by full names; `order` has parameters that come first."""
    jobs = [description.job for description in descriptions]
    accounts = [description.account for description in descriptions]
    measured = [metrics.get(job.name, Metrics()).as_shown for job in jobs]
    rows: list[tuple[str, str, Iterable[Value | None]]] = [
        *_given(jobs, order),
        ("machines", "on", [description.on for description in descriptions]),
        (*PRICE, [exact_text(account.per_hour) for account in accounts]),
        *(("metric", name, [of_job.get(name) for of_job in measured]) for name in _names(measured, ())),
        ("outcome", "state", [job.job_state.value for job in jobs]),
        ("outcome", "failure reason", [causes.get(job.name) for job in jobs]),
        ("outcome", "error", [job.error or None for job in jobs]),
        ("outcome", "waited", [account.wait for account in accounts]),
        ("outcome", "ran", [account.run for account in accounts]),
        (*COST, [exact_text(account.cost) for account in accounts]),
    ]
    fields = (ComparedField(group, name, tuple(values)) for group, name, values in rows)
    return tuple(field for field in fields if any(value not in (None, "") for value in field.values))


def _given(jobs: Sequence[VertexJob], order: Iterable[str]) -> Iterator[tuple[str, str, Iterable[Value | None]]]:
    """Yield the rows about what was given to each job."""
    parameters = [job.parameters or {} for job in jobs]
    for name in _names(parameters, order):
        yield "parameter", name, [of_job.get(name) for of_job in parameters]
    settings = [job.own_settings.by_name for job in jobs]
    for name in _names(settings, ()):
        group, shown = _setting(name)
        yield group, shown, [of_job.get(name) for of_job in settings]
    for group, name, value in _OF_JOBS:
        yield group, name, [value(job) or None for job in jobs]
    labels = [own_labels(job.labels) for job in jobs]
    for key in _names(labels, ()):
        yield "label", key, [of_job.get(key) for of_job in labels]


def _names(each: Iterable[Mapping[str, Value]], first: Iterable[str]) -> list[str]:
    present = dict.fromkeys(name for values in each for name in values)
    leading = dict.fromkeys(name for name in first if name in present)
    return [*leading, *(name for name in present if name not in leading)]


def _setting(name: str) -> tuple[str, str]:
    """Return the group and the name of a setting: `env`, `LR`; or `setting`, `max-run`, as its flag is named."""
    group, _, own = name.partition(".")
    if name.startswith(OF_JOB):
        return "setting", own.replace("_", "-")
    return group.removesuffix("s"), own


def _code(job: VertexJob) -> str:
    """Return `hello-0a1b2c3d4e5f.tar.gz @ 3f9c2e1`, the name of a job's package; for a job without one its image."""
    packages = join(sorted(last_part(uri) for uri in job.packages))
    if not packages:
        return ""
    return f"{packages} @ {job.code}" if CODE_LABEL in job.labels and job.code.commit else packages


def _sweep(job: VertexJob) -> str:
    sweep = job.labels.get(SWEEP_LABEL, "")
    return f"{sweep}, run {job.labels.get(RUN_LABEL, '?')}" if sweep else ""


_OF_JOBS: tuple[tuple[str, str, Callable[[VertexJob], str]], ...] = (
    ("code", "template", lambda job: job.template),
    ("code", "commit", lambda job: str(job.revision)),
    ("code", "package", _code),
    ("code", "image", lambda job: join(dict.fromkeys(pool.image for pool in job.worker_pools if pool.replicas))),
    ("code", "kind", lambda job: job.kind.name),
    ("job", "experiment", lambda job: last_part(job.experiment)),
    ("job", "sweep", _sweep),
    ("job", "user", lambda job: job.user),
    ("job", "team", lambda job: job.team),
    ("job", "note", lambda job: job.note),
    ("machines", "machines", machines_of),
    ("machines", "capacity", lambda job: job.capacity_type),
    ("machines", "region", lambda job: job.region),
)
