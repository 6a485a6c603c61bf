"""What a submission may cost, and who is asked before it is sent. # W2 # N7"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slipway.catalog.model import Catalog
from slipway.errors import PolicyError
from slipway.submission.candidates import SubmissionRequest, prepare
from slipway.submission.costs import Spending, spending, spending_at_once
from slipway.submission.request import Request

from .fallback_command import Told, catalog, command
from .service import Killed, Service

MOVING = SubmissionRequest("digits", waits={"pool": 60.0}, then=("spot", "on-demand"))


class Agreeing(Told):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Spending] = []

    def confirm(self, costs: Spending) -> None:
        self.asked.append(costs)


def deployed(above: float | None) -> Catalog:
    return replace(catalog(launcher=True), confirm_above=above)


def with_machine(request: Request, machine: str) -> Request:
    spec: dict[str, Any] = request.body["jobSpec"]
    pools = [{**pool, "machineSpec": {"machineType": machine}} for pool in spec["workerPoolSpecs"]]
    return replace(request, body={**request.body, "jobSpec": {**spec, "workerPoolSpecs": pools}})


def of(above: float | None, *types: str) -> Spending | None:
    """Of a submission that may take these."""
    prepared = prepare(deployed(above), SubmissionRequest("digits"), "ada")
    return spending(prepared, [one for one in prepared.candidates if one.offer.capacity_type in types])


def test_the_dearest_counts_and_pools_do_not() -> None:
    dearest = of(0.01, "pool", "spot", "on-demand")
    assert dearest is not None and dearest.what == "digits by on-demand"
    assert dearest == of(0.01, "on-demand") and dearest.price.known > 0.2
    spot = of(0.01, "spot")
    assert spot is not None and spot.price.known < dearest.price.known
    assert of(0.01, "pool") is None and of(0.01) is None


def test_nobody_is_asked_without_a_limit_or_below_it() -> None:
    assert of(None, "on-demand") is None
    dearest = of(0.01, "on-demand")
    assert dearest is not None
    assert of(float(dearest.price.known), "on-demand") is None
    assert of(float(dearest.price.known) - 0.0001, "on-demand") is not None


def test_what_has_no_known_price_is_more_than_any_limit() -> None:
    (_, spot, _) = prepare(deployed(1000), SubmissionRequest("digits"), "ada").candidates
    unpriced = replace(spot, make=lambda: with_machine(spot.request, "a4-highgpu-8g"))
    costs = spending_at_once(deployed(1000), "digits", [(unpriced, 2)])
    assert costs is not None and "price unknown" in costs.words


def test_runs_at_once_are_added() -> None:
    (pool, spot, _) = prepare(deployed(1), SubmissionRequest("digits"), "ada").candidates
    one = spending_at_once(deployed(0), "digits", [(spot, 1)])
    assert one is not None and spending_at_once(deployed(1), "digits", [(spot, 1), (pool, 500)]) is None
    many = spending_at_once(deployed(1), "digits", [(spot, 100), (pool, 500)])
    assert many is not None and many.price.known == 100 * one.price.known and many.what.startswith("100 runs of")


def test_a_refusal_says_how_to_confirm_it() -> None:
    costs = of(0.01, "on-demand")
    assert costs is not None
    refusal = costs.refusal
    assert refusal.exit_code == 5 and "slipway:workspace.confirmAbove" in refusal.why and "yes=True" in refusal.fix


def test_nothing_is_sent_that_nobody_confirms() -> None:
    service, asked = Service(launcher=True, starts=[0]), SubmissionRequest("digits", capacity_type="spot")
    with pytest.raises(PolicyError, match="nobody has confirmed"):
        command(service, again=False, asked=asked, confirm_above=0.01)
    assert service.jobs == []
    assert command(service, again=True, asked=asked, show=Agreeing(), confirm_above=0.01).attempt.fresh


def test_what_it_may_move_on_to_is_asked_about_before_it_waits() -> None:
    """It went on demand in the night, unasked."""
    with pytest.raises(PolicyError, match="digits by on-demand"):
        command(Service(launcher=True, starts=[None]), again=False, asked=MOVING, confirm_above=0.01)
    show = Agreeing()
    done = command(Service(launcher=True, starts=[None, 0]), again=False, asked=MOVING, show=show, confirm_above=0.01)
    assert done.attempt.job.id == "7001" and show.asked[0].what == "digits by on-demand"


def test_who_resumes_it_is_asked_before_anything_is_given_up() -> None:
    """Else the place in the queue is lost, and nothing sent in its stead."""
    service = Service(launcher=True, starts=[None, 0], faults={"create": ["killed"]})
    with pytest.raises(Killed):
        command(service, again=False, asked=MOVING, show=Agreeing(), confirm_above=0.01)
    service.dead = False
    with pytest.raises(PolicyError, match="digits by on-demand"):
        command(service, again=True, asked=MOVING, confirm_above=0.01)
    assert [job.ended for job in service.jobs] == [None], "it waits where it is"
    assert command(service, again=True, asked=MOVING, show=Agreeing(), confirm_above=0.01).attempt.job.id == "7001"
