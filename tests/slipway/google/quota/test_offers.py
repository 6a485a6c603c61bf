"""Quota that offers draw, by metric, and how it is told."""

from dataclasses import replace
from textwrap import dedent

import pytest

from slipway.base.errors import PolicyError
from slipway.google.live import Increase, Unknown
from slipway.google.quota.assessment import assess
from slipway.google.quota.metrics import Need, label, needs, needs_of, quota_id
from slipway.google.quota.report import OfferDraw, QuotaReport, quota_text, refuse_shortage
from slipway.model.findings.finding import Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.kinds import TUNING_JOB
from slipway.model.machines.spec import Disk, MachineGroup, MachineSpec
from slipway.model.machines.table import accelerators, machine, machine_types
from slipway.model.origin import Origin

from .region import (
    CPUS,
    DENIED,
    H100,
    POOL,
    REGION,
    SPOT,
    SPOT_CPUS,
    SPOT_H100,
    SSD,
    M,
    cluster,
    cpu,
    h100,
    job,
    judge,
    machines,
    region,
    row,
    wanted,
)

NO_DISK = Disk("hyperdisk-balanced", 100)


def one(type_: str, accelerator: str | None = None, count: int | None = None, disk: Disk | None = None) -> MachineGroup:
    return MachineGroup(MachineSpec(type_, accelerator, count or 0, disk or Disk("pd-ssd")), 1)


def metrics(type_: str, accelerator: str | None = None, count: int | None = None, *, spot: bool = False) -> list[str]:
    found = needs(one(type_, accelerator, count, NO_DISK), preemptible=spot)
    return [need.metric.removeprefix(M) for need in found]


@pytest.mark.parametrize(
    ("type_", "accelerator", "count", "metric", "infix", "preemptible"),
    [
        ("n1-standard-8", "NVIDIA_TESLA_T4", 1, "nvidia_t4_gpus", "T4GPUs", True),
        ("n1-standard-8", "NVIDIA_TESLA_V100", 1, "nvidia_v100_gpus", "V100GPUs", True),
        ("g2-standard-4", None, None, "nvidia_l4_gpus", "L4GPUs", True),
        ("a2-highgpu-1g", None, None, "nvidia_a100_gpus", "A100GPUs", True),
        ("a2-ultragpu-1g", None, None, "nvidia_a100_80gb_gpus", "A10080GBGPUs", True),
        ("a3-highgpu-8g", None, None, "nvidia_h100_gpus", "H100GPUs", True),
        ("a3-megagpu-8g", None, None, "nvidia_h100_mega_gpus", "H100MEGAGPUs", True),
        ("a3-ultragpu-8g", None, None, "nvidia_h200_gpus", "H200GPUs", True),
        ("a4-highgpu-8g", None, None, "nvidia_b200_gpus", "B200GPUs", True),
        ("a4x-highgpu-4g", None, None, "nvidia_gb200_gpus", "GB200GPUs", False),
        ("g4-standard-48", None, None, "nvidia_rtx_pro_6000_gpus", "RTXPRO6000GPUs", True),
        ("ct5lp-hightpu-4t", None, None, "tpu_v5e", "V5ETPU", False),
        ("ct6e-standard-8t", None, None, "tpu_v6e", "V6ETPU", False),
        ("cloud-tpu", "TPU_V3", 8, "tpu_v3", "V3TPUs", False),
        ("tpu7x-standard-4t", None, None, "tpu7x", "7XTPU", False),
    ],
)
def test_each_accelerator_has_its_metrics_and_quotas(
    type_: str, accelerator: str | None, count: int | None, metric: str, infix: str, preemptible: bool
) -> None:  # D2, W6
    """The rows of vertex-rules 4.3: a machine with each, and its quota id's infix."""
    assert metrics(type_, accelerator, count)[0] == metric
    assert quota_id(f"{M}{metric}") == f"CustomModelTraining{infix}PerProjectPerRegion"
    spot = [item for item in metrics(type_, accelerator, count, spot=True) if item != "preemptible_cpus"]
    assert spot == ([f"preemptible_{metric}"] if preemptible else [])
    if preemptible:
        assert quota_id(f"{M}{spot[0]}") == f"CustomModelTrainingPreemptible{infix}PerProjectPerRegion"


@pytest.mark.parametrize(("type_", "amount"), [("ct5lp-hightpu-4t", 8), ("cloud-tpu", 16)])
def test_tpus_are_counted_in_chips(type_: str, amount: int) -> None:
    group = MachineGroup(MachineSpec(type_, *(("TPU_V3", 8) if type_ == "cloud-tpu" else (None, 0))), 2)
    chips, disk = needs_of((group,))
    assert chips.amount == amount and label(chips.metric).endswith(" chips")
    assert (disk.metric, disk.amount) == (SSD, 200)
    assert [need.metric for need in needs_of((group,), preemptible=True)] == [SSD]


@pytest.mark.parametrize(
    ("type_", "metric"),
    [
        ("n1-standard-8", "cpus"),
        ("e2-standard-4", "cpus"),
        ("n2-standard-4", "n2_cpus"),
        ("m1-megamem-96", "m1_cpus"),
        ("a2-highgpu-1g", "a2_cpus"),
        ("a3-megagpu-8g", "a3_cpus"),
        ("a4x-highgpu-4g", "a4x_cpus"),
        ("g2-standard-8", "g2_cpus"),
    ],
)
def test_cpu_metrics_by_family_and_one_for_all_that_is_preemptible(type_: str, metric: str) -> None:  # D2
    assert metrics(type_)[-1] == metric
    assert metrics(type_, spot=True)[-1] == "preemptible_cpus"


def test_amounts_are_gpus_vcpus_and_gb_over_all_replicas() -> None:  # D2, N6
    assert needs(MachineGroup(MachineSpec("a3-highgpu-8g", disk=Disk("pd-ssd", 500)), 3)) == (
        Need(H100, 24),
        Need(f"{M}a3_cpus", 624),
        Need(SSD, 1500),
    )
    assert needs_of((machines(h100(), 1), machines(cpu(), 2)), preemptible=True) == (
        Need(SPOT_H100, 8),
        Need(SPOT_CPUS, 208 + 16),
        Need(SSD, 700),
    )
    assert needs_of(()) == ()


def test_of_cpus_and_disks_only_the_preemptible_have_an_id_by_a_pattern() -> None:
    assert quota_id(SPOT_CPUS) == "CustomModelTrainingPreemptibleCPUsPerProjectPerRegion"
    assert not any(map(quota_id, (CPUS, f"{M}a3_cpus", SSD)))


def test_every_machine_and_accelerator_has_its_metrics() -> None:
    seen = set()
    for type_ in machine_types():
        shape = machine(type_)
        seen |= {shape.accelerator}
        assert needs(one(type_))[-1].metric == SSD
    for accelerator in set(accelerators()) - seen:
        assert label(metrics("n1-highcpu-64", accelerator, 8 if "V100" in accelerator else 4)[0]) is not None


def test_an_offer_without_quota_is_unavailable_in_words_and_the_deployment_goes_on() -> None:  # D2, W6, N3
    live = region(increase=Increase.TOO_LITTLE_HISTORY)
    report = judge(live=live, offers=(POOL, SPOT))
    assert report.errors == ()
    assert report.offers["train"]["pool"].available
    spot = report.offers["train"]["spot"]
    assert not spot.available
    assert spot.lacks_quota
    lacking = f"{SPOT_CPUS} {REGION}: needs 208, limit 1, short by 207"
    assert lacking in spot.why and spot.why.endswith("too little usage history")
    (warning,) = report.findings
    assert warning.key == ("offer-unavailable", f"quota {SPOT_CPUS}")
    assert "limit 1, is too little for spot of train (needs 208)" in warning.sentence and warning.sentence.endswith(
        "too little usage history"
    )
    assert row(report, SPOT_CPUS) == (None, 208, 1, 0, "spot unavailable: short by 207")
    assert row(report, SPOT_H100) == (None, 8, 8, 0, "ok")
    assert judge(live=live, offers=(POOL, SPOT), strict=True).errors


def test_what_a_template_refuses_by_itself_is_no_warning() -> None:
    refused = OfferDraw("train", "spot", "spot (model=27b)", refusal="27b needs an A100", intended=True)
    report = judge(live=region(), offers=(POOL, refused))
    assert report.warnings == () and not report.offers["train"]["spot (model=27b)"].available


def test_a_template_that_no_capacity_type_can_run_is_an_error() -> None:  # D2, N3
    (error,) = (finding for finding in judge(live=region(), offers=(SPOT,)).findings if finding.grade is Grade.BLOCKING)
    assert error.key == ("no-offer-left", "template train") and "spot: quota:" in error.sentence


def test_the_trials_of_a_tuning_job_are_counted_once() -> None:  # W5
    tuning = job(h100(), 3, kind=TUNING_JOB)
    trial, other = replace(job(h100(), 1), display_name="j-trial-1"), replace(job(h100(), 1), display_name="k")
    report = judge(wanted("h100", h100()), live=region(jobs=(tuning, trial, other)))
    assert row(report, H100)[3] == 32
    ended = replace(tuning, state="JOB_STATE_SUCCEEDED")
    report = judge(wanted("h100", h100()), live=region(jobs=(ended, trial, other)))
    assert row(report, H100)[3] == 16


def test_what_runs_now_makes_no_offer_unavailable() -> None:
    live = region(jobs=(job(h100(), 1, spot=True),), preemptible_cpus=500)
    report = judge(live=live, offers=(SPOT,))
    assert report.offers["train"]["spot"].available
    assert row(report, SPOT_H100) == (None, 8, 8, 8, "ok")


def test_an_offer_that_the_stack_rules_out_says_why_and_draws_nothing() -> None:  # N3
    why = "the stack declares no reservation 'h100'"
    refused = OfferDraw("train", "reservation", "reservation", refusal=why)
    report = judge(live=region(), offers=(POOL, refused))
    assert report.offers["train"]["reservation"].why == why
    assert not report.offers["train"]["reservation"].available
    assert report.lines == ()
    (error,) = judge(live=region(), offers=(refused,)).errors
    assert error.endswith(f"reservation: {why}")


def test_lacking_quota_of_a_reservation_is_told_and_no_hindrance() -> None:  # Z6: no page says whether it draws any
    reserved = OfferDraw("train", "reservation", "reservation", (machines(h100(), 5),), doubtful=True)
    report = judge(live=region(), offers=(reserved,))
    assert report.errors == ()
    found = report.offers["train"]["reservation"]
    assert found.available
    assert found.why.startswith("it may not start: Google does not say ")
    assert "needs 40, limit 32" in found.why
    assert row(report, H100) == (None, 40, 32, 0, "ok")


def test_the_stacks_own_pools_are_no_others_of_its_offers() -> None:  # D2
    own, name = h100(), OfferDraw("train", "on-demand", "on-demand", (machines(h100(), 1),))
    alive = region(cluster("h100-1a2b3c4", own, replicas=2), cluster("theirs", own, replicas=1))
    report = judge(wanted("h100", own, lives=True), live=alive, offers=(name,))
    assert [line.others for line in report.lines if line.metric == H100] == [8, 8]


# What can't be told.


# fmt: off
EXPECTED = """
    us-central1                                                NOW  CEILING   LIMIT  USED BY OTHERS  VERDICT
    on-demand    H100 GPUs  pool h100/workers, 1–4 machines     24       32      32               0  ok
                 A3 vCPUs   pool h100/workers, 1–4 machines    624      832       ∞               –  ok
                 PD SSD GB  pool h100/workers, 1–4 machines  1,500    2,000  75,000             500  ok
                 PD SSD GB  lora spot                            –      500  75,000             500  ok
    preemptible  H100 GPUs  lora spot                            –        8       8               0  ok
                 vCPUs      lora spot                            –      208       1               0  spot unavailable: short by 207 · increase can be requested
"""  # noqa: E501 - the screen is as wide as it is
# fmt: on


def test_the_table() -> None:  # N6
    live = region(
        cluster("h100-1a2b3c4", h100(), replicas=3),
        cluster("lab", replace(cpu(), autoscaled=False), replicas=5),
        increase=Increase.POSSIBLE,
    )
    offers = (
        OfferDraw("lora", "pool", "pool"),
        OfferDraw("lora", "spot", "spot", (machines(h100(), 1),), preemptible=True),
    )
    report = assess((wanted("h100", h100(), lives=True),), live, region=REGION, offers=offers, preview=True)
    assert quota_text(report) == dedent(EXPECTED).strip("\n")


SHORT = KINDS["quota-short-now"].of(Subject("quota", "x"), "quota x is short by 5")


def test_errors_stop_the_deployment() -> None:  # D2
    refuse_shortage(QuotaReport(findings=(replace(SHORT, grade=Grade.WARNING),)), REGION, Origin("prod"))
    with pytest.raises(PolicyError) as error:
        refuse_shortage(
            QuotaReport(findings=(SHORT, replace(SHORT, sentence="quota y is short by 6"))), REGION, Origin("prod")
        )
    assert f"not suffice in {REGION}," in error.value.what
    assert [line.split()[1] for line in error.value.why.splitlines()] == ["x", "y"]
    assert error.value.exit_code == 5 and "mode: warn" in error.value.fix
    for kind, way, facts in (
        ("no-offer-left", "mode: warn", {"mended_by": ()}),  # It lacks a reservation, which no quota mends.
        ("offer-unavailable", "leaving `strict` out", {}),
    ):
        found = KINDS[kind].of(Subject("template", "x"), "template x")
        finding = replace(found, grade=Grade.BLOCKING, facts=facts)
        with pytest.raises(PolicyError, match="nothing was changed") as error:
            refuse_shortage(QuotaReport(findings=(finding,)), REGION, Origin("prod"))
        assert way in error.value.fix
        assert ("quota" in error.value.what) is (kind == "offer-unavailable")
    lacking = KINDS["no-offer-left"].of(Subject("template", "x"), "x", mended_by=(frozenset({"cpus"}),))
    with pytest.raises(PolicyError, match="quota does not suffice in us-central1, so"):
        refuse_shortage(QuotaReport(findings=(lacking,)), REGION, Origin("prod"))
    fits_nothing = replace(lacking, facts={"mended_by": ()})
    with pytest.raises(PolicyError, match="not suffice in us-central1, and templates lack what they need, so") as error:
        refuse_shortage(QuotaReport(findings=(lacking, fits_nothing)), REGION, Origin("prod"))
    assert "declare what templates lack, or take what can't be had out of their capacity types;" in error.value.fix


def test_quota_that_can_not_be_read_is_not_told_as_quota_that_lacks() -> None:  # N4
    """Asking for more would fail for the same reason."""
    advice = "gcloud auth application-default set-quota-project PROJECT"
    unread = Unknown("a person's own login", "cloudquotas.googleapis.com quotaInfos.list", "", advice=advice)
    report = judge(wanted("h100", h100()), live=replace(region(), limits=unread))
    with pytest.raises(PolicyError) as error:
        refuse_shortage(report, REGION, Origin("prod"))
    assert error.value.what == "cannot tell whether quota suffices in us-central1, so nothing was changed"
    assert error.value.fix == f"{advice}; `slipway:quota: {{mode: warn}}` deploys all the same"
    denied = judge(wanted("h100", h100()), live=replace(region(), limits=DENIED))
    with pytest.raises(PolicyError) as error:
        refuse_shortage(denied, REGION, Origin("prod"))
    assert error.value.fix.startswith("ask for roles/cloudquotas.viewer; ")
