"""Submissions that can run nowhere for some time, as one place ends before the next one begins."""

from dataclasses import replace
from datetime import UTC, datetime

from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.template import Offer
from slipway.model.cluster import Reservation
from slipway.model.facts import Facts
from slipway.model.findings.finding import Grade
from slipway.model.season import Season
from tests.slipway.answers.test_submissions import found, jobs
from tests.slipway.reviewing.builders import H100, cluster, facts, offer, pool, request, template, worker_pool

ALWAYS = facts(template("lora", offer()))
COMING = replace(offer(available=False, cluster="", pools=()), dormant="next")


def until(day: int) -> Cluster:
    """Return the cluster until a day of January."""
    return replace(cluster("cpu"), season=Season(ends=datetime(2027, 1, day, tzinfo=UTC)))


def with_successor(day: int, *others: Offer) -> Facts:
    """Return a stack whose cluster ends on January 4, and whose next one begins on a day of it."""
    coming = DormantCluster("next", (pool(),), id="next-1", season=Season(begins=datetime(2027, 1, day, tzinfo=UTC)))
    lora = template("lora", offer(), COMING, *others)
    return facts(until(4), lora, dormant={"next": coming})


def test_a_successor_that_begins_late_leaves_a_gap() -> None:
    told = found(ALWAYS, with_successor(11), recent=jobs(on="cpu-1"))["submission-rejected"]
    assert told.grade is Grade.BLOCKING
    assert told.sentence == (
        "default submissions can run nowhere from 2027-01-04 to 2027-01-11: "
        "cluster cpu is inactive; 3 submissions by ada and ben in the last 30 days"
    )


def test_without_a_gap_nothing_is_rejected() -> None:
    assert "submission-rejected" not in found(ALWAYS, with_successor(4))
    assert "submission-rejected" not in found(ALWAYS, with_successor(11, offer("spot")))
    assert "submission-rejected" not in found(with_successor(11), with_successor(11))
    assert "submission-rejected" not in found(with_successor(11), with_successor(8))
    longer = found(with_successor(8), with_successor(11))["submission-rejected"]
    assert longer.grade is Grade.WARNING, "nobody uses it"


def test_an_end_without_a_successor_is_no_gap() -> None:
    assert "submission-rejected" not in found(ALWAYS, facts(until(4), template("lora", offer())))


def reserved(*reservations: Reservation) -> Facts:
    """Return a stack whose template can run on these reservations alone."""
    offers = []
    for each in reservations:
        machines = worker_pool(H100, reservation=each.path)
        body = request(machines, capacity_type="reservation")
        offers.append(offer("reservation", machine=H100, request=body))
    by_path = {each.path: each for each in reservations}
    return facts(template("lora", *offers), reservations=by_path)


def reservation(name: str, begins: datetime | None = None, ends: datetime | None = None) -> Reservation:
    path = f"projects/acme-prod/zones/us-central1-a/reservations/{name}"
    return Reservation(path, "a3-highgpu-8g", machines=4, begins=begins, ends=ends)


def test_a_reservation_that_begins_late_leaves_a_gap() -> None:
    first, late = (datetime(2027, 1, day, tzinfo=UTC) for day in (4, 11))
    successor = reservation("b", begins=late)
    told = found(reserved(reservation("a")), reserved(reservation("a", ends=first), successor))["submission-rejected"]
    assert told.sentence.startswith("default submissions can run nowhere from 2027-01-04 to 2027-01-11: ")
