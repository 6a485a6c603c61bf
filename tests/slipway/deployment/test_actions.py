"""What is decided about each cluster, once: by a plan, and the same by the catalog that it publishes. # N1"""

from dataclasses import replace
from datetime import timedelta

import pytest

from slipway.catalog.document import as_published
from slipway.deployment.actions import of_catalog
from slipway.deployment.plan import Plan
from slipway.generations.action import What, Why
from slipway.live import Live, Unknown
from slipway.season import Season

from .world import EPOCH, catalog_with, cluster, hash_of, id_of, job, live, planned, published_by, remembering, spec

OLD, NEW, OTHER = spec(high=4), spec(high=6), spec("gpu")
ALIVE = cluster(id_of(OLD), hash_of(OLD))
SOON = replace(OTHER, season=Season(begins=EPOCH - timedelta(days=1)))
CATALOG = catalog_with(OLD)


def told(decided: Plan) -> list[tuple[str, What, Why]]:
    return [(one.cluster, one.what, one.why) for one in decided.actions]


def test_each_has_what_and_why() -> None:
    busy = planned((NEW,), live(ALIVE, jobs=(job(ALIVE.id),), catalog=CATALOG))
    assert told(busy) == [("cpu", What.CREATE, Why.ASKED), ("cpu", What.RETIRE, Why.JOBS)]
    in_place = replace(NEW, replacement="in-place")
    idle = planned((in_place,), live(ALIVE, catalog=CATALOG))
    assert told(idle) == [("cpu", What.CREATE, Why.ASKED), ("cpu", What.DELETE_FIRST, Why.IN_PLACE)]
    assert idle.of(What.DELETE_FIRST)[0].instead == (id_of(in_place),)
    held = planned((in_place,), live(ALIVE, jobs=(job(ALIVE.id),), catalog=CATALOG))
    assert told(held)[1:] == [("cpu", What.RETIRE, Why.JOBS), ("cpu", What.REFUSE, Why.JOBS)]
    gone = planned((OTHER,), live(ALIVE, catalog=CATALOG))
    assert told(gone)[1:] == [("cpu", What.DELETE_LAST, Why.IDLE)], "people are sent to it until the catalog is written"
    spent = planned((OTHER,), live(ALIVE, catalog=catalog_with(retiring=(ALIVE.id,))))
    assert told(spent)[1:] == [("cpu", What.DELETE_FIRST, Why.IDLE)]
    assert told(planned((OLD,), live(ALIVE, catalog=CATALOG))) == [("cpu", What.KEEP, Why.DEPLOYED)]
    assert told(planned((OLD,), live(ALIVE))) == [("cpu", What.TAKE, Why.ASKED)]


def test_what_time_alone_brings_says_so_and_an_edit_does_not() -> None:  # B6
    rests = planned((replace(SOON, season=Season(begins=EPOCH)),), live(), EPOCH - timedelta(days=1))
    catalog = as_published(remembering(*rests.dormant))
    same, edited = (replace(SOON, season=Season(begins=EPOCH)), SOON)
    assert told(planned((same,), live(catalog=catalog), EPOCH)) == [("gpu", What.CREATE, Why.SEASON)]
    assert told(planned((edited,), live(catalog=catalog), EPOCH)) == [("gpu", What.CREATE, Why.ASKED)]


@pytest.mark.parametrize("declared", [(), (OLD,), (NEW,), (replace(NEW, replacement="in-place"), SOON), (OTHER,)])
@pytest.mark.parametrize("busy", [True, False])
@pytest.mark.parametrize("state", ["RUNNING", "ERROR", "UPDATING"])
def test_by_its_catalog_a_review_decides_as_the_deployment_does(declared, busy: bool, state: str) -> None:  # type: ignore[no-untyped-def]
    seen = live(replace(ALIVE, state=state), jobs=(job(ALIVE.id),) * busy, catalog=CATALOG)
    decided = planned(declared, seen, EPOCH)
    found = of_catalog(published_by(decided), CATALOG.whole, seen, EPOCH)
    assert [(one.cluster, one.id, one.what, one.why) for one in found] == [
        (one.cluster, one.id, one.what, one.why) for one in decided.actions
    ]


def test_where_nobody_could_look_nothing_is_said_of_what_goes() -> None:
    unread = Unknown("denied", "list", "roles/aiplatform.viewer")
    for seen in (Live(unread, (), {}, CATALOG), Live((ALIVE,), unread, {}, CATALOG)):
        found = of_catalog(published_by(planned((NEW,), live(), EPOCH)), CATALOG.whole, seen, EPOCH)
        assert [(one.cluster, one.what) for one in found] == [("cpu", What.CREATE)]
