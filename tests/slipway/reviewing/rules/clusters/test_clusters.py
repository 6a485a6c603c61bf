"""The fate of clusters and of the jobs on them, their seasons, and what they may become elsewhere, where the corpus has
no such world. # N1 # N2 # N5 # B3 # B6"""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from slipway.deploying.engine.preview import Preview
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Live
from slipway.model.catalog.clusters import Cluster, DormantCluster, PricedAlternative
from slipway.model.catalog.withdrawal import withdrawn
from slipway.model.facts import Facts
from slipway.model.findings.finding import Grade
from slipway.model.findings.grades import is_announced
from slipway.model.machines.spec import Disk
from slipway.model.prices import UNKNOWN, Price, hourly
from slipway.model.season import Season
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.reading import _elsewhere
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.review import review
from slipway.reviewing.rules.clusters.cluster_change import costs
from slipway.reviewing.rules.clusters.engine import deletions, unsaid_clusters
from slipway.reviewing.rules.clusters.fates import clusters, retiring
from slipway.reviewing.rules.clusters.machines import standing_alternatives
from tests.slipway.reviewing.builders import (
    H100,
    NOW,
    asked_for,
    catalog,
    change,
    cluster,
    facts,
    job,
    kept,
    living,
    pool,
    step,
)

NOTE, WARNING, _ = Grade
LARGER = replace(H100, disk=Disk("pd-ssd", 1000))
OLD = cluster("h100", pool("workers", H100, 1, 4), id="h100-3e29a36")
NEW = cluster("h100", pool("workers", H100, 1, 6), id="h100-4b2277a")
TUNE = job("tune-27b-x1", on=OLD)
PART = Price(Decimal("0.5"), complete=False)
VERTEX = "gcp:vertex/aiPersistentResource:AiPersistentResource"
GOES = step("delete", VERTEX, OLD.id, old={"name": OLD.id})


def fates(change: Change) -> dict[str, Consequence]:
    """Return by kind what becomes of clusters, without their machines and money."""
    every = [*clusters(change), *retiring(change), *deletions(change)]
    listed = [consequence for consequence in every if consequence.kind.startswith(("cluster-", "jobs-"))]
    assert len({consequence.key for consequence in listed}) == len(listed), "the same is said twice"
    return {consequence.kind: consequence for consequence in listed}


def test_a_month_of_a_price_that_lacks_a_part_is_no_sum() -> None:
    def told(price: Price) -> str:
        return costs(cluster("cpu", pool(price=price)))

    assert told(PART) == "with nothing running it costs $0.50/h, $365 a month and more"
    assert told(replace(PART, complete=True)) == "with nothing running it costs $0.50/h, $365 a month"
    assert told(UNKNOWN) == "what it costs is in no price list"


ONCE = withdrawn(facts(OLD).catalog, {OLD.id}, NOW)
WITHDRAWN = Live((), (), {}, PublishedCatalog(whole=ONCE))
CUT_SHORT = "the old one is gone; with nothing running"
FAILED = [living(cluster()), living(OLD, state="ERROR")]


@pytest.mark.parametrize(
    ("change", "grades", "words"),
    [
        (
            replace(change(facts(OLD), facts(NEW), clusters=[]), live=WITHDRAWN),
            {"cluster-new-generation": WARNING},
            CUT_SHORT,
        ),
        (replace(change(facts(OLD), facts(OLD), clusters=[]), live=WITHDRAWN), {"cluster-created": NOTE}, CUT_SHORT),
        (
            change(facts(OLD), facts(OLD), clusters=[], jobs=(TUNE,)),
            {"cluster-created": WARNING},
            "the old one is gone, and `tune-27b-x1` (user-a) with it; with nothing running",
        ),
        (
            change(facts(OLD), facts(NEW), clusters=[living(OLD, state="ERROR")]),
            {"cluster-new-generation": NOTE},
            "the old one can't be used any more; with nothing running it costs $101.14/h, $73,833 a month",
        ),
        (change(facts(OLD), facts(OLD, kept(NEW)), clusters=[living(OLD), living(NEW)]), {"cluster-retires": NOTE}, ""),
        (change(facts(OLD, cluster()), facts(cluster()), clusters=FAILED), {"cluster-cleared": NOTE}, ""),
        (
            change(facts(OLD), facts(NEW), clusters=[living(OLD), living(NEW)]),
            {"cluster-new-generation": WARNING},
            "it is there already",
        ),
        (
            change(facts(OLD), facts(NEW, kept(OLD, TUNE)), clusters=[living(OLD, used=1), living(NEW)], jobs=(TUNE,)),
            {"cluster-new-generation": WARNING, "jobs-finish-on-old": NOTE},
            "it is there already",
        ),
    ],
)  # N1 N14
def test_what_becomes_of_a_cluster(change: Change, grades: dict[str, Grade], words: str) -> None:
    found = fates(change)
    assert {kind: value.grade for kind, value in found.items()} == grades
    assert not words or any(words in consequence.sentence for consequence in found.values())


def test_a_job_and_the_one_behind_it_are_one() -> None:
    jobs = (TUNE, job("pipeline", on=OLD, backing=TUNE.name))
    rolls = change(facts(OLD), facts(NEW, kept(OLD, *jobs)), clusters=[living(OLD, used=1)], jobs=jobs)
    assert len(fates(rolls)["jobs-finish-on-old"].details) == 1


def test_an_old_generation_costs_what_it_holds_now() -> None:
    old = replace(OLD, pools=(replace(OLD.pools[0], price_per_hour=PART),))
    told = clusters(change(facts(old), facts(NEW), clusters=[living(old)]))
    (paid,) = (part.sentence for part in told if part.kind == "generations-overlap")
    assert paid == "the old one is paid too until the new one is there: $0.50/h and more now"


def test_an_old_generation_that_stays_is_told_elsewhere() -> None:
    steps = [step("import", VERTEX, OLD.id, new=asked_for(OLD))]
    assert list(unsaid_clusters(change(facts(OLD), facts(NEW, kept(OLD)), steps=steps))) == []


@pytest.mark.parametrize("steps", [[GOES], None])
def test_an_old_generation_that_is_idle_goes_as_announced(steps: Any) -> None:
    there = [living(OLD), living(NEW)]
    found = fates(change(facts(NEW, kept(OLD)), facts(NEW), clusters=there, steps=steps))
    assert [(kind, value.grade) for kind, value in found.items()] == [("cluster-deleted", NOTE)]


def test_a_newer_generation_waits_for_none_where_the_change_goes_back_to_an_older_one() -> None:
    found = fates(change(facts(NEW, kept(OLD)), facts(OLD), clusters=[living(OLD), living(NEW)]))
    assert found["cluster-returns"].so == "new jobs go there; the newer one is idle and is deleted"


def test_an_old_generation_whose_id_alone_is_published_is_called_by_the_name_on_its_label() -> None:
    before = facts(NEW)
    before = replace(before, catalog=replace(before.catalog, retiring=(OLD.id,)))
    old = replace(living(OLD), labels={"slipway-name": "h100"})
    found = fates(change(before, facts(NEW), clusters=[old, living(NEW)], steps=[GOES]))
    assert found["cluster-deleted"].so == "it is an older `h100`, and that was announced"


def test_machines_in_use_count_as_a_job_whatever_lists_say() -> None:
    found = fates(change(facts(OLD), facts(NEW), clusters=[living(OLD, used=2)], steps=[GOES]))["jobs-cancelled"]
    assert "that no list shows yet" in found.sentence and not any("running" in line for line in found.details)


ENDS = NOW.replace(hour=0) + timedelta(days=29)
SMALL = cluster()
BOTH = replace(OLD, season=Season(ends=ENDS, idle_limit=timedelta(hours=4)))
IDLES = replace(BOTH, season=replace(BOTH.season, ends=None))
COMES = replace(BOTH, season=Season(begins=ENDS, idle_limit=timedelta(hours=4)))
FOLLOWS = "takes no new jobs from 2026-12-20 on, and is deleted when its own have ended"


def asleep(of: Cluster) -> dict[str, DormantCluster]:
    return {of.name: DormantCluster(**vars(of))}


@pytest.mark.parametrize(
    ("before", "after", "does"),
    [
        (facts(SMALL), facts(SMALL, BOTH), "is made"),
        (facts(SMALL, IDLES), facts(SMALL, BOTH), FOLLOWS),
        (facts(SMALL), facts(SMALL, dormant=asleep(COMES)), "is to come on 2026-12-20"),
    ],
)
def test_a_cluster_that_the_change_adds_or_dates_is_told(before: Facts, after: Facts, does: str) -> None:  # N5
    deployed = [living(SMALL), *([living(OLD)] if "h100" in before.catalog.clusters else [])]
    reviewed = review(change(before, after, clusters=deployed))
    told = [one for one in reviewed.consequences if one.kind in ("season-changed", "cluster-created")]
    assert does in {one.does for one in told}
    assert reviewed.standing == ()


AWAY = "us-east4"
FIRST = cluster("gpu", pool("workers", H100, 1, 4), id="gpu-0000001")
FAR_POOL = pool("workers", H100, 1, 4, price=hourly(H100, AWAY))
LISTED = replace(FIRST, alternatives=(PricedAlternative((FAR_POOL,), AWAY),))
FAR = replace(cluster("gpu", FAR_POOL, id="gpu-0000002"), region=AWAY, alternative=1)


def alternatives(change: Change) -> list[Consequence]:
    return [cluster for cluster in clusters(change) if cluster.kind.startswith("cluster-may-")]


def test_what_was_announced_is_no_news() -> None:  # N14
    """A season that begins, and a cluster that failed: nobody edited the list, but no template asks for what it has."""
    before = facts(dormant=asleep(LISTED))
    begins = change(before, facts(LISTED), clusters=[])
    again = change(facts(LISTED), facts(replace(LISTED, id="gpu-0000001-2")), clusters=[living(LISTED, state="ERROR")])
    for made in (begins, again):
        (known,) = alternatives(made)
        assert is_announced(known.kind, known.grade) and "no template asks a pool for" in known.sentence
    edited = replace(LISTED, alternatives=(PricedAlternative((FAR_POOL,), "us-west1"),))
    (told,) = alternatives(change(before, facts(edited), clusters=[]))
    assert (told.kind, told.grade) == ("cluster-may-become", WARNING)


def test_one_that_is_there_elsewhere_is_said_with_where_its_data_is() -> None:
    (line,) = standing_alternatives(change(facts(FAR), facts(FAR)))
    assert line.startswith("`gpu` is there as its alternative 1 in us-east4, where results stay, and")
    assert line.endswith("take that out of `alternatives` to have it made as asked for first")


def test_a_location_elsewhere_is_what_the_program_says_of_an_alternative_and_of_nothing_else() -> None:
    made = asked_for(FAR)

    def unsaid(cluster: Cluster) -> list[str]:
        steps = [step("create", VERTEX, cluster.id, new=made)]
        told = unsaid_clusters(change(facts(cluster), facts(cluster), steps=steps))
        return [each.kind for each in told]

    assert unsaid(FAR) == []
    assert unsaid(replace(FAR, region=""))


def test_it_is_looked_for_where_it_was_or_may_come_to_be() -> None:
    engine = {
        "urn": step("same", VERTEX, "old", old={"location": "us-west1"}),
        "odd": step("same", VERTEX, "x", old={}),
    }
    before, after = facts(FAR, other_regions=(AWAY,)), facts(LISTED, other_regions=("us-east5", AWAY))
    assert _elsewhere(Preview(standing=engine), before, after) == (AWAY, "us-east5", "us-west1")
    told = {"u": step("same", VERTEX, "y", old={"location": "evil.example/"})}
    assert _elsewhere(Preview(standing=told), facts(FIRST), None) == ()
    assert catalog(FAR).region_of("gpu") == AWAY
