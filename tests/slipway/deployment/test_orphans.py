"""Which clusters a stack's state lacks, and what is said about them before they go or stay. # N1 # N4"""

import pytest

from slipway.cloud.clusters import PersistentResource
from slipway.deployment.orphans import (
    Orphan,
    announced,
    leaving,
    left,
    orphans,
    unasked,
    untold,
)
from slipway.errors import ConfigError
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.live import Unknown
from slipway.state import State, StateResource

PROJECT, REGION = "acme", "us-central1"
OURS = {STACK_LABEL: "prod", NAME_LABEL: "cpu", HASH_LABEL: "1a2b3c4"}
UNREAD = Unknown("it is down", "aiplatform.googleapis.com persistentResources.list", "the API to answer", "ci@acme")


def orphan(id_: str = "cpu-1a2b3c4", state: str = "RUNNING", region: str = REGION, **labels: str) -> Orphan:
    return Orphan(PROJECT, region, PersistentResource(id_, state, {**OURS, **labels}, ()))


def in_state(id_: str, region: str = REGION) -> State:
    return State(clusters=(StateResource(id_, id_, PROJECT, region),))


@pytest.mark.parametrize(
    ("cluster", "known", "is_one"),
    [
        (orphan(), State(), True),
        (orphan("cpu-1a2b3c4-2"), in_state("cpu-1a2b3c4"), True),
        (orphan(state="ERROR"), State(), True),
        (orphan(state="PROVISIONING"), State(), True),
        (orphan(), in_state("cpu-1a2b3c4"), False),
        (orphan(), in_state("cpu-1a2b3c4", "europe-west4"), True),
        (orphan(**{STACK_LABEL: "dev"}), State(), False),
        (orphan(**{NAME_LABEL: ""}), State(), False),
        (orphan("somebody-elses"), State(), False),
    ],
    ids=[
        "the state knows nothing",
        "the state knows its predecessor",
        "one that failed",
        "one that is being made",
        "the engine deletes what the state has",
        "the state has its namesake in another region",
        "another stack's",
        "without our labels",
        "with our labels and an id that they do not give",
    ],
)
def test_an_orphan_is_what_the_stack_made_and_its_state_lacks(cluster: Orphan, known: State, is_one: bool) -> None:
    assert orphans([cluster], known, "prod") == ((cluster,) if is_one else ())


def test_a_preview_names_each_with_its_state() -> None:
    said = announced((orphan(), orphan("cpu-1a2b3c4-2", "ERROR")))
    assert said.startswith("clusters cpu-1a2b3c4 (running) and cpu-1a2b3c4-2 (error): made by this stack")
    assert "SLIPWAY_ORPHANS=leave leaves them" in said


def test_whoever_insists_learns_that_the_bill_goes_on_and_how_to_end_it() -> None:
    assert leaving((orphan(),)).splitlines() == [
        "SLIPWAY_ORPHANS=leave: cluster cpu-1a2b3c4 (running) of this stack is left and goes on being billed, until",
        "  gcloud ai persistent-resources delete cpu-1a2b3c4 --project=acme --region=us-central1",
    ]


def test_what_cannot_be_told_is_said_with_the_way_to_leave_it() -> None:
    error = untold("which clusters there are", UNREAD)
    assert "can't tell which clusters there are" in error.what and "it is down" in error.why
    assert "SLIPWAY_ORPHANS=leave takes down what the state has" in error.fix


@pytest.mark.parametrize(("environ", "leaves"), [({}, False), ({"SLIPWAY_ORPHANS": "leave"}, True)])
def test_only_a_word_insists(environ: dict[str, str], leaves: bool) -> None:
    assert left(environ) is leaves


def test_a_word_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="invalid SLIPWAY_ORPHANS=yes"):
        left({"SLIPWAY_ORPHANS": "yes"})


def test_a_destruction_of_which_the_program_was_not_told_says_how_to_tell_it() -> None:
    error = unasked((orphan(),))
    assert error.what == "the stack is not taken down: cluster cpu-1a2b3c4 (running) would be left"
    assert "it is billed" in error.why
    assert "SLIPWAY_PURPOSE=destroy pulumi destroy --run-program" in error.fix and "SLIPWAY_ORPHANS=leave" in error.fix
