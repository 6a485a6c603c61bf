"""A stack's region or project edited while the stack lives: refused in words, with the ways to go. # N1"""

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.errors import ConfigError
from slipway.state import State, StateResource, refuse_move, refuse_rename, stack_locations

CLUSTER = StateResource("cpu-1a2b3c4", "cpu-1a2b3c4", "acme", "us-central1")
BUCKET = StateResource("work", "acme-work", "acme", "us-central1")
ACCOUNT = StateResource("trainer", "trainer@acme.iam.gserviceaccount.com", "acme")
WHOLE = State(clusters=(CLUSTER,), buckets=(BUCKET,), accounts=(ACCOUNT,))


def refusal(known: State, project: str = "acme", region: str = "us-central1") -> ConfigError:
    with pytest.raises(ConfigError) as refused:
        refuse_move(known, stack="prod", project=project, region=region)
    return refused.value


@pytest.mark.parametrize("known", [State(), WHOLE, State(accounts=(ACCOUNT,))])
def test_where_it_lives_it_may_be_deployed(known: State) -> None:
    refuse_move(known, stack="prod", project="acme", region="us-central1")


@pytest.mark.parametrize(
    ("project", "region"), [("acme", "europe-west4"), ("acme-new", "us-central1"), ("acme-new", "europe-west4")]
)
def test_another_place_is_refused_with_the_ways_to_go(project: str, region: str, snapshot: SnapshotAssertion) -> None:
    assert str(refusal(WHOLE, project, region)) == snapshot


def test_a_stack_that_was_renamed_is_refused_with_the_way_back(snapshot: SnapshotAssertion) -> None:  # B1
    """Its clusters bear the old name for good, and protected ones among them would be deleted."""
    with pytest.raises(ConfigError) as refused:
        refuse_rename(WHOLE, {CLUSTER.name: "trial"}, "prod")
    assert str(refused.value) == snapshot


@pytest.mark.parametrize("alive", [{}, {CLUSTER.name: "prod"}, {CLUSTER.name: ""}, {"cpu-9f8e7d6": "trial"}])
def test_others_clusters_and_what_is_gone_are_no_sign_of_another_name(alive: dict[str, str]) -> None:
    refuse_rename(WHOLE, alive, "prod")


@pytest.mark.parametrize("known", [State(buckets=(BUCKET,)), State(clusters=(CLUSTER,))])
def test_one_thing_that_is_left_makes_it_live_there(known: State) -> None:
    assert "lives in us-central1" in refusal(known, region="europe-west4").what


def test_an_account_alone_is_in_a_project_and_in_no_region() -> None:
    known = State(accounts=(ACCOUNT,))
    refuse_move(known, stack="prod", project="acme", region="europe-west4")
    assert "lives in acme and can't" in refusal(known, project="acme-new").what


def test_a_place_that_the_state_does_not_tell_is_no_other() -> None:
    known = State(clusters=(StateResource("cpu-1a2b3c4", "cpu-1a2b3c4", "", ""),))
    refuse_move(known, stack="prod", project="acme", region="us-central1")


def test_clusters_are_looked_for_where_they_were_made_and_where_they_are_asked_for() -> None:
    assert stack_locations(WHOLE, "acme", "us-central1") == (("acme", "us-central1"),)
    assert stack_locations(WHOLE, "acme", "europe-west4") == (("acme", "europe-west4"), ("acme", "us-central1"))
    assert stack_locations(State(), "acme", "europe-west4") == (("acme", "europe-west4"),)


FAR = StateResource("cpu-9f8e7d6", "cpu-9f8e7d6", "acme", "europe-west4")


@pytest.mark.parametrize(
    ("known", "others"),
    [
        (State(clusters=(CLUSTER, FAR), buckets=(BUCKET,)), ()),
        (State(clusters=(FAR,)), ("europe-west4",)),
        (State(clusters=(FAR,), elsewhere=frozenset({"cpu-9f8e7d6"})), ()),
        (State(clusters=(FAR,), other_regions=frozenset({"europe-west4"})), ()),
    ],
)
def test_a_cluster_that_was_made_elsewhere_on_purpose_is_no_move(known: State, others: tuple[str, ...]) -> None:  # N2
    """Buckets of its own tell, or the stack file, or the state."""
    refuse_move(known, stack="prod", project="acme", region="us-central1", others=others)
    assert "cluster cpu-9f8e7d6" in refusal(replace(known, buckets=()), project="acme-new").why


def test_the_regions_of_alternatives_are_looked_at_too() -> None:  # N2
    assert stack_locations(State(clusters=(FAR,)), "acme", "us-central1", ("us-east4", "europe-west4")) == (
        ("acme", "us-central1"),
        ("acme", "us-east4"),
        ("acme", "europe-west4"),
    )
    assert WHOLE.regions_beside("us-central1") == ()
    assert State(clusters=(CLUSTER, FAR)).regions_beside("us-central1") == ("europe-west4",)


def test_a_region_where_a_killed_deployment_asked_for_a_cluster_is_looked_at() -> None:  # N1 # N2
    """The stack file may name it no more."""
    killed = State(other_regions=frozenset({"us-central1", "europe-west4"}))
    assert killed.regions_beside("us-central1") == ("europe-west4",)
    assert stack_locations(killed, "acme", "us-central1") == (("acme", "us-central1"), ("acme", "europe-west4"))
