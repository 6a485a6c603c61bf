"""A cluster from one date until another, and one that is given up when it idles, with the real engine. # B6 # N1"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from vertex_local.clock import timestamp
from vertex_local.store import Store
from vertex_local.vertex.clusters.records import CLUSTERS

from tests.checkouts.checkout import MACHINE, Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

LONG_AGO, NEVER = date(2026, 1, 1), date(2199, 1, 1)


def write(checkout: Checkout, **dates: Any) -> None:
    """The stack file with these keys of its cluster; a date stands there without quotes."""
    pools = {"all": {**MACHINE, "replicas": {"min": 1, "max": 2}}}
    checkout.write(persistentResources={"cpu": {"pools": pools, **dates}})


def up(checkout: Checkout, **dates: Any) -> str:
    write(checkout, **dates)
    done = checkout.pulumi("up", SLIPWAY_GRACE="0")
    assert done.code == 0, done.said
    return done.said


def due(checkout: Checkout) -> list[tuple[str, bool]]:
    """What becomes of clusters by itself, and whether the next deployment does it."""
    return [
        (event["what"], event["nextDeployment"])
        for event in checkout.slipway("schedule", "--output", "json").json["due"]
    ]


@pytest.mark.deployed
def test_a_season_ends_when_its_jobs_have_ended_and_begins_again(
    checkout: Checkout, settings: Callable[..., None]
) -> None:
    (old,) = checkout.clusters()
    job = checkout.running_job()
    it_ends_and_the_job_goes_on(checkout, old, job)
    the_job_ends_and_a_later_deployment_deletes_the_cluster(checkout, old, job, settings)
    it_is_declared_for_later(checkout)

    said = up(checkout, **{"from": LONG_AGO, "until": NEVER})
    assert "template nap: now accepts" in said, said
    assert list(checkout.clusters()) == [old] and due(checkout) == [("season-ends", False)]
    shown = checkout.slipway("submit", "nap", "-p", "say=x", "--dry-run")
    assert shown.json["labels"]["slipway-capacity-type"] == "pool"


def it_ends_and_the_job_goes_on(checkout: Checkout, old: str, job: Any) -> None:
    told = up(checkout, **{"from": LONG_AGO, "until": date(2026, 2, 1)})
    assert "out of season since 2026-02-01" in told
    assert checkout.outputs()["retiring"] == [old] and checkout.clusters() == {old: "RUNNING"}
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"
    refused = checkout.slipway("submit", "nap", "-p", "say=x", "--capacity", "pool")
    assert refused.code != 0 and "out of season since 2026-02-01" in refused.err
    assert "pool" in checkout.slipway("templates").out
    rows = checkout.slipway("schedule")
    assert f"when {job['displayName']} has ended" in rows.out and due(checkout) == [("retire", False)]


def the_job_ends_and_a_later_deployment_deletes_the_cluster(
    checkout: Checkout, old: str, job: Any, settings: Callable[..., None]
) -> None:
    checkout.end(job)
    assert due(checkout) == [("delete", True)]
    # It goes before another one is made which can't be had: however long that takes, nothing idle is paid for.
    pools = {"all": {**MACHINE, "replicas": 1}}
    over = {"pools": pools, "from": LONG_AGO, "until": date(2026, 2, 1)}
    checkout.write(persistentResources={"cpu": over, "late": {"pools": pools}})
    settings(create_error="late-")
    failed = checkout.pulumi("up", SLIPWAY_GRACE="0", SLIPWAY_CREATE_PATIENCE="1s")
    assert failed.code == 1 and "it ended in ERROR" in failed.said, failed.said
    assert f"cluster {old}: delete: " in failed.said, failed.said
    assert checkout.clusters() == {} and due(checkout) == [("create", True)]


def it_is_declared_for_later(checkout: Checkout) -> None:
    """The template's other capacity type is taken, and it is no error that its pool is not there."""
    up(checkout, **{"from": NEVER})
    assert checkout.clusters() == {} and due(checkout) == [("season-begins", False)]
    checkout.at_rest()
    assert "out of season until 2199-01-01" in checkout.slipway("pools").err
    shown = checkout.slipway("submit", "nap", "-p", "say=x", "--dry-run")
    assert shown.json["labels"]["slipway-capacity-type"] == "spot"


def made_two_hours_ago(checkout: Checkout) -> None:
    """As if so much time had passed since its clusters were made."""
    mine, store = checkout.clusters(), Store(checkout.cloud.state / "cloud.sqlite")
    with store.transaction():
        for cluster in CLUSTERS.every(store):
            if cluster.id in mine:
                CLUSTERS.put(store, replace(cluster, create_time=timestamp(datetime.now(UTC) - timedelta(hours=2))))
    store.close()


@pytest.mark.deployed
def test_one_that_idles_is_given_up_until_its_entry_says_something_new(checkout: Checkout) -> None:
    limited = {"idleLimit": "1h"}
    up(checkout, **limited)
    (old,) = checkout.clusters()
    assert due(checkout) == [("idle-limit", False)]
    made_two_hours_ago(checkout)
    assert due(checkout) == [("delete", True)]
    assert "given up" in up(checkout, **limited)
    assert checkout.clusters() == {} and due(checkout) == []

    # Remembered by the catalog alone, for as long as the entry says the same.
    checkout.at_rest()
    assert "a higher `generation`" in checkout.slipway("pools").err
    up(checkout, **limited, generation=2)
    (new,) = checkout.clusters()
    assert new != old


def test_a_season_that_there_are_no_machines_for_waits_and_holds_up_nothing_else(
    checkout: Checkout, settings: Callable[..., None]
) -> None:
    """The deployment goes well, with what somebody has edited, and says which one is missing. (Where there is no quota:
    test_season_quota of tests/slipway.)"""
    turn = (datetime.now(UTC) + timedelta(hours=1)).replace(microsecond=0)
    pools, at = {"all": {**MACHINE, "replicas": 1}}, turn.isoformat()
    seasons = {"first": {"pools": pools, "until": at}, "second": {"pools": pools, "from": at}}
    checkout.write(persistentResources=seasons)
    checkout.up()
    checkout.cloud.rest("POST", "/vertex-local/clock", {"advance": 3601})
    wait_for(lambda: told_by_answers(checkout) > turn, "answers are dated anew, as they are each second")

    settings(create_error="second-")
    edited = {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 2}}}}
    checkout.write(persistentResources={**seasons, "edited": edited})
    done = checkout.pulumi("up", SLIPWAY_CREATE_PATIENCE="1s", SLIPWAY_GRACE="0")
    assert done.code == 0, done.said
    assert "it ended in ERROR" in done.said and "its season has begun" in done.said
    assert checkout.outputs()["clusters"].keys() == {"edited"} and len(checkout.clusters()) == 1
    assert "cluster second waits for machines" in checkout.slipway("pools").err
    dormant = checkout.slipway("schedule", "--output", "json").json["dormant"]
    assert [cluster["lacks"] for cluster in dormant if cluster["cluster"] == "second"] == [["machines"]]

    settings(create_error="")
    checkout.up()
    second, another = sorted(checkout.clusters(), reverse=True)
    assert second.startswith("second-") and another.startswith("edited-")
    checkout.at_rest()


def told_by_answers(checkout: Checkout) -> datetime:
    """The time by which a deployment goes."""
    answer = checkout.cloud.session().get(f"{checkout.cloud.url}/vertex-local/clock")
    return parsedate_to_datetime(answer.headers["Date"])
