"""Machines given back, found anew, there twice; and pools that keep too few for a usual submission. # B3 # N5"""

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.catalog.clusters import Pool
from slipway.catalog.model import Parameter
from slipway.findings.finding import Finding, Grade
from slipway.review.change import Change
from slipway.review.clusters.capacity import capacity
from tests.slipway.review.builders import (
    CPU,
    H100,
    UNREAD,
    change,
    cluster,
    facts,
    job,
    kept,
    living,
    offer,
    pool,
    priced,
    request,
    template,
    worker_pool,
)

OLD = cluster("h100", pool("workers", H100, 1, 4, price=priced("101.01")))
NEW = cluster("h100", pool("workers", H100, 1, 6, price=priced("101.01")))


def said(change: Change) -> dict[str, Finding]:
    found = list(capacity(change))
    assert len({(one.kind, one.subject) for one in found}) == len(found), "the same is said twice"
    return {one.kind: one for one in found}


def resized(old: Pool, new: Pool | None, **fields: Any) -> dict[str, Finding]:
    """What is said of the pool alone."""
    was = cluster("c", old, pool("head"))
    becomes = cluster("c", *([new] if new else []), pool("head"))
    found = said(change(facts(was), facts(becomes), clusters=[living(was)], **fields))
    return {
        kind: one
        for kind, one in found.items()
        if kind not in ("capacity-found-anew", "generations-overlap", "image-cache-empty")
    }


def test_a_rollover_finds_machines_anew_has_both_for_a_while_and_an_empty_cache(
    snapshot: SnapshotAssertion,
) -> None:  # N1
    tune = job(on=OLD)
    found = said(change(facts(OLD), facts(NEW, kept(OLD, tune)), clusters=[living(OLD, used=1)], jobs=[tune]))
    assert found.keys() == {"capacity-raised", "capacity-found-anew", "generations-overlap", "image-cache-empty"}
    assert found["capacity-found-anew"].sentence == snapshot
    assert found["generations-overlap"].sentence == snapshot
    assert found["generations-overlap"].cost == pytest.approx(101.01, abs=0.01)
    assert {one.kind: one.grade for one in found.values()} == {
        "capacity-raised": Grade.NOTE,
        "capacity-found-anew": Grade.WARNING,
        "generations-overlap": Grade.WARNING,
        "image-cache-empty": Grade.NOTE,
    }


def test_one_that_is_replaced_in_place_has_no_machines_meanwhile_and_never_both(
    snapshot: SnapshotAssertion,
) -> None:  # N1
    new = replace(NEW, replacement="in-place")
    found = said(change(facts(OLD), facts(new), clusters=[living(OLD)]))
    assert found.keys() == {"capacity-raised", "capacity-found-anew", "image-cache-empty"}
    assert found["capacity-found-anew"].sentence == snapshot


def test_a_deployment_waits_only_when_the_alternatives_have_no_machines_either(
    snapshot: SnapshotAssertion,
) -> None:  # N2
    """They are tried at once, as the line beside it says: not the first one's machines alone are waited for."""
    away, small = {"workers": pool("workers", H100, 1, 6)}, {"workers": pool("workers", CPU, 1, 4)}
    for alternatives in ((away,), (away, small)):
        new = replace(NEW, alternatives=alternatives)
        found = said(change(facts(OLD), facts(new), clusters=[living(OLD)]))["capacity-found-anew"]
        assert found.sentence == snapshot
        new = replace(new, replacement="in-place")
        found = said(change(facts(OLD), facts(new), clusters=[living(OLD)]))["capacity-found-anew"]
        assert found.sentence == snapshot


def test_an_idle_small_cluster_is_rolled_over_without_a_warning_of_its_machines(snapshot: SnapshotAssertion) -> None:
    old, new = cluster(), cluster(labels={"team": "ml"})
    found = said(change(facts(old), facts(new), clusters=[living(old)]))
    assert {one.grade for one in found.values()} == {Grade.NOTE}
    assert "until" in found["generations-overlap"].sentence
    assert found["generations-overlap"].sentence == snapshot


def test_machines_that_are_up_are_not_handed_on(snapshot: SnapshotAssertion) -> None:  # B3
    old, new = (cluster("h100", pool("workers", H100, 0, high)) for high in (4, 6))
    found = said(change(facts(old), facts(new), clusters=[living(old, used=2)]))["capacity-found-anew"]
    assert found.sentence == snapshot
    assert "capacity-found-anew" not in said(change(facts(old), facts(new), clusters=[living(old)]))


def test_what_is_up_on_the_old_one_is_paid_not_its_minimum(snapshot: SnapshotAssertion) -> None:
    tune = job(on=OLD)
    alive = [living(OLD, used=3)]
    found = said(change(facts(OLD), facts(NEW, kept(OLD, tune)), clusters=alive, jobs=[tune]))
    assert found["generations-overlap"].sentence == snapshot


@pytest.mark.parametrize(
    ("old", "new", "grades"),
    [
        (pool("w", H100, 1, 4), None, {"pool-gone": Grade.BLOCKING}),
        (pool("w", CPU, 1, 4), None, {"pool-gone": Grade.WARNING}),
        (pool("w", H100, 2, 4), pool("w", H100, 1, 4), {"capacity-given-back": Grade.BLOCKING}),
        (pool("w", CPU, 2, 4), pool("w", CPU, 0, 4), {"capacity-given-back": Grade.WARNING}),
        (pool("w", H100, 2, None), pool("w", H100, 1, None), {"capacity-given-back": Grade.BLOCKING}),
        (pool("w", H100, 1, 4), pool("w", H100, 1, 2), {"capacity-lower-maximum": Grade.WARNING}),
        (pool("w", H100, 0, 4), pool("w", CPU, 0, 4), {}),
        (pool("w", H100, 1, 4), pool("w", CPU, 1, 4), {"capacity-given-back": Grade.BLOCKING}),
        (pool("w", H100, 1, 4), pool("w", H100, 2, 4), {"capacity-raised": Grade.NOTE}),
        (pool("w", H100, 1, 4), pool("w", H100, 1, 9), {"capacity-raised": Grade.NOTE}),
        (pool("w", H100, 1, 4), pool("other", H100, 1, 4), {}),
        (
            pool("w", H100, 2, 4),
            pool("w", H100, 1, 3),
            {"capacity-given-back": Grade.BLOCKING, "capacity-lower-maximum": Grade.WARNING},
        ),
    ],
)
def test_pools(old: Pool, new: Pool | None, grades: dict[str, Grade]) -> None:  # B3
    assert {kind: one.grade for kind, one in resized(old, new).items()} == grades


def test_the_minimum_that_is_given_back_is_named_with_its_field(snapshot: SnapshotAssertion) -> None:  # B3
    found = resized(pool("w", H100, 2, 4), pool("w", H100, 0, 4))["capacity-given-back"]
    assert found.sentence == snapshot
    assert (found.subject, found.field) == ("pool c/w", "slipway:persistentResources.c.pools.w.replicas.min")


def test_a_pool_that_is_gone_gives_its_machines_back(snapshot: SnapshotAssertion) -> None:
    found = resized(pool("w", H100, 1, 4), None)["pool-gone"]
    assert found.sentence == snapshot


def trained(default: int | None = 2, replicas: str = "${workers}") -> Any:
    body = request(worker_pool(CPU, replicas))
    parameters = [Parameter("workers", "int", default, 1, 9)]
    return template("lora", offer(cluster="c", pools=("w",), request=body), parameters=parameters)


@pytest.mark.parametrize(
    ("before", "after", "low", "below"),
    [
        (trained(2), trained(2), (2, 1), True),
        (trained(2), trained(2), (2, 2), False),
        (trained(2), trained(4), (2, 2), True),
        (trained(4), trained(4), (2, 1), False),  # It was below before as well.
        (trained(1), trained(1), (2, 1), False),
        (trained(replicas="2"), trained(replicas="2"), (2, 1), True),
    ],
)
def test_a_minimum_below_what_a_usual_submission_takes(
    snapshot: SnapshotAssertion, before: Any, after: Any, low: tuple[int, int], below: bool
) -> None:
    old, new = (cluster("c", pool("w", CPU, one, 8)) for one in low)
    found = said(change(facts(old, before), facts(new, after), clusters=[living(old)]))
    assert ("minimum-below-default" in found) == below
    if below and before == after:
        said_of = found["minimum-below-default"]
        assert said_of.sentence == snapshot
        assert said_of.field == "slipway:persistentResources.c.pools.w.replicas.min"


def test_a_new_template_or_pool_was_never_better() -> None:
    old = cluster("c", pool("w", CPU, 1, 8))
    assert said(change(facts(old), facts(old, trained(4)), clusters=[living(old)])) == {}


@pytest.mark.parametrize("there", [[], [living(OLD, state="ERROR")], [living(OLD), living(NEW)]])
def test_machines_are_found_anew_only_beside_an_old_one_that_holds_some(there: Any) -> None:
    assert said(change(facts(OLD), facts(NEW), clusters=there)).keys() == {"capacity-raised"}


def test_where_nobody_could_look_the_minimum_counts(snapshot: SnapshotAssertion) -> None:
    found = said(change(facts(OLD), facts(NEW, kept(OLD)), clusters=UNREAD, jobs=UNREAD))
    assert found["generations-overlap"].sentence == snapshot


def test_nothing_is_compared_with_nothing() -> None:
    assert said(change(None, facts(NEW))) == {}
    assert said(change(facts(OLD), None)) == {}
    same = replace(OLD, replacement="protect")
    assert said(change(facts(OLD), facts(same), clusters=[living(OLD)])) == {}
