"""Whether preemptible quota has room for a job beside the pools."""

from slipway.submit.headroom import Limits, NotChecked, beside
from slipway.submit.verdict import Outcome, Verdict

from .conftest import N1, demand, job

CPUS = "custom_model_training_preemptible_cpus"
THREE = demand(("workers", "", N1, 3))


def verdict(limits: Limits, *active: object) -> Verdict:
    return beside("spot", THREE, "us-central1", limits, active)  # type: ignore[arg-type]


def test_quota_suffices() -> None:
    found = verdict({CPUS: 24})
    assert found.outcome is Outcome.BESIDE
    assert (
        found.text == "spot: runs beside the pools on 3 machines of its own; quota suffices, machines are not promised"
    )


def test_a_limit_too_small_means_never() -> None:
    found = verdict({CPUS: 23})
    assert found.outcome is Outcome.NEVER
    assert found.why == (f"quota {CPUS} us-central1: needs 24, limit 23",)


def test_a_limit_in_use_means_waiting() -> None:  # N9
    spot = job("tune", 2, on="", strategy="SPOT")
    found = verdict({CPUS: 24}, spot)
    assert found.outcome is Outcome.WAITS
    assert found.text.endswith("waits for preemptible quota: vCPUs needs 24, 16 of 24 used")


def test_jobs_on_a_pool_draw_no_preemptible_quota() -> None:
    assert verdict({CPUS: 24}, job("tune", 2)).outcome is Outcome.BESIDE


def test_without_the_role_it_is_not_checked_and_never_refused() -> None:  # P5
    found = verdict({CPUS: NotChecked("denied (needs roles/cloudquotas.viewer)")})
    assert found.outcome is Outcome.BESIDE
    assert found.text.endswith("quota not checked: denied (needs roles/cloudquotas.viewer)")


def test_unlimited_is_enough() -> None:
    assert verdict({CPUS: -1}).outcome is Outcome.BESIDE
