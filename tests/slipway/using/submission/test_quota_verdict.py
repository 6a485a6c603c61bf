"""Whether quota has room for a job on machines of its own, by the metrics that its offer draws."""

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Catalog, Offer, Template
from slipway.model.kinds import CUSTOM_JOB, TUNING_JOB, JobKind
from slipway.model.prices import UNKNOWN
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.candidates import Candidate, PreparedSubmission, SubmissionRequest
from slipway.using.submission.quota_verdict import Limits, NotRead, draws, on_own_machines
from tests.builders.pools import CPU, resource_pool

from .conftest import cluster, job

CPUS, ON_DEMAND = "custom_model_training_preemptible_cpus", "custom_model_training_cpus"
DISKS = "custom_model_training_pd_ssd"
PLENTY = {DISKS: -1}
SPEC = {"machineSpec": {"machineType": CPU.type}, "replicaCount": 3}
THREE = {"jobSpec": {"workerPoolSpecs": [SPEC], "scheduling": {"maxWaitDuration": "86400s"}}}
CATALOG = Catalog("local", "p", "us-central1", "", False, "w", "t", {}, (), {})
TEMPLATE = Template("digits", "", "custom-job", (), (), ())
ASKED = SubmissionRequest("digits")


def verdict(
    limits: Limits,
    *active: VertexJob,
    by: str = "spot",
    beside_clusters: tuple[PersistentResource, ...] = (),
    wait: float | None = None,
) -> Verdict:
    return judged({**PLENTY, **limits}, active, beside_clusters, Offer(by, True, "", "", (), UNKNOWN, THREE), wait)


SPOT = Offer("spot", True, "", "", (), UNKNOWN, THREE)


def candidate(offer: Offer, wait: float | None = None, kind: JobKind = CUSTOM_JOB) -> Candidate:
    return PreparedSubmission(CATALOG, TEMPLATE, kind, {}, ((offer, wait),), "", ASKED).candidates[0]


def judged(
    limits: Limits,
    active: tuple[VertexJob, ...] | None,
    clusters: tuple[PersistentResource, ...] | None,
    offer: Offer = SPOT,
    wait: float | None = None,
) -> Verdict:
    return on_own_machines(candidate(offer, wait), "us-central1", limits, active, clusters)


TUNE, CLUSTERS = job("tune", 2, on="", strategy="SPOT"), (cluster(resource_pool(replicas=3)),)
SUFFICES, NO_ROLE = "; quota suffices, machines are not promised", "denied (needs roles/cloudquotas.viewer)"


@pytest.mark.parametrize(
    ("found", "outcome", "ends"),
    [
        (verdict({CPUS: 24}), Outcome.BESIDE, f"spot: runs on 3 machines of its own{SUFFICES}"),
        (verdict({CPUS: -1}), Outcome.BESIDE, SUFFICES),
        (verdict({CPUS: 24}, job("tune", 2)), Outcome.BESIDE, SUFFICES),
        (verdict({CPUS: 23}), Outcome.NEVER, "can never run on spot machines"),
        (verdict({CPUS: 24}, TUNE), Outcome.WAITS, "16 of 24 used"),  # N9
        (verdict({CPUS: 24, DISKS: 599}, beside_clusters=CLUSTERS), Outcome.WAITS, "300 of 599 used"),
        (verdict({CPUS: NotRead(NO_ROLE)}), Outcome.BESIDE, f"not read: {NO_ROLE}"),  # P5
        # On-demand machines share their quota with the clusters. # D2
        (
            verdict({CPUS: 0, ON_DEMAND: 48}, by="on-demand", beside_clusters=CLUSTERS),
            Outcome.BESIDE,
            SUFFICES,
        ),
        (verdict({ON_DEMAND: 40}, by="on-demand", beside_clusters=CLUSTERS), Outcome.WAITS, "24 of 40 used"),
    ],
)
def test_a_limit_and_what_is_in_use_of_it_decide(found: Verdict, outcome: Outcome, ends: str) -> None:
    assert found.outcome is outcome and found.text.endswith(ends)


def test_which_quota_a_reservation_draws_nobody_documents() -> None:  # Z6
    assert "quota not checked: " in verdict({CPUS: 0, ON_DEMAND: 0}, by="reservation").text


def test_flex_start_draws_the_preemptible_quota_and_says_how_long_it_waits(
    snapshot: SnapshotAssertion,
) -> None:  # W2, W6
    assert verdict({CPUS: 24, ON_DEMAND: 0}, by="flex-start").text == snapshot
    assert "up to 2 h" in verdict({CPUS: 24}, by="flex-start", wait=7200).text
    assert "waits forever for" in verdict({CPUS: 24}, by="flex-start", wait=0).text
    assert verdict({CPUS: 23}, by="flex-start").outcome is Outcome.NEVER


def test_trials_wait_for_their_machines_one_by_one(snapshot: SnapshotAssertion) -> None:  # W2, W5
    spec = {"trialJobSpec": {**THREE["jobSpec"], "workerPoolSpecs": [{**SPEC, "replicaCount": 1}]}}
    body = {**spec, "parallelTrialCount": 2, "maxTrialCount": 8}
    offer = Offer("flex-start", True, "", "", (), UNKNOWN, body, TUNING_JOB.name)
    found = on_own_machines(candidate(offer, kind=TUNING_JOB), "us-central1", {**PLENTY, CPUS: 64}, (), ())
    assert found.text == snapshot


def test_what_is_short_is_told_with_a_limit_that_would_do() -> None:  # Z2
    found = verdict({CPUS: 24}, TUNE)
    assert found.lacking == ((CPUS, 40),) and found.why == (f"quota {CPUS} us-central1: needs 24, limit 24, used 16",)
    assert verdict({CPUS: 23}, TUNE).lacking == ((CPUS, 40),)
    assert judged({CPUS: 23}, None, None).lacking == ((CPUS, 24),)
    assert verdict({CPUS: 64}, TUNE).lacking == ()


def test_a_limit_without_what_is_in_use_is_not_called_enough() -> None:
    unread = "cannot tell whether quota suffices: the limits do, what is in use could not be read"
    for active, clusters in ((None, ()), ((), None)):
        found = judged({**PLENTY, CPUS: 24, DISKS: 300}, active, clusters)
        assert found.outcome is Outcome.BESIDE and found.text.endswith(f"; {unread}")
    assert judged({CPUS: 23}, None, None).outcome is Outcome.NEVER


def test_quota_suffices_only_where_all_that_the_job_draws_was_read() -> None:  # P5, N3
    """It was said of Spot without its disks, and of A2 without its vCPUs: QUEUED for ever, or 429."""
    no_role = NotRead("denied")
    cases: tuple[tuple[Limits, str], ...] = (
        ({CPUS: 24}, "PD SSD GB not read: the service lists no such quota"),
        ({CPUS: 24, DISKS: no_role}, "PD SSD GB not read: denied"),
        ({CPUS: no_role, DISKS: no_role}, "vCPUs and PD SSD GB not read: denied"),
        ({}, "vCPUs and PD SSD GB not read: the service lists no such quota"),
    )
    for limits, unread in cases:
        found = judged(limits, (), ())
        assert found.outcome is Outcome.BESIDE and found.text.endswith(f"; quota of {unread}")
    assert judged({CPUS: 23}, (), ()).outcome is Outcome.NEVER, "what is short is short, whatever else was not read"


@pytest.mark.parametrize(
    ("machine", "disk", "by", "unread"),
    [
        ("a3-highgpu-1g", "hyperdisk-balanced", "on-demand", "hyperdisk-balanced"),
        ("ct5lp-hightpu-1t", "pd-ssd", "spot", "preemptible "),
    ],
)
def test_what_draws_quota_that_nobody_knows_is_not_called_enough(machine: str, disk: str, by: str, unread: str) -> None:
    spec = {"machineSpec": {"machineType": machine}, "diskSpec": {"bootDiskType": disk}, "replicaCount": 1}
    offer = Offer(by, True, "", "", (), UNKNOWN, {"jobSpec": {"workerPoolSpecs": [spec]}})
    limits: Limits = {need.metric: -1 for need in draws(candidate(offer))}
    assert limits, "some of what it draws is known"
    text = judged(limits, (), (), offer).text
    assert f"; quota of {unread}" in text and text.endswith("not read: none is known")
