"""Clusters that a stack's state lacks. # N1 # N4"""

import pytest

from slipway.cloud.clusters import PersistentResource
from slipway.deployment.orphan_cleanup import insists, orphans
from slipway.errors import ConfigError
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.live import Unknown
from slipway.state import State, StateResource

PROJECT, REGION = "acme", "us-central1"
OURS = {STACK_LABEL: "prod", NAME_LABEL: "cpu", HASH_LABEL: "1a2b3c4"}
UNREAD = Unknown("it is down", "aiplatform.googleapis.com persistentResources.list", "the API to answer", "ci@acme")


def orphan(id_: str = "cpu-1a2b3c4", state: str = "RUNNING", region: str = REGION, **labels: str) -> PersistentResource:
    name = f"projects/{PROJECT}/locations/{region}/persistentResources/{id_}"
    return PersistentResource(name, state, {**OURS, **labels}, ())


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
def test_an_orphan_is_what_the_stack_made_and_its_state_lacks(
    cluster: PersistentResource, known: State, is_one: bool
) -> None:
    assert orphans([cluster], known, "prod") == ((cluster,) if is_one else ())


@pytest.mark.parametrize(("environ", "leaves"), [({}, False), ({"SLIPWAY_ORPHANS": "leave"}, True)])
def test_only_a_word_insists(environ: dict[str, str], leaves: bool) -> None:
    assert insists(environ) is leaves


def test_a_word_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="invalid SLIPWAY_ORPHANS=yes"):
        insists({"SLIPWAY_ORPHANS": "yes"})
