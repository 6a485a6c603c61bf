"""What a review reads of the cloud, and where it looks. # N14"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.answers.comparison import Side
from slipway.deploying.engine.preview import EngineStep, Preview, Resource
from slipway.deploying.engine.touched import CLUSTER_TYPE, OBJECT
from slipway.google.advice import SpotNeed, SpotReport
from slipway.google.live import Live, Unknown
from slipway.google.live_reader import LiveScope
from slipway.model.facts import CATALOG, CLUSTER, Facts
from slipway.model.facts import STACK as STACK_KEY
from slipway.model.kinds import PIPELINE_JOB
from slipway.reviewing.change import reading
from slipway.reviewing.reviewer import review
from tests.slipway.reviewing.builders import NOW, REGION, STACK, cluster, facts, offer, published, template

NOBODY: Any = object()
PLACES = {"eu": "europe-west4", "us": "us-central1"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[LiveScope]:
    """What was to be read of a cloud in which nothing lives, and whose clock says NOW."""
    scopes: list[LiveScope] = []

    def read(_: object, wanted: LiveScope, **__: object) -> tuple[Live, list[str]]:
        scopes.append(wanted)
        return Live((), (), {}, None, time=NOW), []

    monkeypatch.setattr(reading, "read", read)
    return scopes


def test_it_looks_where_the_stack_is_deployed_and_not_where_the_program_says(asked: list[LiveScope]) -> None:
    was = facts()
    says = replace(was, catalog=replace(was.catalog, region="asia-east1", project="elsewhere"))
    reading.change(published(was, says), NOBODY, NOW, stack=STACK)
    assert [(request.project, request.region) for request in asked] == [(was.catalog.project, REGION)]


def test_a_published_catalog_that_is_gone_makes_no_first_deployment(asked: list[LiveScope]) -> None:
    plan = published(facts(template("lora")), facts())
    at = Resource({"bucket": "acme-catalog", "name": "catalog.json"})
    catalog = EngineStep("refresh", "catalog", OBJECT, "catalog", parent=CATALOG, old=at)
    change = reading.change(replace(plan, standing={"catalog": catalog}), NOBODY, NOW, stack=STACK)
    assert asked[0].catalog_bucket == "acme-catalog"
    assert not change.comparison.first and "lora" in change.comparison.old.templates
    assert change.unread[0].startswith("the published catalog can't be read (it is gone)")


def test_facts_that_can_t_be_compared_leave_what_the_engine_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("odd")

    plan = published(facts(template("lora")), facts())
    monkeypatch.setattr(reading, "declared", fail)
    change = reading.change(plan, None, NOW, stack=STACK)
    assert change.comparison.unknown == {*Side} and change.comparison.preview == plan
    assert "because of a bug in Slipway" in change.unread[0]


def test_facts_of_an_odd_form_are_a_gap_of_the_review() -> None:
    odd = template("lora", replace(offer(), kind=PIPELINE_JOB.name, request={"runtimeConfig": "x"}))
    change = reading.change(published(facts(template("lora")), facts(odd)), None, NOW, stack=STACK)
    assert "because of a bug in Slipway" in " ".join(review(change).incomplete)


def of_two(old: tuple[Facts, Facts], new: tuple[Facts, Facts]) -> Preview:
    """Return the preview of a program with two workspaces, each of which names its stack."""
    steps: list[EngineStep] = []
    for was, becomes in zip(old, new, strict=True):
        name = was.catalog.stack
        for step in published(was, becomes).steps:
            inputs = {STACK_KEY: name} if step.type != CLUSTER else {}
            before, after = (side and Resource({**inputs, **side.inputs}) for side in (step.old, step.new))
            own = replace(step, urn=f"{name} {step.urn}", name=name if inputs else step.name)
            steps.append(replace(own, old=before, new=after))
    return Preview(tuple(steps))


def test_of_several_workspaces_the_first_that_changes_is_compared_and_others_are_named(asked: list[LiveScope]) -> None:
    eu, us = (facts(cluster(), stack=f"dev-{name}", commit="a", region=at) for name, at in PLACES.items())
    later = [replace(each, catalog=replace(each.catalog, commit="b")) for each in (eu, us)]
    edited = [replace(each, code=True) for each in later]
    change = reading.change(of_two((eu, us), (later[0], edited[1])), NOBODY, NOW, stack=STACK)
    after = change.comparison.after
    assert after.catalog.stack == "dev-us" and after.code and not change.unread
    assert asked[0].region == PLACES["us"]
    change = reading.change(of_two((eu, us), (edited[0], edited[1])), NOBODY, NOW, stack=STACK)
    assert change.comparison.after.catalog.stack == "dev-eu"
    assert change.unread == ("dev-us also changes, and only one stack of a program is compared",)


def test_clusters_that_a_workspace_not_compared_begins_or_ceases_to_declare_are_nobody_s_mistake(
    asked: list[LiveScope],
) -> None:
    eu, us = (facts(cluster(), stack=f"dev-{name}", commit="a", region=at) for name, at in PLACES.items())
    larger = facts(cluster(id="another"), stack="dev-us", commit="b", region=PLACES["us"])
    (old,), (new,) = us.clusters, larger.clusters
    steps = {"delete": old, "create": new, "update": new, "replace": "stranger"}
    engine = tuple(EngineStep(op, f"{op} {id_}", f"{CLUSTER_TYPE}Any", id_) for op, id_ in steps.items())
    both = of_two((eu, us), (replace(eu, code=True), larger))
    change = reading.change(replace(both, steps=(*both.steps, *engine)), NOBODY, NOW, stack=STACK)
    assert change.unread == ("dev-us also changes, and only one stack of a program is compared",)
    assert change.comparison.preview and change.comparison.preview.steps[len(both.steps) :] == engine[2:]


def test_dates_are_judged_by_the_cloud_s_clock(snapshot: SnapshotAssertion, asked: list[LiveScope]) -> None:
    same, ahead = published(facts(), facts()), NOW + timedelta(days=3)
    change = reading.change(same, NOBODY, ahead, stack=STACK)
    assert change.comparison.world.now == NOW
    assert change.notes[0] == snapshot
    change = reading.change(same, NOBODY, NOW, stack=STACK)
    assert (change.comparison.world.now, change.notes) == (NOW, ())
    assert [request.now for request in asked] == [ahead, NOW]


def test_google_is_asked_once_for_the_spot_machines_that_a_change_adds(monkeypatch: pytest.MonkeyPatch) -> None:  # N23
    live = Live((), (), {}, Unknown("denied", "storage", ""), time=NOW)
    monkeypatch.setattr(reading, "read", lambda *_, **__: (live, []))
    needs: list[list[SpotNeed]] = []

    def advise(_: object, __: str, wanted: Iterable[SpotNeed]) -> SpotReport:
        needs.append(list(wanted))
        return SpotReport(missing="Google says")

    monkeypatch.setattr(reading, "read_advice", advise)
    one, two = (offer("spot", replicas=count) for count in (1, 2))
    was, says = facts(template("lora", one)), facts(template("lora", one), template("bert", two))
    change = reading.change(published(was, says), NOBODY, NOW, stack=STACK)
    assert [set(map(str, wanted)) for wanted in needs] == [{"2 n1-standard-8"}]
    assert change.notes == ("Google says",)
    assert reading.change(published(says, says), NOBODY, NOW, stack=STACK) and needs[1:] == [[]]
