"""Several regions, one of which does not answer, and a stack's own place, which no edit moves. # N1"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.base.errors import ConfigError
from slipway.google.connection import Connection
from slipway.google.failures import Call, CloudError, Denied
from slipway.google.session import HttpPolicy, Session
from slipway.google.vertex import Vertex
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.origin import Origin
from slipway.model.season import Season
from slipway.model.state import State, StateResource, stack_locations
from slipway.model.state_refusals import refuse_move, refuse_rename
from slipway.using.context import HURRIED, Clock, Context

AT_HOME = Catalog("dev", "acme-dev", "us-central1", "", False, "w", "t", {}, (), {}, other_regions=("us-east4",))
ELSEWHERE = replace(AT_HOME, clusters={"cpu": Cluster("cpu", (), id="cpu-1", region="us-east4")})
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


@pytest.mark.parametrize(("hours", "wrong"), [(2, True), (-2, True), (0, False)])
def test_ages_and_costs_go_by_the_services_clock_where_this_machines_is_wrong(hours: int, wrong: bool) -> None:
    """A client two hours ahead showed ages and costs of two hours."""
    here, monotonic = datetime(2026, 11, 20, 12, tzinfo=UTC), [100.0]
    context = Context(environ={"GOOGLE_OAUTH_ACCESS_TOKEN": "token"}, clock=Clock(now=lambda: here))
    assert context.now == here
    session = context.connection.session
    session._clock = lambda: monotonic[0]
    there = here - timedelta(hours=hours)
    session._date, session._dated_at = f"{there:%a, %d %b %Y %H:%M:%S} GMT", 100.0
    monotonic[0] += 7
    assert context.now == context.right_clock.now() == (there + timedelta(seconds=7) if wrong else here)


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
SEASON = replace(AT_HOME, clusters={"cpu": Cluster("cpu", (), id="cpu-1", season=Season(None, ENDS))})


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
    monkeypatch.setattr("slipway.using.context.fetch", lambda storage, choice: SEASON)
    monkeypatch.setattr(Session, "time", cloud)
    environ = {"GOOGLE_OAUTH_ACCESS_TOKEN": "token", "SLIPWAY_CATALOG": "gs://acme"}
    context = Context(environ=environ, clock=Clock(lambda: here), in_season=True)
    assert [*context.catalog.clusters] == [*context.anew().catalog.clusters] == (["cpu"] if takes else [])
    assert Context(environ=environ).catalog is SEASON, "who looks sees it as it was published"


CLUSTER = StateResource("cpu-1a2b3c4", "cpu-1a2b3c4", "acme", "us-central1")
BUCKET = StateResource("work", "acme-work", "acme", "us-central1")
ACCOUNT = StateResource("trainer", "trainer@acme.iam.gserviceaccount.com", "acme")
WHOLE = State(clusters=(CLUSTER,), buckets=(BUCKET,), accounts=(ACCOUNT,))


def refusal(known: State, project: str = "acme", region: str = "us-central1") -> ConfigError:
    with pytest.raises(ConfigError) as refused:
        refuse_move(known, stack="prod", project=project, region=region)
    return refused.value


@pytest.mark.parametrize(
    ("project", "region"), [("acme", "europe-west4"), ("acme-new", "us-central1"), ("acme-new", "europe-west4")]
)
def test_another_place_is_refused_with_the_ways_to_go(project: str, region: str, snapshot: SnapshotAssertion) -> None:
    assert str(refusal(WHOLE, project, region)) == snapshot


def test_a_stack_that_was_renamed_is_refused_with_the_way_back(snapshot: SnapshotAssertion) -> None:  # B1
    """Its clusters bear the old name for good, and protected ones among them would be deleted."""
    with pytest.raises(ConfigError) as refused:
        refuse_rename(WHOLE, {CLUSTER.name: "trial"}, "prod", Origin("prod"))
    assert str(refused.value) == snapshot


@pytest.mark.parametrize("alive", [{}, {CLUSTER.name: "prod"}, {CLUSTER.name: ""}, {"cpu-9f8e7d6": "trial"}])
def test_others_clusters_and_what_is_gone_are_no_sign_of_another_name(alive: dict[str, str]) -> None:
    refuse_rename(WHOLE, alive, "prod", Origin("prod"))


def test_an_account_alone_is_in_a_project_and_in_no_region() -> None:
    known = State(accounts=(ACCOUNT,))
    refuse_move(known, stack="prod", project="acme", region="europe-west4")
    assert "lives in acme and can't" in refusal(known, project="acme-new").what


FAR = StateResource("cpu-9f8e7d6", "cpu-9f8e7d6", "acme", "europe-west4")


KILLED = State(other_regions=frozenset({"us-central1", "europe-west4"}))
"""A killed deployment asked for a cluster there, which the stack file may name no more."""


@pytest.mark.parametrize(
    ("known", "here", "others", "regions"),
    [
        (WHOLE, "us-central1", (), ("us-central1",)),
        (WHOLE, "europe-west4", (), ("europe-west4", "us-central1")),
        (State(), "europe-west4", (), ("europe-west4",)),
        (State(clusters=(FAR,)), "us-central1", ("us-east4",), ("us-central1", "us-east4", "europe-west4")),
        (KILLED, "us-central1", (), ("us-central1", "europe-west4")),
    ],
)
def test_clusters_are_looked_for_where_they_were_made_and_where_they_are_asked_for(
    known: State, here: str, others: tuple[str, ...], regions: tuple[str, ...]
) -> None:  # N1, N2
    assert stack_locations(known, "acme", here, others) == tuple(("acme", region) for region in regions)
    assert known.regions_beside(here) == tuple(region for region in regions if region not in (here, *others))


@pytest.mark.parametrize(
    ("known", "others"),
    [
        (State(), ()),
        (WHOLE, ()),
        (State(accounts=(ACCOUNT,)), ()),
        (State(clusters=(replace(CLUSTER, project="", region=""),)), ()),
        (State(clusters=(CLUSTER, FAR), buckets=(BUCKET,)), ()),
        (State(clusters=(FAR,)), ("europe-west4",)),
        (State(clusters=(FAR,), elsewhere=frozenset({"cpu-9f8e7d6"})), ()),
        (State(clusters=(FAR,), other_regions=frozenset({"europe-west4"})), ()),
    ],
)
def test_where_it_lives_it_may_be_deployed_and_a_cluster_elsewhere_on_purpose_is_no_move(
    known: State, others: tuple[str, ...]
) -> None:  # N2
    """Buckets of its own tell, or the stack file, or the state. What the state does not tell is no other place."""
    refuse_move(known, stack="prod", project="acme", region="us-central1", others=others)
    if FAR in known.clusters:
        assert "cluster cpu-9f8e7d6" in refusal(replace(known, buckets=()), project="acme-new").why
