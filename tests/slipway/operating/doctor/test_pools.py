"""Pools and jobs that are paid for and idle, and jobs that pay for machines beside them. # N10 B4 Z5"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.authoring.packages.slipway_exchange import Request
from slipway.google.live import Unknown
from slipway.google.monitoring import ACCELERATOR, Point, Series
from slipway.google.monitoring import CPU as CPU_USE
from slipway.google.storage import Location
from slipway.google.trials import Trial
from slipway.model.catalog.model import Team
from slipway.model.findings.finding import Finding
from slipway.model.kinds import TUNING_JOB
from slipway.model.labels import (
    CAPACITY_TYPE_LABEL,
    NAME_LABEL,
    STACK_LABEL,
    TEAM_LABEL,
    USER_LABEL,
    VARIABLE,
    recorded,
)
from slipway.model.season import Season
from slipway.operating.doctor.pools import idle_candidates
from slipway.using.jobs.cost import job_cost
from slipway.using.sessions.listing import SessionRow
from slipway.using.sessions.session import LastRun, Session, command_of
from tests.slipway.operating.doctor.picture import CPU, FILE, found, lives, picture, published
from tests.slipway.reviewing.builders import NOW, STACK, catalog, cluster, job, offer, template

DONE = replace(job("done", on=CPU, state="SUCCEEDED"), end_time=NOW - timedelta(days=2))


def test_an_idle_pool_says_what_it_cost_since_its_last_job_and_where_it_stands() -> None:
    finding = found(lives(), jobs=(), recent=(DONE,))["pool-idle"]
    assert finding.sentence == "pool cpu/workers has been idle for 2 days, $22.26 since its last job"
    assert finding.fix == f"remove the pool in {FILE}:6"
    assert finding.means == "an `idleLimit` on the cluster does that by itself"
    larger = found(lives(replicas=2), jobs=(), recent=(DONE,))["pool-idle"]
    assert "$44.52" in larger.sentence


def test_without_any_job_the_cluster_s_age_counts_or_as_far_back_as_was_looked() -> None:
    assert "idle for 9 days" in found(lives(), jobs=(), recent=())["pool-idle"].sentence
    long = found(lives(days=29.9), jobs=(), recent=())["pool-idle"].sentence
    assert "for 30 days" in long and long.endswith("and no job on it")
    assert "for at least 30 days" in found(lives(days=80), jobs=(), recent=())["pool-idle"].sentence
    # One that was made anew, as for another season, has not idled since the last job of the one before.
    assert found(lives(days=0.5), jobs=(), recent=(DONE,)) == {}
    assert "for 36 h, $16.70 and no" in found(lives(days=1.5), jobs=(), recent=(DONE,))["pool-idle"].sentence


def test_a_pool_in_use_or_idle_since_today_is_none_of_it() -> None:
    recent = (replace(DONE, end_time=NOW - timedelta(hours=20)),)
    assert found(lives(), jobs=(), recent=recent) == {}
    assert found(lives(used=1), jobs=(), recent=()) == {}, "a job that no list shows yet"
    assert found(lives(), jobs=(job("waits", on=CPU, state="PENDING"),), recent=()) == {}
    assert found(lives(state="STOPPING"), jobs=(), recent=()) == {}
    assert found(lives(replicas=0), jobs=(), recent=()) == {}
    denied = Unknown("denied", "aiplatform.googleapis.com customJobs.list", "roles/aiplatform.viewer", "ada")
    assert set(found(lives(), jobs=(), recent=denied)) == {"unread-part"}


def test_an_idle_limit_is_waited_for_and_then_a_deployment_does_it() -> None:  # B6
    def told(days: float) -> Mapping[str, Finding]:
        limited = cluster("cpu", id=CPU.id, season=Season(idle_limit=timedelta(days=days)))
        return found(lives(), jobs=(), recent=(DONE,), published=published(catalog(limited)))

    assert told(3) == {}
    assert told(1.5)["pool-idle"].fix == "make up STACK=prod"


def test_a_job_beside_a_pool_that_has_its_machines_free(snapshot: SnapshotAssertion) -> None:
    beside = job("alone", strategy="STANDARD")
    told = published(catalog(CPU, template("lora")))
    finding = found(lives(used=1), jobs=(beside,), published=told)["job-beside-pool"]
    assert finding.sentence == snapshot
    assert finding.fix == "slipway submit lora --capacity pool"
    by_hand = replace(beside, labels={})
    assert found(lives(used=1), jobs=(by_hand,), published=told)["job-beside-pool"].fix == "slipway templates"
    without = published(catalog(CPU, template("lora", offer("spot"))))
    assert found(lives(used=1), jobs=(beside,), published=without)["job-beside-pool"].fix == "slipway templates"
    assert found(lives(used=1), jobs=(replace(beside, labels={STACK_LABEL: "dev"}),), published=told) == {}


def test_a_job_is_sent_to_no_pool_that_its_team_may_not_use_and_names_its_team_for_its_own() -> None:  # N3
    seeing, talking = "group:vision@acme.example", "group:language@acme.example"
    teams = {"vision": Team((seeing,), ("cpu",)), "language": Team((talking,))}
    told = catalog(CPU, template("lora", offer(), offer("on-demand")), submitters={"t": (seeing, talking)}, teams=teams)

    def mend(team: str) -> str:
        sent = job("alone", strategy="STANDARD")
        labels = {**sent.labels, CAPACITY_TYPE_LABEL: "on-demand", **({TEAM_LABEL: team} if team else {})}
        findings = found(lives(used=1), jobs=(replace(sent, labels=labels),), published=published(told))
        return findings["job-beside-pool"].fix if "job-beside-pool" in findings else ""

    assert mend("vision") == "slipway submit lora --team vision --capacity pool"
    assert (mend("language"), mend("")) == ("", "")


def test_a_job_beside_a_full_pool_or_of_other_machines_is_as_it_should_be() -> None:
    assert found(lives(used=4), jobs=(job("alone"),)) == {}
    assert found(lives(used=1), jobs=(job("alone", replicas=4),)) == {}
    other = replace(CPU.pools[0].machine, type="n1-standard-4")
    assert found(lives(used=1), jobs=(job("alone", machine=other),)) == {}


ALONE = job("alone", strategy="STANDARD", replicas=2)


def series(
    task: int = 0, minutes: Iterable[int] = range(18, 3, -1), value: float = 0.01, metric: str = CPU_USE
) -> Series:
    """Samples at so many minutes ago."""
    points = tuple(Point(NOW - timedelta(minutes=minute), value) for minute in minutes)
    return Series(metric, "alone", f"workerpool0-{task}", "0" if metric == ACCELERATOR else "", points)


def told(*use: Series, of: Any = ALONE) -> Any:
    return found(jobs=(of,), use=use).get("job-idle")


def test_a_job_that_has_used_nothing_for_a_quarter_of_an_hour_says_what_it_costs_and_what_to_look_at() -> None:
    finding = told(series(0), series(1))
    assert finding.sentence == "job alone has used under 5 % of its machines for 15 min ($0.93/h)"
    assert finding.fix == "slipway jobs logs alone --tail 20"
    assert finding.means == "shows what it waits for; slipway jobs cancel alone ends it"


@pytest.mark.parametrize(
    "use",
    [
        pytest.param((), id="no samples"),
        pytest.param((series(0),), id="one replica is not sampled"),
        pytest.param((series(0), series(1, value=0.2)), id="one replica works"),
        pytest.param((series(0), series(1, range(9, 3, -1))), id="one has begun a while ago"),
        pytest.param((series(0, range(40, 12, -1)), series(1, range(40, 12, -1))), id="samples that ended"),
        pytest.param((series(0), series(1), series(0, metric=ACCELERATOR, value=0.9)), id="an accelerator works"),
        pytest.param((replace(series(0), job="other"), replace(series(1), job="other")), id="another job's"),
    ],
)
def test_what_is_not_known_to_idle_is_not_told_as_idle(use: tuple[Series, ...]) -> None:
    assert told(*use) is None


def test_a_session_is_idle_from_its_last_run_on() -> None:  # N25
    command = command_of(Location("work", "sessions/ada/1"), 7200, 28800, "")
    held = replace(
        ALONE,
        labels={**ALONE.labels, NAME_LABEL: "fox", USER_LABEL: "ada"},
        worker_pools=tuple(
            replace(pool, env=(f"{VARIABLE}={recorded({'command': command})}",)) for pool in ALONE.worker_pools
        ),
    )
    session = Session.of(held)
    assert session

    def told_of(run: LastRun) -> Any:
        row = SessionRow(session, run, job_cost(held, "us-central1", NOW), NOW)
        return found(jobs=(held,), sessions={held.name: row}, use=(series(0), series(1))).get("job-idle")

    finding = told_of(LastRun(2, None, NOW, NOW - timedelta(minutes=40)))
    assert finding.sentence == "session fox of ada holds 2 n1-standard-8 idle for 40 min, $0.62"
    assert (finding.fix, finding.means) == ("slipway jobs cancel alone", "without a run it ends in 1 h 20 min")
    assert told_of(LastRun(2, None, NOW, NOW - timedelta(minutes=10))) is None
    assert told_of(LastRun(2, Request("1", "ada", "python train.py"), NOW, None)) is None


def test_only_a_stacks_own_jobs_that_have_run_for_long_are_looked_at() -> None:
    assert idle_candidates((ALONE,), STACK, NOW) == ("alone",)
    young, waiting = job("young", minutes=18), job("waits", state="PENDING")
    others = replace(ALONE, labels={STACK_LABEL: "dev"})
    for unlikely in ((young, waiting, others), Unknown("denied", "", "")):
        assert idle_candidates(unlikely, STACK, NOW) == ()
    trial = Trial("1", "ACTIVE", {}, {}, "projects/1/jobs/4711")
    assert idle_candidates((replace(ALONE, kind=TUNING_JOB, tried=(trial,)),), STACK, NOW) == ("4711",)


def test_use_that_may_not_be_read_is_told_and_nobody_idles() -> None:
    denied = Unknown("denied", "monitoring.googleapis.com timeSeries.list", "roles/monitoring.viewer", "ada")
    seen = found(jobs=(ALONE,), use=denied)
    assert set(seen) >= {"unread-part"} and "job-idle" not in seen
    assert seen["unread-part"].fix == f"ask for roles/monitoring.viewer on project {picture().project}"
