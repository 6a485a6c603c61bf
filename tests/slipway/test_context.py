"""What people look at of several regions, where one of them does not answer."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.catalog.clusters import Cluster
from slipway.catalog.model import Catalog
from slipway.cloud.connection import Connection
from slipway.cloud.failures import Call, CloudError, Denied
from slipway.cloud.session import HttpPolicy, Session
from slipway.cloud.vertex import Vertex
from slipway.context import HURRIED, Clock, Context
from slipway.season import Season

AT_HOME = Catalog("dev", "acme-dev", "us-central1", "", False, "w", "t", {}, (), {}, other_regions=("us-east4",))
ELSEWHERE = replace(AT_HOME, clusters={"cpu": Cluster("cpu", "cpu-1", {}, region="us-east4")})
LEFT = replace(ELSEWHERE, former_regions=("europe-west4",))


@pytest.mark.parametrize(
    ("catalog", "down", "seen"),
    [
        (LEFT, "", ("us-central1", "us-east4", "europe-west4")),
        (LEFT, "europe-west4", ("us-central1", "us-east4")),
        (LEFT, "us-east4", ()),
        (ELSEWHERE, "us-east4", ()),
        (AT_HOME, "", ("us-central1", "us-east4")),
        (AT_HOME, "us-east4", ("us-central1",)),
        (AT_HOME, "us-central1", ()),
    ],
)
def test_a_region_where_the_stack_offers_no_cluster_is_done_without_and_named(
    catalog: Catalog, down: str, seen: tuple[str, ...]
) -> None:  # N2 # N4
    """Its trouble may be why the stack has left it, or is not there. Of no other is anything unread taken for empty."""
    context = Context(environ={"GOOGLE_OAUTH_ACCESS_TOKEN": "token"})
    context.__dict__["catalog"] = catalog
    said: list[str] = []

    def read(vertex: Vertex) -> tuple[str, ...]:
        if down in vertex.regions:
            call = Call("list jobs", "aiplatform.customJobs.list", "project acme-dev")
            raise Denied(call, "denied")
        return vertex.regions

    if not seen:
        with pytest.raises(CloudError):
            context.looked_up(read, said.append)
        return
    assert context.looked_up(read, said.append) == seen
    assert said == ([f"not looked at {down}, where stack dev offers no cluster: denied"] if down else [])


def test_a_region_that_can_be_done_without_is_not_waited_for_as_long(monkeypatch: pytest.MonkeyPatch) -> None:  # N4
    """One that takes connections and never answers made lists silent for four minutes."""
    policies: list[HttpPolicy] = []

    def with_policy(self: Connection, policy: HttpPolicy) -> Connection:
        policies.append(policy)
        return self

    monkeypatch.setattr(Connection, "with_policy", with_policy)
    for catalog, tried in ((ELSEWHERE, []), (LEFT, [HURRIED])):
        context = Context(environ={"GOOGLE_OAUTH_ACCESS_TOKEN": "token"})
        context.__dict__["catalog"] = catalog
        assert context.looked_up(lambda vertex: vertex.regions, print) == catalog.regions_ever and policies == tried


ENDS = datetime(2026, 11, 22, 9, 18, 30, tzinfo=UTC)
SEASON = replace(AT_HOME, clusters={"cpu": Cluster("cpu", "cpu-1", {}, season=Season(None, ENDS))})


@pytest.mark.parametrize(
    ("here", "cloud", "takes"),
    [
        (ENDS - timedelta(seconds=1), ENDS - timedelta(seconds=1), True),
        (ENDS, ENDS, False),
        (ENDS, None, False),
        (ENDS - timedelta(hours=3), ENDS, False),
        (ENDS + timedelta(hours=3), ENDS - timedelta(seconds=1), True),
    ],
)
def test_who_submits_has_no_cluster_whose_season_has_ended_by_the_right_clock(
    monkeypatch: pytest.MonkeyPatch, here: datetime, cloud: datetime | None, takes: bool
) -> None:  # B6
    """By the time of the answer that has the catalog: nothing more is asked."""
    monkeypatch.setattr("slipway.context.fetch", lambda storage, choice: SEASON)
    monkeypatch.setattr(Session, "time", cloud)
    environ = {"GOOGLE_OAUTH_ACCESS_TOKEN": "token", "SLIPWAY_CATALOG": "gs://acme"}
    context = Context(environ=environ, clock=Clock(lambda: here), in_season=True)
    assert [*context.catalog.clusters] == [*context.anew().catalog.clusters] == (["cpu"] if takes else [])
    assert Context(environ=environ).catalog is SEASON, "who looks sees it as it was published"
