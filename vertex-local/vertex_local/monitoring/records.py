"""Measurements of jobs' replicas, in a table of its own. Values are fractions from 0 to 1."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..store import Store

_TABLES = (
    """CREATE TABLE IF NOT EXISTS monitoring_samples (
        job TEXT NOT NULL, task TEXT NOT NULL, metric TEXT NOT NULL, part TEXT NOT NULL, moment TEXT NOT NULL,
        value REAL NOT NULL, PRIMARY KEY (job, task, metric, part, moment)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS monitoring_samples_by_moment ON monitoring_samples (moment)",
)


@dataclass(frozen=True, order=True)
class Source:
    """The source of a series: a job's id, its replica (`workerpool0-0`), the metric type's end (`cpu/utilization`), and
    which of several accelerators ("" for a part that a machine has once)."""

    job: str
    task: str
    metric: str
    part: str = ""


@dataclass(frozen=True)
class Sample:
    """A sample."""

    #: A timestamp as the APIs write it.
    moment: str
    value: float


def open_table(store: Store) -> None:
    with store.transaction():
        for statement in _TABLES:
            store.execute(statement)


def add(store: Store, moment: str, values: Iterable[tuple[Source, float]]) -> None:
    """Add the values of one moment. Within a transaction."""
    for source, value in values:
        store.execute(
            "INSERT OR REPLACE INTO monitoring_samples VALUES (?, ?, ?, ?, ?, ?)",
            (source.job, source.task, source.metric, source.part, moment, value),
        )


def sources(store: Store, after: str, until: str) -> list[Source]:
    """Return the sources measured after a moment and until another."""
    rows = store.execute(
        "SELECT DISTINCT job, task, metric, part FROM monitoring_samples WHERE moment > ? AND moment <= ? "
        "ORDER BY job, task, metric, part",
        (after, until),
    )
    return [Source(*row) for row in rows]


def read(store: Store, source: Source, after: str, until: str) -> list[Sample]:
    """Return one series, the newest first."""
    rows = store.execute(
        "SELECT moment, value FROM monitoring_samples WHERE job = ? AND task = ? AND metric = ? AND part = ? "
        "AND moment > ? AND moment <= ? ORDER BY moment DESC",
        (source.job, source.task, source.metric, source.part, after, until),
    )
    return [Sample(moment, value) for moment, value in rows]


def forget(store: Store, before: str) -> None:
    """Remove older samples. Within a transaction."""
    store.execute("DELETE FROM monitoring_samples WHERE moment < ?", (before,))
