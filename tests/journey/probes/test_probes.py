"""Each probe finds what the local cloud was set to, whatever it was set to, and leaves nothing. (N15)"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from vertex_local.testing.calling import REGION

from journey.probes.cost import cost
from journey.probes.outputs import bucket_of
from journey.probes.probe import Finding
from journey.probes.reservations import on, reserved
from journey.probes.run import ask
from journey.probes.service import ACCOUNT, STACK
from journey.probes.table import PROBES
from journey.sweep import Ours, Sweep
from slipway.base.errors import ConfigError
from slipway.model.machines.spec import MachineSpec
from tests.journey.probes.conftest import PROJECT, Asked, Killed

_PROBES = {probe.id: probe for probe in PROBES}
_CASES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("cluster-times", {"create_seconds": 0, "reboot_seconds": 0, "delete_seconds": 0}),
    ("cluster-times", {"create_seconds": 300, "reboot_seconds": 120, "delete_seconds": 60}),
    *(("patch-refusal", {"patch_refusal": code}) for code in ("INVALID_ARGUMENT", "FAILED_PRECONDITION")),
    *(("cluster-quota", {"cluster_quota": how}) for how in ("reject", "error")),
    *(("full-pool", {"full_pool": how}) for how in ("queue", "reject")),
    *(("job-account", {"job_service_account": how}) for how in ("reject", "accept")),
    ("env-values", {"env_apostrophe": "reject", "env_blank": "accept"}),
    ("env-values", {"env_apostrophe": "accept", "env_blank": "reject"}),
    *(("machine-disk", {"machine_disk": how}) for how in ("reject", "accept")),
    ("output-bucket", {"output_missing": "reject", "output_elsewhere": "accept"}),
    ("output-bucket", {"output_missing": "accept", "output_elsewhere": "reject"}),
    *(("timeout-state", {"timeout_state": state}) for state in ("JOB_STATE_CANCELLED", "JOB_STATE_FAILED")),
    *(("machine-seconds", {"machine_seconds": seconds}) for seconds in (0, 240)),
    *(("kill-grace", {"kill_grace_seconds": seconds}) for seconds in (5, 30)),
    *(("failed-trials", {"failed_trials": count}) for count in (2, 5)),
    ("worker-restarts", {"worker_restarts": 5, "worker_restart_seconds": 0, "job_retries": 3}),
    ("worker-restarts", {"worker_restarts": 2, "worker_restart_seconds": 60, "job_retries": 0}),
    ("worker-restarts", {"worker_restarts": 0, "job_retries": 1}),
    *(("job-retries", {"job_retries": count}) for count in (0, 3)),
    *(("restart-codes", {"worker_restart_codes": codes}) for codes in ("129,130,143", "1", "")),
    *(("flex-expiry", {"flex_expiry_state": state}) for state in ("JOB_STATE_FAILED", "JOB_STATE_EXPIRED")),
    *(("calendar-reservation", {"calendar_reservations": how}) for how in ("consumable", "refused")),
    *(("spot-reservation", {"spot_reservation": how}) for how in ("reject", "ignore")),
    *(
        ("quota-eligibility", {"quota_ineligible": reason})
        for reason in ("", "NO_VALID_BILLING_ACCOUNT", "NOT_SUPPORTED", "NOT_ENOUGH_USAGE_HISTORY", "OTHER")
    ),
    *(("quota-grants", {"quota_grant_ceiling": most}) for most in (-1, 4)),
    *(("quota-series", {"quota_series": there}) for there in (True, False)),
    ("autoscaling", {"scale_up_seconds": 0, "scale_idle_seconds": 300, "scale_down_seconds": 0}),
    ("autoscaling", {"scale_up_seconds": 120, "scale_idle_seconds": 600, "scale_down_seconds": 60}),
)
CALENDAR, H100 = (
    f"projects/{PROJECT}/zones/{REGION}-a/reservations/h100",
    MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8),
)
_L4 = "custom_model_training_nvidia_l4_gpus"
_FLEX = ("preemptible_nvidia_a100_gpus", "preemptible_cpus")


def found(asked: Asked, name: str) -> Finding:
    """What a probe finds, with the cluster that it shares with others."""
    kept: dict[str, Finding] = {}
    until = asked.service.now() + timedelta(hours=10)
    ask(asked.service, (_PROBES[name],), until, lambda probe, finding: kept.update({probe.id: finding}))
    return kept[name]


def ready(asked: Asked, name: str) -> None:
    """What a project has to have for a probe to find something."""
    asked.set(**{f"quota.custom_model_training_{quota}": 1000 for quota in _FLEX}, **{f"quota.{_L4}": 0})
    if name == "flex-expiry":
        none = {"region": REGION, "machine": "a2-highgpu-1g", "strategy": "flex-start", "at": 0, "machines": 0}
        asked.scenario(supply=[none])
    if name == "calendar-reservation":
        asked.set(**{"quota.custom_model_training_nvidia_h100_gpus": 8})
        window = {"machine": H100.type, "count": 1, "from": 0, "until": 86400}
        asked.scenario(reservations={CALENDAR: window})
        asked.service = replace(asked.service, reserved=(CALENDAR, H100))
    if name == "quota-grants":
        preference = {
            "service": "aiplatform.googleapis.com",
            "quotaId": "CustomModelTrainingL4GPUsPerProjectPerRegion",
            "dimensions": {"region": REGION},
            "quotaConfig": {"preferredValue": "8"},
            "contactEmail": "ada@company.example",
        }
        asked.calling.call("POST", f"/v1/projects/{PROJECT}/locations/global/quotaPreferences", preference)


@pytest.mark.parametrize(("name", "values"), _CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_probe_finds_what_was_set_and_leaves_nothing(asked: Asked, name: str, values: Mapping[str, Any]) -> None:
    asked.set(**values)
    ready(asked, name)
    finding = found(asked, name)
    for setting in _PROBES[name].settings:
        if setting not in values:
            continue
        assert setting in finding.settings, finding
        given, told = values[setting], finding.settings[setting]
        if setting.endswith("_seconds") and setting != "kill_grace_seconds":
            # Seen in looks that are ten seconds apart.
            assert isinstance(told, int | float)
            assert 0 <= told - given <= 2 * asked.service.poll, finding
        else:
            assert (told, type(told)) == (given, type(given)), finding
    assert finding.evidence
    assert asked.left() == []


def test_the_limits_are_those_of_the_project_in_any_region(asked: Asked) -> None:
    asked = replace(asked, service=replace(asked.service, region="europe-west4"))
    asked.set(**{"quota.custom_model_training_preemptible_cpus.europe-west4": 17, f"quota.{_L4}": 3})
    told = found(asked, "quota-limits").settings
    assert told["quota.custom_model_training_preemptible_cpus.europe-west4"] == 17
    assert told[f"quota.{_L4}.europe-west4"] == 3
    assert len(told) > 20
    assert found(asked, "patch-refusal").settings == {"patch_refusal": "FAILED_PRECONDITION"}


def test_what_can_not_be_told_stays_unknown_in_words(asked: Asked) -> None:
    asked.set(**{f"quota.{_L4}": 8}, quota_grant_ceiling=4)
    for name, said in (
        # It asks only for what it can't get.
        ("cluster-quota", "the quota of L4 is 8 here"),
        # Nobody has asked for any.
        ("quota-grants", "nothing that was asked for in us-central1"),
        # The local cloud's preemptible CPUs are too few.
        ("flex-expiry", "the job was refused"),
    ):
        finding = found(asked, name)
        assert finding.settings == {}
        assert finding.answer.startswith("unknown: ")
        assert said in finding.answer
    asked.set(create_error="verify-probes")
    finding = found(asked, "full-pool")
    assert (finding.answer, finding.settings) == (
        "unknown: the cluster that probes share did not run within 20 minutes",
        {},
    )
    assert "Resources are insufficient" in finding.evidence
    assert asked.left() == []


def test_an_a100_that_a_probe_gets_is_given_back_at_once(asked: Asked) -> None:
    ready(asked, "")
    finding = found(asked, "flex-expiry")
    assert finding.answer.startswith("unknown: it got its machine")
    assert asked.left() == []


@pytest.mark.parametrize(
    ("name", "posts"),
    [
        ("cluster-times", 1),
        ("full-pool", 3),
        ("job-account", 3),
        ("failed-trials", 2),
        ("autoscaling", 3),
        ("output-bucket", 2),
    ],
)
def test_killed_with_its_last_answer_lost_all_that_it_made_is_found_by_its_label(
    asked: Asked, name: str, posts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked.set(create_seconds=30, scale_up_seconds=60)
    others = asked.calling.cluster("of-others")["name"]
    asked.advance(30)
    sent = 0
    real = asked.wire.request

    def request(method: str, url: str, **body: Any) -> Any:
        nonlocal sent
        answer = real(method, url, **body)
        sent += method == "POST" and not url.endswith("entries:list")
        asked.wire.alive = sent < posts
        return answer

    monkeypatch.setattr(asked.wire, "request", request)
    with pytest.raises(Killed):
        found(asked, name)
    assert len(asked.left()) > 1
    monkeypatch.undo()
    asked.wire.alive = True
    monkeypatch.setattr("journey.sweep.time.sleep", asked.advance)
    account = f"{ACCOUNT}@{PROJECT}.iam.gserviceaccount.com"
    clean = Sweep(
        asked.service.connection, Ours(PROJECT, REGION, STACK, (bucket_of(PROJECT),), account), lambda _: None
    )
    for _ in range(2):
        clean.end_jobs(600)
        clean.delete_rest(600)
    assert asked.left() == [others]


def test_what_does_not_fit_in_the_time_is_not_asked(asked: Asked) -> None:
    kept: dict[str, Finding] = {}
    until = asked.service.now() + timedelta(minutes=10)
    ask(asked.service, PROBES, until, lambda probe, finding: kept.update({probe.id: finding}))
    assert kept.keys() == _PROBES.keys()
    assert kept["quota-eligibility"].settings == {"quota_ineligible": ""}
    assert kept["full-pool"].answer.startswith("unknown: not asked")
    assert (
        asked.calling.call("GET", f"/v1/projects/{PROJECT}/locations/{REGION}/customJobs").get("customJobs", []) == []
    )


def test_without_a_reservation_that_somebody_has_none_is_bought(asked: Asked) -> None:  # N23
    finding = found(asked, "calendar-reservation")
    assert (finding.settings, asked.left()) == ({}, [])
    assert "RESERVATION=projects/… MACHINE=…" in finding.answer
    with pytest.raises(ConfigError, match="no reservation in us-central1"):
        reserved(CALENDAR.replace("us-central1", "us-east4"), H100.type, REGION)
    assert reserved(CALENDAR, H100.type, REGION) == (CALENDAR, H100)


def test_a_named_reservation_s_machine_counts_in_the_price_that_is_asked_for(asked: Asked) -> None:  # N23
    (plain,) = (_PROBES["calendar-reservation"],)
    priced = [cost(on(held, (plain,)), REGION, 60, Decimal(20)).most for held in (None, (CALENDAR, H100))]
    assert priced[1] > priced[0] + 5


def test_a_reservation_whose_machines_others_have_tells_nothing(asked: Asked) -> None:
    ready(asked, "calendar-reservation")
    asked.scenario(reservations={CALENDAR: {"machine": H100.type, "count": 0, "until": 86400}})
    finding = found(asked, "calendar-reservation")
    assert (finding.settings, asked.left()) == ({}, [])
    assert "without machines" in finding.answer and "insufficient" in finding.evidence
