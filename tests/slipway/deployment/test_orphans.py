"""Which clusters a stack's state lacks, and what is said about them before they go or stay. # N1 # N4"""

import pytest

from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.deployment.orphans import (
    Orphan,
    announced,
    leaving,
    left,
    orphans,
    refuse,
    unasked,
    unready,
    untold,
    unwilling,
)
from slipway.errors import ConfigError, PolicyError, ResourceError
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.live import Unknown, Use
from slipway.state import State, StateResource

PROJECT, REGION = "acme", "us-central1"
OURS = {STACK_LABEL: "prod", NAME_LABEL: "cpu", HASH_LABEL: "1a2b3c4"}
UNREAD = Unknown("it is down", "aiplatform.googleapis.com persistentResources.list", "the API to answer", "ci@acme")


def orphan(id_: str = "cpu-1a2b3c4", state: str = "RUNNING", region: str = REGION, **labels: str) -> Orphan:
    return Orphan(PROJECT, region, PersistentResource(id_, state, {**OURS, **labels}, ()))


def job(name: str, cluster: str = "cpu-1a2b3c4") -> VertexJob:
    return VertexJob(name, name, "JOB_STATE_QUEUED", {}, persistent_resource_id=cluster)


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


@pytest.mark.parametrize(
    ("state", "deletable"),
    [("RUNNING", True), ("UPDATING", True), ("ERROR", True)]
    + [(state, False) for state in ("PROVISIONING", "REBOOTING", "STOPPING", "STATE_UNSPECIFIED")],
)
def test_the_service_deletes_what_has_been_made_or_has_failed(state: str, deletable: bool) -> None:
    assert orphan(state=state).deletable is deletable


def test_a_preview_names_each_with_its_state() -> None:
    said = announced((orphan(), orphan("cpu-1a2b3c4-2", "ERROR")))
    assert said.startswith("clusters cpu-1a2b3c4 (running) and cpu-1a2b3c4-2 (error): made by this stack")
    assert "SLIPWAY_ORPHANS=leave leaves them" in said


def test_whoever_insists_learns_that_the_bill_goes_on_and_how_to_end_it() -> None:
    assert leaving((orphan(),)).splitlines() == [
        "SLIPWAY_ORPHANS=leave: cluster cpu-1a2b3c4 (running) of this stack is left and goes on being billed, until",
        "  gcloud ai persistent-resources delete cpu-1a2b3c4 --project=acme --region=us-central1",
    ]


def test_idle_ones_may_go() -> None:
    refuse((orphan(),), [Use(), Use()])


def test_jobs_on_any_cluster_of_the_stack_keep_all_of_it() -> None:
    with pytest.raises(PolicyError) as refused:
        refuse((orphan(),), [Use(), Use(jobs=(job("tune", "gpu-9f8e7d6"),))])
    assert str(refused.value).splitlines() == [
        "the stack is not taken down: 1 job has not ended",
        "  why: tune on gpu-9f8e7d6: deleting the cluster would cancel what runs on it",
        "  fix: slipway jobs wait tune, or slipway jobs cancel tune; then again",
        "       SLIPWAY_ORPHANS=leave takes down the rest; cpu-1a2b3c4 stays and goes on being billed",
    ]


def test_each_job_has_its_commands() -> None:
    with pytest.raises(PolicyError) as refused:
        refuse((orphan(),), [Use(jobs=(job("tune", "gpu-9f8e7d6"), job("digits", "gpu-9f8e7d6")))])
    assert refused.value.fix.splitlines()[:2] == [
        "slipway jobs wait tune, or slipway jobs cancel tune",
        "slipway jobs wait digits, or slipway jobs cancel digits; then again",
    ]


def test_machines_in_use_count_though_no_list_has_a_job() -> None:
    with pytest.raises(PolicyError, match="machines of cpu-1a2b3c4 are in use"):
        refuse((orphan(),), [Use(unlisted=("cpu-1a2b3c4",))])


def test_what_cannot_be_told_keeps_all_of_it() -> None:
    with pytest.raises(ResourceError) as refused:
        refuse((orphan(),), [UNREAD])
    assert refused.value.what == "the stack is not taken down: can't tell whether jobs run on cpu-1a2b3c4"
    assert refused.value.why == (
        "aiplatform.googleapis.com persistentResources.list as ci@acme: it is down; it needs the API to answer"
    )
    assert "SLIPWAY_ORPHANS=leave takes down what the state has" in refused.value.fix
    assert "can't tell which clusters there are" in untold("which clusters there are", UNREAD).what


def test_one_that_can_not_be_deleted_is_named() -> None:
    assert "cluster cpu-1a2b3c4 (provisioning) could not be deleted within 2 hours" in str(
        unready((orphan(state="PROVISIONING"),), 2)
    )
    assert "the service gives no reason" in unwilling((orphan(),)).why


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
