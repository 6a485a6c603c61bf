"""The first offer that can run is taken, others are told with their reasons; and whether quota has room for a job on
machines of its own. # N3"""

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.base.errors import ConfigError, PolicyError, ResourceError
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template
from slipway.model.kinds import CUSTOM_JOB, TUNING_JOB, JobKind
from slipway.model.prices import UNKNOWN
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.choice import JudgedCandidate, broken, choose, not_taken
from slipway.using.submission.prepared import PreparedSubmission, prepare
from slipway.using.submission.quota_verdict import Limits, NotRead, draws, on_own_machines
from slipway.using.submission.request import Request
from slipway.using.submission.submission_request import SubmissionRequest
from tests.builders.pools import CPU, resource_pool

from .conftest import cluster, job
from .fallback_command import catalog

FULL = Verdict(Outcome.FULL, "pool full: h100/workers has 1 of 1 machine busy with tune-27b-x1", holder="tune-27b-x1")
BUSY = Verdict(Outcome.WAITS, "flex-start: …", ("quota h100_gpus us-central1: needs 8, limit 8, used 8",))
NEVER = Verdict(Outcome.NEVER, "can never run on spot machines", ("quota cpus us-central1: needs 24, limit 1",))
FINE = Verdict(Outcome.BESIDE, "quota suffices")


def judged(offer: str, verdict: Verdict, wait: float | None = None) -> JudgedCandidate:
    place = Offer(offer, True, "", "h100" if offer == "pool" else "", (), UNKNOWN, {})
    return JudgedCandidate(Candidate(place, CUSTOM_JOB, lambda: Request("r1", "dev", "t", {}), wait), verdict)


def test_the_first_that_can_run_is_taken_with_why_the_others_were_not(snapshot: SnapshotAssertion) -> None:
    choice = choose("t", [judged("pool", FULL), judged("flex-start", BUSY), judged("spot", FINE), judged("x", FINE)])
    assert choice.taken.candidate.offer.capacity_type == "spot"
    assert [not_taken(candidate) for candidate in choice.passed] == snapshot


def test_no_more_is_judged_than_is_needed() -> None:
    def judging() -> object:
        yield judged("pool", Verdict(Outcome.STARTS, "starts now"))
        raise AssertionError("nobody needs to know")

    assert choose("t", judging()).passed == ()  # type: ignore[arg-type]


def test_the_only_offer_that_can_ever_run_is_waited_for() -> None:
    assert choose("t", [judged("spot", NEVER), judged("pool", FULL)]).taken.candidate.offer.capacity_type == "pool"


@pytest.mark.parametrize(
    ("verdicts", "taken"),
    [
        ([(Outcome.FULL, 12), (Outcome.FULL, 1), (Outcome.FULL, 3)], "b"),
        ([(Outcome.FULL, 12), (Outcome.FULL, None), (Outcome.FULL, 1)], "a"),
        ([(Outcome.FULL, 0), (Outcome.MAY_WAIT, 1)], "b"),
        ([(Outcome.MAY_WAIT, 1), (Outcome.FULL, 0)], "a"),
        ([(Outcome.WAITS, 0), (Outcome.FULL, 9)], "b"),
        ([(Outcome.WAITS, None), (Outcome.MAY_WAIT, 2), (Outcome.MAY_WAIT, 1)], "c"),
        ([(Outcome.FULL, None), (Outcome.MAY_WAIT, None), (Outcome.MAY_WAIT, 1)], "b"),
    ],
)
def test_machines_that_are_free_come_before_a_shorter_queue(
    verdicts: list[tuple[Outcome, int | None]], taken: str
) -> None:
    """A cluster that was full for days was taken before one with two machines of three free, where one job waited."""
    those = [on(name, replace(FULL, outcome=what, queue=n)) for name, (what, n) in zip("abc", verdicts, strict=False)]
    assert choose("t", those).taken.candidate.offer.cluster == taken


def on(cluster: str, verdict: Verdict) -> JudgedCandidate:
    judgement = judged("pool", verdict)
    return replace(
        judgement, candidate=replace(judgement.candidate, offer=replace(judgement.candidate.offer, cluster=cluster))
    )


def test_a_planned_wait_is_kept_though_another_offer_could_run_now() -> None:
    assert (
        choose("t", [judged("pool", FULL, wait=1800.0), judged("spot", FINE)]).taken.candidate.offer.capacity_type
        == "pool"
    )


def test_where_several_offers_would_wait_the_choice_is_a_persons(snapshot: SnapshotAssertion) -> None:
    with pytest.raises(PolicyError) as error:
        choose("gemma2-lora", [judged("pool", FULL), judged("flex-start", BUSY)])
    assert str(error.value).splitlines() == snapshot
    assert error.value.exit_code == 5
    chosen = choose("t", [judged("pool", FULL), judged("flex-start", BUSY)], may_wait=True)
    assert chosen.taken.candidate.offer.capacity_type == "pool"


def test_where_quota_is_short_the_fix_is_a_command(snapshot: SnapshotAssertion) -> None:  # Z2
    """It works as it is typed, whatever parameters made the job that large."""
    short = replace(NEVER, lacking=(("preemptible_cpus", 24), ("preemptible_nvidia_l4_gpus", 4)))
    with pytest.raises(PolicyError) as error:
        choose("t", [judged("spot", short)])
    assert error.value.fix.splitlines()[1:] == snapshot
    other = replace(NEVER, lacking=(("nvidia_l4_gpus", 4),))
    with pytest.raises(PolicyError) as error:  # Spot needs both of its own, on-demand a third one instead.
        choose("t", [judged("spot", short), judged("flex-start", short), judged("on-demand", other)])
    assert error.value.fix.splitlines()[1:] == snapshot
    with pytest.raises(PolicyError) as error:
        choose("t", [judged("pool", FULL), judged("flex-start", replace(BUSY, lacking=(("h100_gpus", 16),)))])
    assert "h100_gpus=16" in error.value.fix


def test_a_cluster_that_only_an_edit_brings_back_is_not_waited_for() -> None:  # B6, N3
    """`wait until it is there again` was said of a season that has ended and has no later one."""
    offer = Offer("pool", False, "out of season since …", "", (), UNKNOWN, {}, dormant="big")
    over = replace(judged("pool", NEVER), verdict=Verdict(Outcome.NEVER, "can't run now on big", (offer.why,)))
    over = replace(over, candidate=replace(over.candidate, offer=offer, edit="a later `until`"))
    coming = replace(over, candidate=replace(over.candidate, offer=replace(offer, dormant="cpu"), edit=""))
    edit = "have a later `until` of big declared"
    for seen, ways in (
        ([over], [edit, "or take another pool or capacity type, where it has one: slipway templates show t"]),
        ([over, judged("spot", NEVER)], [edit, "or ask for less, or for something else: slipway templates show t"]),
        ([coming, over], ["wait until cpu is there again: slipway pools", f"or {edit}"]),
    ):
        with pytest.raises(PolicyError) as error:
            choose("t", seen)
        assert error.value.fix.splitlines()[:2] == ways


def test_a_broken_cluster_is_the_news_where_no_other_offer_is_left() -> None:
    gone = broken(judged("pool", FULL).candidate, ResourceError("cluster h100 is gone", why="404", fix="pulumi up"))
    with pytest.raises(ResourceError, match="cluster h100 is gone") as error:
        choose("t", [gone, judged("spot", NEVER)])
    assert error.value.exit_code == 4 and "needs 24, limit 1" in error.value.why
    assert choose("t", [gone, judged("spot", FINE)]).taken.candidate.offer.capacity_type == "spot"


def test_a_reason_that_all_offers_share_is_said_once_and_quota_only_where_it_lacks(snapshot: SnapshotAssertion) -> None:
    small = Verdict(Outcome.NEVER, "can never run", ("27b has 54.5 GB of weights: take H100",))
    with pytest.raises(PolicyError) as error:
        choose("gemma2-lora", [judged("spot", small), judged("flex-start", small)])
    assert str(error.value).splitlines() == snapshot


def test_a_pool_that_is_named_is_the_only_offer() -> None:  # P4
    found = catalog(launcher=True)
    pool, *others = (template := found.templates["digits"]).offers
    more = (
        pool,
        replace(pool, cluster="", pools=(), dormant="h100"),
        replace(pool, cluster="big", pools=("a", "", "b")),
    )
    found = replace(found, templates={"digits": replace(template, offers=(*more, *others))})

    def taken(asked: str, **fields: Any) -> list[tuple[str, float | None]]:
        prepared = prepare(found, SubmissionRequest("digits", pool=asked, **fields), "ada")
        return [(offer.cluster or offer.dormant, wait) for offer, wait in prepared.offers]

    assert taken("big/b") == taken("big/a", capacity_type="pool") == [("big", None)]
    assert taken("cpu/workers") == [("cpu", None)] and taken("h100/workers") == [("h100", None)], "told when it is away"
    for asked, fields, said in (
        ("cpu/worker", {}, "digits is not offered on pool 'cpu/worker'; it fits cpu/workers, big/a or big/b"),
        ("cpu", {}, "pool='cpu/workers'"),
        ("big/a", {"then": ("spot",)}, "pool big/a is the only one to use, so nothing can come after it"),
        ("big/a", {"waits": {"pool": 60.0}}, "pool big/a is the only one to use"),
        ("big/a", {"capacity_type": "spot"}, "pool big/a has no machines of capacity type spot"),
    ):
        with pytest.raises(ConfigError) as refused:
            taken(asked, **fields)
        assert said in f"{refused.value.what}; {refused.value.why}; {refused.value.fix}"


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
    return by_quota({**PLENTY, **limits}, active, beside_clusters, Offer(by, True, "", "", (), UNKNOWN, THREE), wait)


SPOT = Offer("spot", True, "", "", (), UNKNOWN, THREE)


def candidate(offer: Offer, wait: float | None = None, kind: JobKind = CUSTOM_JOB) -> Candidate:
    return PreparedSubmission(CATALOG, TEMPLATE, kind, {}, ((offer, wait),), "", ASKED).candidates[0]


def by_quota(
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
    judged = verdict({CPUS: 24}, TUNE)
    assert judged.lacking == ((CPUS, 40),) and judged.why == (f"quota {CPUS} us-central1: needs 24, limit 24, used 16",)
    assert verdict({CPUS: 23}, TUNE).lacking == ((CPUS, 40),)
    assert by_quota({CPUS: 23}, None, None).lacking == ((CPUS, 24),)
    assert verdict({CPUS: 64}, TUNE).lacking == ()


def test_a_limit_without_what_is_in_use_is_not_called_enough() -> None:
    unread = "cannot tell whether quota suffices: the limits do, what is in use could not be read"
    for active, clusters in ((None, ()), ((), None)):
        by_metric = by_quota({**PLENTY, CPUS: 24, DISKS: 300}, active, clusters)
        assert by_metric.outcome is Outcome.BESIDE and by_metric.text.endswith(f"; {unread}")
    assert by_quota({CPUS: 23}, None, None).outcome is Outcome.NEVER


def test_quota_suffices_only_where_all_that_the_job_draws_was_read() -> None:  # P5, N3
    """Quota was said to suffice for Spot without its disks and A2 without its vCPUs: QUEUED for ever, or 429."""
    no_role = NotRead("denied")
    cases: tuple[tuple[Limits, str], ...] = (
        ({CPUS: 24}, "PD SSD GB not read: the service lists no such quota"),
        ({CPUS: 24, DISKS: no_role}, "PD SSD GB not read: denied"),
        ({CPUS: no_role, DISKS: no_role}, "vCPUs and PD SSD GB not read: denied"),
        ({}, "vCPUs and PD SSD GB not read: the service lists no such quota"),
    )
    for limits, unread in cases:
        by_metric = by_quota(limits, (), ())
        assert by_metric.outcome is Outcome.BESIDE and by_metric.text.endswith(f"; quota of {unread}")
    assert by_quota({CPUS: 23}, (), ()).outcome is Outcome.NEVER, "what is short is short, whatever else was not read"


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
    text = by_quota(limits, (), (), offer).text
    assert f"; quota of {unread}" in text and text.endswith("not read: none is known")
