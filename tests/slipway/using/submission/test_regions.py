"""A template whose jobs look for machines in other regions in order, against the model of the service. (N23)"""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import PolicyError
from slipway.model.prices import crossing_price, per_gib
from slipway.using.submission.costs import crossing
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.prepared import PreparedSubmission, prepare
from slipway.using.submission.raced import raced
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submission_result import SubmissionResult
from slipway.using.submission.submitter import Submitter

from .cancelled_service import CancelledService, typed
from .fallback_command import FAULTS, STARTS, Told, catalog
from .service import HOME, Context, Journal

EAST, WEST = "us-east5", "europe-west4"
ASKED = SubmissionRequest("digits")


def deployed(*, launcher: bool = True, regions: tuple[str, ...] = (EAST, WEST), **fields: Any) -> Any:
    """The catalog of a template that has Spot, then on-demand machines, each with a wait."""
    made = catalog(launcher=launcher)
    template = made.templates["digits"]
    spot, on_demand = (replace(offer, wait=30.0) for offer in template.offers if not offer.cluster)
    template = replace(template, offers=(spot, on_demand), regions=regions)
    usual: dict[str, Any] = {"other_regions": (EAST, WEST), "confirm_above": 1000.0}
    return replace(made, templates={"digits": template}, **(usual | fields))


@dataclass
class Regions(CancelledService):
    newest: bool = True
    after: bool = True

    @property
    def context(self) -> Any:
        return Context(self, deployed(launcher=self.launcher))


def service(**fields: Any) -> Regions:
    return Regions(launcher=True, regions=(HOME, EAST, WEST), **fields)


def submitted(
    there: Regions, *, again: bool = False, show: Any = None, asked: SubmissionRequest = ASKED
) -> SubmissionResult:
    context = there.context
    submitter = Submitter(context, Journal(there), show or Told(), RetryPolicy())  # type: ignore[arg-type]
    return submitter.submit(prepare(context.catalog, asked, "ada"), "r1", repeated=again)


def labels(prepared: PreparedSubmission) -> list[str]:
    return [candidate.label for candidate in prepared.candidates]


def test_all_types_of_one_region_come_before_the_next_region() -> None:
    home = ["spot", "on-demand"]
    east, west = ([f"{type_} in {region}" for type_ in home] for region in (EAST, WEST))
    prepared = prepare(deployed(), ASKED, "ada")
    assert labels(prepared) == [*home, *east, *west]
    assert [candidate.wait for candidate in prepared.candidates] == [*[30.0] * 5, None]
    spot = prepare(deployed(), replace(ASKED, capacity_type="spot"), "ada")
    assert labels(spot) == ["spot", f"spot in {EAST}", f"spot in {WEST}"]
    assert [candidate.wait for candidate in spot.candidates] == [30.0, 30.0, None]
    assert labels(prepare(deployed(regions=(HOME, EAST)), ASKED, "ada")) == [*home, *east], "home is the first anyway"
    assert labels(prepare(deployed(), ASKED, "ada", elsewhere=False)) == home


def test_a_race_is_in_the_regions_of_the_template() -> None:
    made = deployed(regions=(EAST,))
    template = made.templates["digits"]
    legs = raced(made, template, template.offers, SubmissionRequest("digits", race=()))
    assert [offer.region for offer, _ in legs] == [HOME, EAST]


def test_quota_that_is_short_at_home_is_judged_anew_elsewhere() -> None:
    made = deployed()
    short = [
        replace(offer, available=False, why="short", lacks_quota=True) for offer in made.templates["digits"].offers
    ]
    template = replace(made.templates["digits"], offers=tuple(short))
    made = replace(made, templates={"digits": template})
    prepared = prepare(made, ASKED, "ada")
    assert [candidate.offer.available for candidate in prepared.candidates] == [False, False, True, True, True, True]


def test_it_moves_on_to_the_next_region_once_its_waits_are_over() -> None:
    there = service(starts=[None, None, 5])
    show = Told()
    result = submitted(there, show=show)
    assert result.attempt.job.region == EAST and there.runs == [result.attempt.job.id]
    assert [job.region for job in there.jobs] == [HOME, HOME, EAST]
    assert [waiting.candidate.label for waiting in show.given_up] == ["spot", "on-demand"]


def test_a_region_without_quota_is_passed_over() -> None:
    there = service(starts=[None, 5], region_limits={EAST: 0})
    assert submitted(there, asked=replace(ASKED, capacity_type="spot")).attempt.job.region == WEST


@given(create=FAULTS, lists=FAULTS, starts=STARTS, lag=st.sampled_from([0.0, 20.0]))
def test_whatever_befalls_the_sender_it_runs_once(
    create: list[str], lists: list[str], starts: list[int | None], lag: float
) -> None:
    there = service(starts=[*starts, 1], lag=lag)
    there.faults = {"create": create, "list": lists}
    result = typed(there, lambda again: submitted(there, again=again))
    assert result is not None
    there.faults, there.time = {}, there.time + lag
    there.end_of_days()
    assert len(there.runs) == 1, "one submission is one run"


@pytest.mark.parametrize(
    ("home", "region", "price"),
    [
        ("us-central1", "us-east5", "0.02"),
        ("us-central1", "europe-west4", "0.05"),
        ("europe-west4", "asia-southeast2", "0.10"),
        ("asia-southeast1", "asia-northeast1", "0.08"),
        ("northamerica-northeast1", "us-central1", "0.02"),
    ],
)
def test_what_crosses_regions_costs_what_googles_list_says(home: str, region: str, price: str) -> None:
    assert per_gib(home, region) == Decimal(price)


def test_prices_of_several_regions_are_a_range_and_an_unknown_one_is_said() -> None:
    assert crossing_price(HOME, [EAST, WEST]) == "at $0.02 to $0.05 a GiB"
    assert crossing_price(HOME, [EAST]) == "at $0.02 a GiB"
    assert "no list" in crossing_price(HOME, ["mars-west1"])


def test_inputs_that_cost_more_than_the_stacks_limit_are_asked_about() -> None:
    made = deployed(confirm_above=1.0)
    prepared = prepare(made, ASKED, "ada")
    gib = 2**30
    assert crossing(prepared, prepared.candidates[:2], 500 * gib) is None, "at home nothing crosses"
    assert crossing(prepared, prepared.candidates, 20 * gib) is None, "$1.00 to europe-west4"
    costs = crossing(prepared, prepared.candidates, 21 * gib)
    assert costs is not None and costs.price.known == Decimal("1.05")
    assert "up to 21 GiB of inputs from another region, $1.05 in all; stack local asks above $1.00" in costs.words
    with pytest.raises(PolicyError, match="confirmed what digits in us-east5 or europe-west4 would move"):
        raise costs.refusal
    away = prepare(catalog(launcher=True, pool_region=EAST), ASKED, "ada")
    assert crossing(away, away.candidates[:1], 500 * gib) is None, "whoever deployed a cluster there has agreed"
    agents = prepare(replace(made, confirm_above=0.0), ASKED, "ada")
    assert crossing(agents, agents.candidates, gib), "an agent is asked about any cost"
