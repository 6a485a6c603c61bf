"""`slipway pools`: on a real local cloud, and the table as values, without one. # B1 # N1 # N2 # Z8"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Catalog
from slipway.model.season import Season
from slipway.operating.pool_rows import RECENT, rows, upcoming
from tests.slipway.google.quota.region import cluster, cpu, h100, job

from .past import Past
from .stack import PROJECT, REGION, UNSET, Stack, held
from .test_quota import CATALOG

pytestmark = pytest.mark.smoke

IDLE = "RUNNING n1-standard-4 0 / 1 / 3 – no job yet 0.25{0} 0.25–0.74{0} 179–537{0}"


def test_pools_say_what_is_busy_and_what_it_costs(stack: Stack) -> None:
    heads, row = stack.well("pools").out.splitlines()[:2]
    assert heads.split("  ")[0] == "CLUSTER" and " ".join(row.split()) == f"cpu workers {IDLE.format('')}"
    stack.catalog["teams"] = {"vision": {"submitters": ["group:vision@acme.example"], "clusters": ["cpu"]}}
    stack.publish()
    table = stack.well("pools").out
    assert table.split()[2] == "TEAM" and table.splitlines()[1].split()[2] == "vision"
    (offer,) = (line for line in stack.well("templates", "show", "hello").out.splitlines() if "pool cpu " in line)
    assert offer.endswith("of team vision alone")
    refused = stack.run("submit", "hello", "-p", "code=1", "--capacity", "pool")
    assert refused.code == 5 and "hello may not run on cpu" in refused.err, refused.err
    assert "cluster cpu takes only jobs of team vision: add --team vision" in refused.err
    stack.catalog["submitters"] = {"trainer": ["group:vision@acme.example", "group:language@acme.example"]}
    stack.publish()
    refused = stack.run("submit", "hello", "-p", "code=1", "--capacity", "pool")
    assert "fix: --team vision, if you are in it" in refused.err
    del stack.catalog["teams"], stack.catalog["submitters"]
    stack.publish()
    name = held(stack, 2)
    row = stack.run("pools", "--output", "json").json["pools"][0]
    assert (row["busy"], row["live"], row["max"]) == (2, 2, 3) and row["jobs"] == [name]
    assert row["pricePerHourNow"] == "0.4906" and row["idleSince"] is None and row["idleKnown"]
    assert row["clusterId"] == stack.cluster and row["state"] in ("RUNNING", "UPDATING")

    stack.make_cluster(cluster=f"new-{stack.name}")
    stack.catalog["clusters"]["cpu"]["id"] = f"new-{stack.name}"
    stack.catalog["retiring"] = [stack.cluster]
    stack.publish()
    _, new, old = stack.well("pools").out.splitlines()
    assert new.startswith("cpu ") and "RUNNING" in new
    assert old.startswith(stack.cluster) and "RETIRING" in old and old.endswith(f"until {name} ends")


def test_a_cluster_that_no_deployment_has_recorded_is_shown(stack: Stack) -> None:
    """A cluster in error is billed, and a failed `up` sends people here to see whether it was made."""
    stack.make_cluster(cluster=f"lost-{stack.name}", of=stack.name)
    stack.make_cluster(cluster=f"theirs-{stack.name}", of="another")
    done = stack.run("pools")
    assert f"theirs-{stack.name}" not in done.out
    (line,) = (line for line in done.out.splitlines() if line.startswith(f"lost-{stack.name}"))
    assert " ".join(line.split()[1:]) == f"workers {IDLE.format('')}"
    assert f"lost-{stack.name} belongs to this stack" in done.err and "fix: make up STACK=" in done.err
    stack.catalog["program"] = {"stack": stack.name, "workspace": "workspace"}
    stack.publish()
    assert f"fix: pulumi up --stack {stack.name}, when none is under way" in stack.run("pools").err
    rows = stack.run("pools", "--output", "json").json["pools"]
    assert [row["state"] for row in rows] == ["RUNNING", "RUNNING"]


def test_the_entry_of_a_cluster_that_somebody_else_made_is_printed(stack: Stack) -> None:  # N13
    theirs = f"theirs-{stack.name}"
    stack.make_cluster(cluster=theirs, of="")
    told = stack.run("pools", "adopt", theirs)
    assert told.code == 2 and "--print" in told.err
    printed = stack.well("pools", "adopt", theirs, "--print")
    assert printed.out.startswith(f"    {theirs}:\n      id: {theirs}\n      pools:\n")
    assert "next: put it below slipway:persistentResources: of the file of a stack" in printed.err
    full = f"projects/{PROJECT}/locations/{REGION}/persistentResources/{theirs}"
    assert stack.well("pools", "adopt", full, "--print", SLIPWAY_CATALOG=UNSET).out == printed.out
    named = stack.run("pools", "adopt", "cpu", "--print")
    assert named.code == 2 and f"its id is {stack.cluster}" in named.err


@pytest.mark.parametrize("id_", ["..", "a/b", "a#b", "a?b", "a..b", "projects/p/locations/r/persistentResources/../a"])
def test_what_is_no_id_of_a_cluster_is_refused_before_any_request(stack: Stack, id_: str) -> None:  # Z8
    told = stack.run("pools", "adopt", id_, "--print", SLIPWAY_CATALOG=UNSET)
    assert told.code == 2 and "is no cluster's id" in told.err and "persistent-resources list" in told.err


@pytest.mark.parametrize(("words", "shown"), [(("pools",), "workers"), (("jobs", "list"), "hello-")])
def test_watched_it_is_shown_until_ctrl_c(past: Past, words: tuple[str, ...], shown: str) -> None:  # Z5
    sizes = {"COLUMNS": "160", "LINES": "30"}
    done = past.stack.watched(*words, "--watch", enough=lambda drawn: "Ctrl-C ends it" in drawn, **sizes)
    before, left, after = done.out.partition("\x1b[?1049l")
    assert done.code == 0 and shown in before
    assert left and shown in after, "what was seen last stays"
    for flags in ((), ("--output", "json")):
        refused = past.run(*words, "--watch", *flags)
        assert refused.code == 2 and "leave out --watch" in refused.err, "in a pipe"
        assert bool(refused.out) == bool(flags), "an error is JSON where that is asked for"


def test_a_failed_cluster_has_no_machines_and_costs_nothing_now() -> None:  # N2, Z8
    """Its pools tell what it was to have; it is not billed."""
    failed = replace(cluster("h100-1a2b3c4", h100()), state="ERROR", error="no machines")
    (row,) = rows(CATALOG, [failed], (), ())
    assert (row.state, row.pool.used, row.pool.replicas) == ("ERROR", 0, 0)
    assert row.price(row.pool.replicas).known == Decimal(0)
    (lives,) = rows(CATALOG, [replace(failed, state="RUNNING")], (), ())
    assert lives.pool.replicas == 1 and (row.min, row.max) == (lives.min, lives.max)


def test_a_cluster_with_a_copied_label_is_not_the_stacks() -> None:  # N1
    """A deployment was to take over or delete it, and leaves it alone."""
    copied = {"slipway-stack": CATALOG.stack, "slipway-name": "h100", "slipway-hash": "1a2b3c4"}
    by_id = {id_: replace(cluster(id_, h100()), labels=copied) for id_ in ("by-hand", "h100-1a2b3c4-2")}
    assert {row.cluster.id for row in rows(CATALOG, by_id.values(), (), ())} & by_id.keys() == {"h100-1a2b3c4-2"}


NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
H100 = replace(cluster("h100-1a2b3c4", h100()), create_time=NOW - timedelta(days=20))


def _ended(made: timedelta, ended: timedelta, *, on: str = "lab") -> VertexJob:
    done = job(h100() if on == H100.id else cpu(), 1, on=on, state="JOB_STATE_SUCCEEDED")
    return replace(done, create_time=NOW - made, end_time=NOW - ended)


SWEEP = tuple(_ended(timedelta(hours=24), timedelta(hours=23)) for _ in range(RECENT))
"""As `vertex.jobs` gives them: the newest alone. A job of H100 that was made before may have ended an hour ago."""


def _limited(days: float) -> Catalog:
    (declared,) = CATALOG.clusters.values()
    return replace(CATALOG, clusters={"h100": replace(declared, season=Season(idle_limit=timedelta(days=days)))})


def test_a_pool_whose_jobs_are_older_than_those_that_were_read_is_not_said_to_have_had_none() -> None:
    (row,) = rows(CATALOG, [H100], (), SWEEP)
    assert row.unread and row.idle(NOW) == f"none of the newest {RECENT} jobs"
    (row,) = rows(CATALOG, [H100], (), SWEEP[1:])
    assert not row.unread and row.idle(NOW) == "no job yet"
    (row,) = rows(CATALOG, [H100], (), (*SWEEP[1:], _ended(timedelta(days=3), timedelta(hours=1), on=H100.id)))
    assert not row.unread and row.idle(NOW) == "1 h"


def test_an_idle_limit_has_no_date_where_nobody_read_the_last_job(snapshot: SnapshotAssertion) -> None:
    """`is given up 2026-11-04 12:00 UTC, in 0 s ... (no job for 20 days ...)` was said of a pool whose job had ended an
    hour ago, and which `pulumi up` kept."""
    (due,) = upcoming(_limited(3), [H100], (), SWEEP, NOW)
    assert due.at is None and not due.now
    assert due.words(NOW) == snapshot
    ran = _ended(timedelta(days=3), timedelta(hours=1), on=H100.id)
    (due,) = upcoming(_limited(3), [H100], (), (*SWEEP[1:], ran), NOW)
    assert due.at == NOW + timedelta(days=3, hours=-1)
    assert due.why == snapshot
    earlier = _ended(timedelta(days=300), timedelta(days=299), on=H100.id)
    (due,) = upcoming(_limited(30), [H100], (), (*SWEEP[1:], earlier), NOW)
    assert due.at == NOW + timedelta(days=10), "that one was on an earlier cluster with the same id"


def test_a_pool_says_whose_jobs_have_its_machines() -> None:  # N19
    def of(user: str, count: int, state: str = "RUNNING") -> VertexJob:
        unfinished = job(h100(), count, on=H100.id, state=f"JOB_STATE_{state}")
        started = NOW if state == "RUNNING" else None
        return replace(
            unfinished, labels={"slipway-user": user} if user else {}, start_time=started, display_name=f"j{count}"
        )

    busy = (of("ada", 1), of("grace", 4), of("ada", 2), of("", 1), of("ci", 1, "QUEUED"))
    (row,) = rows(CATALOG, [H100], busy, ())
    assert [(holder.name, holder.machines) for holder in row.holders] == [("grace", 4), ("ada", 3), ("j1", 1)]
    assert (row.waiting, row.getting_ready) == (1, 0)
    several = (of("ci", 1, "QUEUED"), of("ci", 2, "QUEUED"), of("ada", 3, "PENDING"))
    (row,) = rows(CATALOG, [H100], several, ())
    assert (row.waiting, row.getting_ready) == (2, 1), "the service has accepted one"
