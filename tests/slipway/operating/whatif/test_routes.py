"""Races and regions in a replay: what the history tells of each region's waits, and what nobody knows. # N23"""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

import pytest

from slipway.model.capacity import FLEX_START
from slipway.model.catalog.model import Catalog
from slipway.model.prices import Price
from slipway.operating.history.model import PastJob
from slipway.operating.history.waits import WaitCurve
from slipway.operating.whatif.comparison import Comparison, Declaration, Replayer
from slipway.operating.whatif.model import ReplayedJob
from slipway.using.submission.request import derived_request_id

from .past import catalog, cluster, declared, history, job, offer, pool

HOME, EAST, WEST = "us-central1", "us-east5", "europe-west4"
POOL = cluster("cpu", pool("workers", 1, 1))


def stack(*regions: str, of_template: tuple[str, ...] = ()) -> Catalog:
    made = catalog([POOL], {"t": [offer(FLEX_START), offer("on-demand")]})
    template = replace(made.templates["t"], regions=of_template or None)
    return replace(made, other_regions=regions, templates={"t": template})


def leg(request: str, region: str, waited: float | None, run: float, *, end: float = 0, at: float = 0) -> PastJob:
    """A leg of a race of home and east; without a wait it was given up at `end`."""
    made = job(f"{request}-{region}", at, waited, run, capacity_type=FLEX_START, request_id=request, region=region)
    return made if waited is not None else replace(made, ended=job("x", at, 0, end).ended, state="CANCELLED")


def race(request: str, home: float, east: float, at: float = 0) -> list[PastJob]:
    """Return the legs of a race that took so long in each region, but for the slower one, which was given up."""
    waits = {HOME: home, EAST: east}
    first = min(waits.values())
    legs = [
        leg(request, each, wait if wait == first else None, 100, end=first + 1, at=at) for each, wait in waits.items()
    ]
    return [replace(each, race=(HOME, EAST)) for each in legs]


def compared(jobs: Iterable[PastJob], before: Catalog, after: Declaration) -> Comparison:
    return Replayer.of(history(jobs, [POOL]), before).comparison(now(before), after)


def now(of: Catalog) -> Declaration:
    return declared(*of.clusters.values(), regions=of.regions)


def replayed(of: Comparison) -> dict[str, ReplayedJob]:
    return {each.name: each for each in of.replayer.work.jobs}


def test_a_race_is_one_job_that_waits_as_its_winner_did() -> None:
    both = stack(EAST)
    late = replace(leg("late", HOME, 700, 2), race=(HOME, EAST))
    won = replace(leg("late", EAST, 600, 9000), race=(HOME, EAST), cost=Price(Decimal(7)))
    seen = compared([*race("a", 50, 999), late, won], both, now(both))
    assert seen.unchanged and seen.jobs == 2 and replayed(seen)["late-us-east5"].run == 9000
    assert (seen.before.waits.median, seen.before.waits.longest, seen.before.unknown) == (50, 600, 0)
    assert seen.before.beside_cost.known >= 7, "what the winner has cost, in its region"


def test_without_the_region_that_won_it_waits_for_longer_than_it_did_as_far_as_somebody_has() -> None:
    both = stack(EAST)
    jobs = [*race("a", 4000, 300), leg("b", HOME, 200, 10, at=50), leg("c", HOME, 5000, 10, at=60)]
    seen = compared(jobs, both, declared(POOL, regions=(HOME,)))
    assert not seen.unchanged and seen.before.waits.longest == 5000 and seen.before.waits.median == 300
    assert replayed(seen)["a-us-east5"].delays == {FLEX_START: 5000}, "200 s were not enough then"
    unseen = compared(jobs[:3], both, declared(POOL, regions=(HOME,)))
    assert unseen.after.unknown == 1 and unseen.after.never == () and unseen.after.waits.jobs == 1
    assert unseen.replayer.work.unknown == (FLEX_START,)


def test_a_new_region_shortens_races_as_far_as_the_history_knows_it() -> None:
    both = stack(EAST)
    more = declared(POOL, regions=(HOME, EAST, WEST))
    unseen = compared(race("a", 500, 900), both, more)
    assert unseen.after.waits.longest == 500 and unseen.replayer.work.unknown == (f"{FLEX_START} in {WEST}",)
    known = compared([*race("a", 500, 900), leg("w", WEST, 60, 10)], both, more)
    assert known.before.waits.longest == 500 and known.after.waits.longest == 60
    chosen = [replace(each, race=(HOME, EAST)) for each in race("a", 500, 900)]
    asked = compared([*chosen, leg("w", WEST, 60, 10)], stack(EAST, WEST), declared(POOL, regions=(HOME, EAST, WEST)))
    assert asked.after.waits.longest == 500, "somebody named its two regions"


def test_a_templates_regions_come_after_its_own_one_by_one() -> None:
    jobs = [leg("b", EAST, 40, 10), leg("c", HOME, None, 0, end=5000), leg("d", HOME, 50, 10, at=9)]
    here = stack(EAST, of_template=(EAST,))
    labels = [route.label for route in replayed(compared(jobs, here, now(here)))["b-us-east5"].routes]
    assert labels == [FLEX_START, "on-demand", f"{FLEX_START} in {EAST}", f"on-demand in {EAST}"]
    alone = declared(POOL, regions=here.regions, template_regions={"t": ()})
    assert [route.label for route in replayed(compared(jobs, here, alone))["d-us-central1"].routes] == labels[:2]
    gone = replayed(compared(jobs, here, declared(POOL, regions=(HOME,))))["b-us-east5"]
    assert [route.label for route in gone.routes] == labels[:2], "where it ran is no region of the stack any more"


def test_a_job_that_made_room_and_the_one_behind_it_are_one() -> None:
    behind = derived_request_id("yield", "r", 1), derived_request_id("yield", "r", 2)
    again = derived_request_id("yield", behind[1], 1)
    jobs = [
        job("first", 0, 5, 600, on=POOL, request_id="r", yields=True),
        job("needless", 100, 5, 1, on=POOL, request_id=behind[0]),
        job("second", 400, 500, 1000, on=POOL, request_id=behind[1]),
        job("third", 900, 2000, 50, on=POOL, request_id=again),
    ]
    work = Replayer.of(history(jobs, [POOL]), catalog([POOL], {"t": [offer("pool", "cpu")]})).work
    (only,) = work.jobs
    assert (only.name, only.waited, only.run, only.yields) == ("first", 5, 1651, True)


def test_a_wait_that_was_given_up_counts_as_at_least_so_long() -> None:
    seen = WaitCurve.of([(10, False), (20, True), (30, False), (40, True)])
    assert [seen.drawn(share) for share in (0, 0.2, 0.3, 0.6, 0.7)] == [10, 10, 30, 30, None]
    assert [seen.drawn(0, least) for least in (10, 11, 31)] == [10, 30, None]
    assert WaitCurve().drawn(0) is None
    plain = WaitCurve.of((float(wait), False) for wait in range(8))
    assert [plain.drawn(share / 8) for share in range(8)] == pytest.approx(list(range(8)))


def test_urgent_jobs_go_to_the_pool_again_and_shares_are_by_team() -> None:
    urgent = job("u", 0, 5, 100, on=POOL, labels={"slipway-urgent": "true"}, team="vision")
    runs = job("s", 1, 5, 100, on=POOL, sweep="s", yields=True)
    here = catalog([POOL], {"t": [offer("spot"), offer("pool", "cpu", wait=60.0)]})
    first, second = Replayer.of(history([urgent, runs], [POOL]), here).work.jobs
    assert first.urgent and first.team == "vision" and first.routes[0].on_pool and first.routes[0].wait is None
    assert second.of_sweep and not second.yields, "a run of a sweep makes no room"
