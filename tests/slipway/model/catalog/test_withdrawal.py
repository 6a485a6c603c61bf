"""What a catalog does not offer, though it was published with it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template
from slipway.model.catalog.withdrawal import ended_between, in_season
from slipway.model.cluster import Adoption
from slipway.model.prices import UNKNOWN
from slipway.model.season import Reason, Season

ENDS = datetime(2026, 11, 22, 9, 18, 30, tzinfo=UTC)
POOL = Offer("pool", True, "", "big", ("workers",), UNKNOWN, {})
SPOT = Offer("spot", True, "", "", (), UNKNOWN, {})
TEMPLATE = Template("digits", "", "custom-job", ("main",), (), (POOL, SPOT))
BIG = Cluster("big", (), id="big-1", season=Season(None, ENDS))
CATALOG = Catalog(
    "dev", "acme-dev", "us-central1", "", False, "w", "t", {"big": BIG}, (), {"digits": TEMPLATE}, source="gs://c"
)


def test_from_its_end_on_a_season_takes_no_job() -> None:  # B6
    assert in_season(CATALOG, ENDS - timedelta(seconds=1)) is CATALOG
    over = in_season(CATALOG, ENDS)
    assert not over.clusters and over.retiring == ("big-1",) and over.source == "gs://c"
    pool, spot = over.templates["digits"].offers
    assert (pool.available, pool.cluster, pool.dormant) == (False, "", "big") and spot is SPOT
    assert pool.why == over.dormant["big"].words == "cluster big is out of season since 2026-11-22 09:18 UTC"


def test_a_cluster_without_an_end_or_that_somebody_else_made_stays() -> None:
    for cluster in (replace(BIG, season=Season(ENDS)), replace(BIG, adopted=Adoption("team-a"))):
        catalog = replace(CATALOG, clusters={"big": cluster})
        assert in_season(catalog, ENDS + timedelta(days=9)) == catalog


def test_a_season_that_ends_meanwhile_is_told_from_a_new_deployment() -> None:
    over = in_season(CATALOG, ENDS)
    assert ended_between(CATALOG, over) == ("big",)
    assert ended_between(CATALOG, CATALOG) == ended_between(over, over) == ()
    assert ended_between(CATALOG, replace(over, commit="b" * 40)) == ()


@pytest.mark.parametrize(
    ("why", "since", "edit"),
    [
        ("season", None, ""),
        ("in-place", ENDS, ""),
        ("season", ENDS, "a later `until`"),
        ("idle", ENDS, "a higher `generation`"),
    ],
)
def test_what_brings_a_dormant_cluster_back(why: Reason, since: datetime | None, edit: str) -> None:
    assert DormantCluster("big", (), id="big-1", why=why, since=since).edit == edit
