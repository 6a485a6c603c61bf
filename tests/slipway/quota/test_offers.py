"""An offer whose quota lacks is unavailable in words, and the deployment goes on. # D2 # N3 # W6"""

from dataclasses import replace

from syrupy.assertion import SnapshotAssertion

from slipway.findings.finding import Grade
from slipway.kinds import TUNING_JOB
from slipway.live import Increase
from slipway.quota.report import OfferDraw

from .region import (
    H100,
    POOL,
    REGION,
    SPOT,
    SPOT_CPUS,
    SPOT_H100,
    SSD,
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
    assert "train needs 208 with spot" in warning.sentence and warning.sentence.endswith("too little usage history")
    assert row(report, SPOT_CPUS) == (None, 208, 1, 0, "spot unavailable: short by 207")
    assert row(report, SPOT_H100) == (None, 8, 8, 0, "ok")
    assert judge(live=live, offers=(POOL, SPOT), strict=True).errors


def test_a_metric_that_is_too_small_is_one_line_whatever_draws_it(snapshot: SnapshotAssertion) -> None:  # N3, N6
    machine = machines(h100(), 1)
    cases = [f"{name} (model={model})" for name in ("spot", "flex-start") for model in ("2b", "9b")]
    large = tuple(OfferDraw("tune", case.split()[0], case, (machine,), preemptible=True) for case in cases)
    small = OfferDraw("train", "spot", "spot (model=2b)", (machines(cpu(), 1),), preemptible=True)
    report = judge(
        live=region(preemptible_nvidia_h100_gpus=0), offers=(POOL, OfferDraw("tune", "pool", "pool"), *large, small)
    )
    gpus, cpus = report.findings
    assert (gpus.subject, cpus.subject) == (f"quota {SPOT_H100}", f"quota {SPOT_CPUS}")
    assert gpus.sentence == snapshot
    assert cpus.sentence == snapshot


def test_any_other_reason_is_one_line_as_well() -> None:  # N3
    why = "the stack declares no reservation 'h100'"
    ruled_out = tuple(OfferDraw(name, "reservation", "reservation", refusal=why) for name in ("train", "tune"))
    report = judge(live=region(), offers=(POOL, OfferDraw("tune", "pool", "pool"), *ruled_out))
    (warning,) = report.findings
    assert warning.key == ("offer-unavailable", "offers") and warning.sentence.endswith(why)
    assert "train" in warning.sentence and "tune" in warning.sentence


def test_what_a_template_refuses_by_itself_is_no_warning() -> None:
    refused = OfferDraw("train", "spot", "spot (model=27b)", refusal="27b needs an A100", intended=True)
    report = judge(live=region(), offers=(POOL, refused))
    assert report.warnings == () and not report.offers["train"]["spot (model=27b)"].available


def test_preemptible_gpus_cpus_and_disks_are_all_checked() -> None:  # D2, W6
    live = region(preemptible_nvidia_h100_gpus=0, pd_ssd=100)
    why = judge(live=live, offers=(POOL, SPOT)).offers["train"]["spot"].why
    assert SPOT_H100 in why and SPOT_CPUS in why and SSD in why


def test_a_template_that_no_capacity_type_can_run_is_an_error() -> None:  # D2, N3
    (error,) = (one for one in judge(live=region(), offers=(SPOT,)).findings if one.grade is Grade.BLOCKING)
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


def test_many_offers_make_one_row() -> None:
    offers = tuple(OfferDraw(f"t{n}", "spot", "spot", (machines(cpu(), n),), preemptible=True) for n in range(1, 5))
    (line,) = (
        line for line in judge(live=region(preemptible_cpus=500), offers=offers).lines if line.metric == SPOT_CPUS
    )
    assert line.who.startswith("t4 spot, t3 spot") and line.ceiling == 32


def test_an_offer_that_the_stack_rules_out_says_why_and_draws_nothing() -> None:  # N3
    why = "the stack declares no reservation 'h100'"
    refused = OfferDraw("train", "reservation", "reservation", refusal=why)
    report = judge(live=region(), offers=(POOL, refused))
    assert report.offers["train"]["reservation"].why == why
    assert not report.offers["train"]["reservation"].available
    assert report.lines == ()
    (error,) = judge(live=region(), offers=(refused,)).errors
    assert error.endswith(f"reservation: {why}")


def test_an_offer_is_short_by_what_it_lacks_itself_not_by_what_a_reservation_may_draw() -> None:
    reserved = OfferDraw("train", "reservation", "reservation", (machines(h100(), 5),), doubtful=True)
    own = OfferDraw("train", "on-demand", "on-demand", (machines(h100(), 2),))
    report = judge(live=region(nvidia_h100_gpus=8), offers=(POOL, reserved, own))
    (line,) = (line for line in report.lines if line.metric == H100)
    assert line.verdict == "on-demand unavailable: short by 8"
    assert (line.ceiling, line.enough) == (40, 16)


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
