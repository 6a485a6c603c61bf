"""Jobs side by side, field by field: their requests, machines and outcomes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from slipway.base.formatting import join, last_part
from slipway.google.jobs import VertexJob, state_word
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.labels import CODE_LABEL, RUN_LABEL, SWEEP_LABEL, own_labels
from slipway.model.prices import exact_text
from slipway.using.jobs.description import JobDescription, told_labels
from slipway.using.jobs.metrics import Metrics
from slipway.using.jobs.roles import role_at

Value = Scalar | None
PRICE, COST = ("machines", "pricePerHour"), ("outcome", "cost")
"""Groups and names of the fields in USD."""


@dataclass(frozen=True)
class ComparedField:
    """A field of all jobs: `values` in the jobs' order, None for a job that lacks it. `group` is parameter, code,
    machines, metric or outcome. Times are seconds, `cost` and `pricePerHour` are USD as text."""

    group: str
    name: str
    values: tuple[Value, ...]
    alike: bool = field(init=False)

    def __post_init__(self) -> None:
        """Tell alike fields by the equality of their values; 1 and True are not equal."""
        object.__setattr__(self, "alike", len({(type(value), value) for value in self.values}) == 1)


def compare_jobs(
    told: Sequence[JobDescription],
    metrics: Mapping[str, Metrics],
    causes: Mapping[str, str],
    order: Iterable[str] = (),
) -> tuple[ComparedField, ...]:
    """Compare at least two jobs. `metrics`, and what logs tell of failures, `causes`, are by full names; `order` has
    parameters that come first."""
    return tuple(
        one for one in _fields(told, metrics, causes, order) if any(value not in (None, "") for value in one.values)
    )


def _fields(
    told: Sequence[JobDescription], metrics: Mapping[str, Metrics], causes: Mapping[str, str], order: Iterable[str]
) -> Iterator[ComparedField]:
    jobs = [one.job for one in told]
    given = [job.parameters or {} for job in jobs]
    for name in _names(given, order):
        yield ComparedField("parameter", name, tuple(values.get(name) for values in given))
    for group, name, value in _OF_JOBS:
        yield ComparedField(group, name, tuple(value(job) or None for job in jobs))
    yield ComparedField("machines", "on", tuple(one.on for one in told))
    yield ComparedField(*PRICE, tuple(exact_text(one.account.per_hour) for one in told))
    measured = [metrics.get(job.name, Metrics()) for job in jobs]
    for name in _names(measured, ()):
        yield ComparedField("metric", name, tuple(numbers.get(name) for numbers in measured))
    yield ComparedField("outcome", "state", tuple(state_word(job.state) for job in jobs))
    yield ComparedField("outcome", "cause", tuple(causes.get(job.name) for job in jobs))
    yield ComparedField("outcome", "error", tuple(job.error or None for job in jobs))
    yield ComparedField("outcome", "waited", tuple(one.account.wait for one in told))
    yield ComparedField("outcome", "ran", tuple(one.account.run for one in told))
    yield ComparedField(*COST, tuple(exact_text(one.account.cost) for one in told))


def _names(each: Iterable[Mapping[str, Scalar]], first: Iterable[str]) -> list[str]:
    """List the names that any of the jobs has, those of `first` before the others."""
    present = dict.fromkeys(name for one in each for name in one)
    return [*dict.fromkeys(name for name in first if name in present), *(n for n in present if n not in set(first))]


def _code(job: VertexJob) -> str:
    """Return `hello-0a1b2c3d4e5f.tar.gz @ 3f9c2e1`, the name of a job's package; for a job without one its image."""
    packages = join(sorted(last_part(uri) for uri in job.packages))
    if not packages:
        return ""
    return f"{packages} @ {job.code}" if CODE_LABEL in job.labels and job.code.commit else packages


def _machines(job: VertexJob) -> str:
    pools = (
        f"{pool.replicas} × {pool.machine} ({role_at(job, index)})"
        for index, pool in enumerate(job.worker_pools)
        if pool.replicas
    )
    return join(pools)


def _image(job: VertexJob) -> str:
    return join(dict.fromkeys(pool.image for pool in job.worker_pools if pool.replicas))


def _sweep(job: VertexJob) -> str:
    sweep = job.labels.get(SWEEP_LABEL, "")
    return f"{sweep}, run {job.labels.get(RUN_LABEL, '?')}" if sweep else ""


_OF_JOBS: tuple[tuple[str, str, Callable[[VertexJob], str]], ...] = (
    ("code", "template", lambda job: job.template),
    ("code", "commit", lambda job: str(job.revision)),
    ("code", "package", _code),
    ("code", "image", _image),
    ("code", "kind", lambda job: job.kind.name),
    ("code", "experiment", lambda job: last_part(job.experiment)),
    ("code", "sweep", _sweep),
    ("code", "user", lambda job: job.user),
    ("code", "team", lambda job: job.team),
    ("code", "labels", lambda job: told_labels(own_labels(job.labels))),
    ("code", "note", lambda job: job.note),
    ("machines", "machines", _machines),
    ("machines", "capacity", lambda job: job.capacity_type),
    ("machines", "region", lambda job: job.region),
)
