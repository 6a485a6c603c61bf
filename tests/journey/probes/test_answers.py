"""Every open question has a probe or a reason; what was answered is kept, shown and read by the local cloud. (N15)"""

import subprocess
import sys
from dataclasses import fields, replace
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import pytest
from vertex_local import settings
from vertex_local.settings import Settings

from journey import verify_cloud
from journey.probes import answers
from journey.probes.cost import cost, minutes_of, small_machine
from journey.probes.probe import Finding, unknown
from journey.probes.replica import CODE
from journey.probes.table import PROBES, chosen
from journey.probes.unasked import UNASKED
from journey.published import Published
from slipway.base.errors import ConfigError, PolicyError
from slipway.model.machines.spec import MachineSpec
from tests.local.conftest import LocalCloud

TELLING = unknown("not told", "projects/ml-prod/x by ada@acme.example in projects/123456789012/y")
ANSWERED = {
    "full-pool": Finding("accepted, and waits", "JOB_STATE_PENDING | while", {"full_pool": "queue"}),
    "kill-grace": Finding("30.0 s", "121 lines\nafter SIGTERM", {"kill_grace_seconds": 30}),
    "quota-limits": Finding("1 limit", "quotaInfos", {"quota.custom_model_training_cpus.us-east1": 450}),
    "patch-refusal": unknown("refused in a way that no setting has", "HTTP 405"),
}


def test_every_setting_has_a_probe_or_a_reason() -> None:
    asked = [name for probe in PROBES for name in probe.settings]
    reasons = [name for row in UNASKED for name in row.settings]
    assert sorted(asked + reasons) == sorted(item.name for item in fields(Settings))
    for row in UNASKED:
        assert row.would_answer or row.why.startswith(("documented", "the local cloud's own"))


def test_answers_are_kept_and_read_by_the_local_cloud_as_its_settings(tmp_path: Path) -> None:
    kept: answers.Answers = {}
    for name, finding in ANSWERED.items():
        kept = answers.with_finding(kept, name, finding, "2026-11-20T10:00:00+00:00")
    kept = answers.with_finding(kept, "job-account", TELLING, "2026-11-20T10:00:00+00:00")
    origin = Published("ml-prod", "us-east1", tmp_path, datetime(2026, 11, 20, tzinfo=UTC), "at most $1.50")
    answers.write(tmp_path, kept, PROBES, UNASKED, origin)
    loaded = settings.load(tmp_path / "settings.toml", {})
    assert (loaded.full_pool, loaded.kill_grace_seconds) == ("queue", 30)
    assert loaded.quota == {"custom_model_training_cpus.us-east1": 450}
    assert loaded.patch_refusal == Settings().patch_refusal
    text = (tmp_path / "settings.toml").read_text()
    assert "# patch_refusal: unknown" in text
    assert "# timeout_state: not asked yet" in text
    report = (tmp_path / "report.md").read_text().splitlines()
    assert {"| date | 2026-11-20 |", "| region | us-east1 |", "| cost | at most $1.50 |"} <= {*report}
    assert f"slipway-vertex {version('slipway-vertex')}" in report[6] and "pulumi-gcp " in report[6]
    (told,) = [line for line in report if "job-account" in line]
    assert "projects/PROJECT/x by … in projects/…/y" in told, "nothing tells whose project it is"
    assert not any(word in "\n".join(report) for word in ("ml-prod", "ada@", "123456789012"))
    assert "| question | answer | setting | evidence |" in report
    (row,) = [line for line in report if "full-pool" in line]
    assert row == (
        "| Does a job for a full pool wait, or is it refused? (full-pool; vertex-rules 2, queueing when full; 11) | "
        'accepted, and waits | full_pool = "queue" | JOB_STATE_PENDING \\| while (2026-11-20T10:00:00+00:00) |'
    )
    assert any("reservation_quota" in line and "a reservation that you have" in line for line in report)
    assert answers.read(tmp_path / "answers.json") == kept


def test_an_answer_is_not_lost_to_a_later_call_that_could_not_tell() -> None:
    first = answers.with_finding({}, "full-pool", ANSWERED["full-pool"], "then")
    assert answers.with_finding(first, "full-pool", unknown("no machines"), "now") == first
    changed = answers.with_finding(first, "full-pool", Finding("refused", "429", {"full_pool": "reject"}), "now")
    assert changed["full-pool"].settings == {"full_pool": "reject"}


def test_probes_are_chosen_by_name_all_or_those_without_an_answer() -> None:
    assert chosen("all", ()) == PROBES
    assert {probe.id for probe in PROBES} - {probe.id for probe in chosen("open", ("full-pool",))} == {"full-pool"}
    assert {probe.id for probe in chosen("full-pool, kill-grace", ())} == {"full-pool", "kill-grace"}
    with pytest.raises(ConfigError, match="no probe 'ful-pool'; did you mean 'full-pool'"):
        chosen("ful-pool", ())


def test_the_price_is_that_of_all_machines_for_all_the_time_and_has_a_ceiling() -> None:
    free = chosen("quota-limits,quota-eligibility", ())
    assert (cost(free, "us-central1", 60, Decimal(1)).most, minutes_of(free)) == (Decimal("0.05"), 9)
    assert minutes_of(chosen("full-pool", ())) < 60, "one probe fits in the usual time"
    everything = cost(PROBES, "us-central1", 60, Decimal(2))
    assert (everything.minutes, everything.unpriced) == (60, ())
    assert Decimal(1) < everything.most < Decimal(2)
    with pytest.raises(PolicyError, match="the ceiling is") as caught:
        cost(PROBES, "us-central1", 600, Decimal(2))
    assert "MAX_USD=" in caught.value.fix


def test_in_any_region_what_has_no_known_price_is_not_asked() -> None:
    for region in ("europe-west4", "asia-northeast1", "southamerica-east1"):
        assert small_machine(region).type.endswith("-standard-4")
    (flex,) = chosen("flex-expiry", ())
    unpriced = replace(flex, dear=MachineSpec("a4-highgpu-8g", "NVIDIA_B200", 8))
    found = cost((unpriced, *chosen("full-pool", ())), "us-central1", 60, Decimal(5))
    assert (found.unpriced, [probe.id for probe in found.probes]) == ((unpriced,), ["full-pool"])
    with pytest.raises(PolicyError, match="price of small machines in mars-north1 is unknown"):
        small_machine("mars-north1")


def replica(*does: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", CODE, *does], stdout=subprocess.PIPE, text=True)


def test_the_replicas_code_does_what_probes_read() -> None:
    ends = replica("exit", "143")
    assert ends.communicate()[0] == "probe begins\nprobe ends\n"
    assert ends.returncode == 143
    for does, after in (("hold", []), ("linger", ["probe beat\n"])):
        running = replica(does, "60")
        assert running.stdout
        assert running.stdout.readline() == "probe begins\n"
        running.terminate()
        assert running.stdout.readline() == "probe sigterm\n"
        assert [running.stdout.readline() for _ in after] == after
        running.kill()
        running.communicate()


def test_a_person_asks_for_the_price_first_and_gets_report_and_settings(
    cloud: LocalCloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verify_cloud, "_ROOT", tmp_path)
    for name, value in cloud.env("owner").items():
        monkeypatch.setenv(name, value)
    flags = ["--project", "local-project", "--probes", "quota-eligibility,quota-limits"]
    folder = tmp_path / ".slipway" / "verify" / "local-project-us-central1-probes"
    assert verify_cloud.main([*flags, "--max-usd", "0.01", "--yes"]) == 5
    assert verify_cloud.main(flags) == 8
    assert not (folder / "report.md").exists()
    assert verify_cloud.main([*flags, "--yes"]) == 0
    said = capsys.readouterr()
    assert "at most $0.05 (ceiling $2.00)" in said.out
    assert "  quota-eligibility: increases can be had\n" in said.out
    assert "verify-cloud finished: local-project" in said.out
    assert "custom_model_training_preemptible_cpus.us-central1" in settings.load(folder / "settings.toml", {}).quota
    assert not (folder / "run.json").exists()
    assert verify_cloud.main(["--project", "local-project", "--probes", "quota-eligiblity"]) == 2
    assert "did you mean 'quota-eligibility'" in capsys.readouterr().err
