"""Custom jobs in the store: a table of their own, indexed for lists and for the scheduler."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ...records import document, read
from ...store import Store
from ...world import World
from . import logs
from .records import Job, Run

_TABLES = (
    """CREATE TABLE IF NOT EXISTS custom_jobs (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, region TEXT NOT NULL, cluster TEXT, state TEXT NOT NULL,
        display_name TEXT NOT NULL, create_time TEXT NOT NULL, body TEXT NOT NULL, run TEXT)""",
    "CREATE INDEX IF NOT EXISTS custom_jobs_by_age ON custom_jobs (region, number)",
    "CREATE INDEX IF NOT EXISTS custom_jobs_alive ON custom_jobs (state, cluster, number) WHERE run IS NOT NULL",
    # Jobs without machines; `due` is when they look for some ("" is at once), `deadline` when they have waited enough.
    """CREATE TABLE IF NOT EXISTS waiting_jobs (
        number INTEGER PRIMARY KEY, region TEXT NOT NULL, cluster TEXT, line TEXT NOT NULL, due TEXT NOT NULL,
        deadline TEXT)""",
    "CREATE INDEX IF NOT EXISTS waiting_jobs_in_line ON waiting_jobs (region, cluster, line, number)",
    "CREATE INDEX IF NOT EXISTS waiting_jobs_by_deadline ON waiting_jobs (deadline) WHERE deadline IS NOT NULL",
)
_HOLDS = (
    "run IS NOT NULL AND state IN ('JOB_STATE_PENDING', 'JOB_STATE_RUNNING', 'JOB_STATE_CANCELLING') "
    "AND NOT EXISTS (SELECT 1 FROM waiting_jobs WHERE waiting_jobs.number = custom_jobs.number)"
)


def open_table(store: Store) -> None:
    """Make the tables where they are missing."""
    with store.transaction():
        for statement in _TABLES:
            store.execute(statement)


def put(store: Store, number: int, region: str, body: Mapping[str, Any], run: Run | None) -> None:
    """Write a job, new or changed. Region, cluster and display name stay as they were: no method changes them."""
    spec = body["jobSpec"]
    values = (number, body["name"], region, spec.get("persistentResourceId"), body["state"], body["displayName"])
    text = json.dumps(body, separators=(",", ":"))
    running = None if run is None else json.dumps(document(run), separators=(",", ":"))
    store.execute(
        "INSERT INTO custom_jobs (number, name, region, cluster, state, display_name, create_time, body, run) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (number) DO UPDATE SET "
        "state = excluded.state, body = excluded.body, run = excluded.run",
        (*values, body["createTime"], text, running),
    )
    if run is None or run.replicas:
        store.execute("DELETE FROM waiting_jobs WHERE number = ?", (number,))
    else:
        store.execute(
            "INSERT OR REPLACE INTO waiting_jobs (number, region, cluster, line, due, deadline) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (number, region, run.cluster, run.line, run.due or "", run.deadline),
        )


def keep(world: World, run: Run, job: Job) -> None:
    """Write a job after a step; `run` is the run before it. Within a transaction."""
    put(world.store, run.number, run.region, job.body, job.run)
    if job.said:
        logs.tell(world, run, job.said)


def get(store: Store, name: str) -> Job | None:
    row = store.execute("SELECT body, run FROM custom_jobs WHERE name = ?", (name,)).fetchone()
    return None if row is None else _job(row)


def remove(store: Store, name: str) -> None:
    """Forget a job that has ended."""
    store.execute("DELETE FROM custom_jobs WHERE name = ?", (name,))


def newest(store: Store, region: str, before: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the numbers and bodies of a region's jobs, the newest first, from `before` a number on: a page costs as
    much as what is read of it, whatever there is before it."""
    rows = store.execute(
        "SELECT number, body FROM custom_jobs WHERE region = ? AND number < ? ORDER BY number DESC", (region, before)
    )
    return ((number, json.loads(body)) for number, body in rows)


def newest_named(store: Store, text: str) -> dict[str, Any] | None:
    """Return the body of the newest job with this full name, id or display name."""
    row = store.execute(
        "SELECT body FROM custom_jobs WHERE ?1 IN (name, display_name) OR substr(name, -length(?1) - 1) = '/' || ?1 "
        "ORDER BY number DESC",
        (text,),
    ).fetchone()
    return json.loads(row[0]) if row else None


def started(store: Store, region: str | None = None, cluster: str | None = None) -> list[Job]:
    """Return the jobs that hold machines, oldest first: of everywhere, of a region, of a cluster."""
    rows = store.execute(
        f"SELECT body, run FROM custom_jobs WHERE {_HOLDS} "
        "AND (?1 IS NULL OR region = ?1) AND (?2 IS NULL OR cluster = ?2) ORDER BY number",
        (region, cluster),
    )
    return [_again(row) for row in rows]


def pool_use(store: Store, region: str, cluster: str) -> Counter[str]:
    """Return the replicas in use on a cluster by resource pool id."""
    return Counter(
        replica.pool
        for job in started(store, region, cluster)
        if job.run
        for replica in job.run.replicas
        if replica.pool is not None
    )


def queued(store: Store, region: str, cluster: str | None, now: str, size: int) -> list[Job]:
    """Return the oldest job of each line for a cluster's machines or, with None, for machines of their own."""
    lines = store.execute("SELECT DISTINCT line FROM waiting_jobs WHERE region = ? AND cluster IS ?", (region, cluster))
    jobs = []
    for (line,) in lines.fetchall():
        rows = store.execute(
            "SELECT number, body, run FROM custom_jobs WHERE number IN (SELECT number FROM waiting_jobs "
            "WHERE region = ? AND cluster IS ? AND line = ? AND due <= ? ORDER BY number LIMIT ?)",
            (region, cluster, line, now, size),
        )
        jobs += [(number, _again((body, run))) for number, body, run in rows]
    return [job for _, job in sorted(jobs, key=lambda item: item[0])]


def first_of_line(store: Store, run: Run) -> bool:
    """Return whether a run is the first of those that wait for the same machines."""
    row = store.execute(
        "SELECT EXISTS (SELECT 1 FROM waiting_jobs WHERE region = ? AND cluster IS ? AND line = ? AND number < ?)",
        (run.region, run.cluster, run.line, run.number),
    )
    return not row.fetchone()[0]


def count_waiting(store: Store) -> int:
    """Return how many jobs have no machines, not yet or no longer."""
    return int(store.execute("SELECT count(*) FROM waiting_jobs").fetchone()[0])


def overdue(store: Store, now: str) -> list[Job]:
    """Return the jobs that have waited as long as they may."""
    rows = store.execute(
        "SELECT body, run FROM custom_jobs WHERE number IN (SELECT number FROM waiting_jobs WHERE deadline <= ?)",
        (now,),
    )
    return [_job(row) for row in rows]


def queues(store: Store) -> list[tuple[str, str | None]]:
    """Return the (region, cluster) pairs that jobs wait for; cluster None is machines of their own."""
    rows = store.execute("SELECT DISTINCT region, cluster FROM waiting_jobs")
    return [(region, cluster) for region, cluster in rows]


def alive_on(store: Store, region: str, cluster: str) -> list[Job]:
    """Return all jobs of a cluster that have not ended, waiting ones too."""
    rows = store.execute(
        "SELECT body, run FROM custom_jobs WHERE run IS NOT NULL AND region = ? AND cluster = ? ORDER BY number",
        (region, cluster),
    )
    return [_job(row) for row in rows]


def _job(row: tuple[str, str | None]) -> Job:
    body, run = row
    return Job(json.loads(body), None if run is None else read(Run, json.loads(run)))


@lru_cache(1024)
def _again(row: tuple[str, str | None]) -> Job:
    """Return a job, cached: the scheduler reads all ten times a second, and few have changed since."""
    return _job(row)
