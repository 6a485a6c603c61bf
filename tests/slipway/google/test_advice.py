"""Google's advice on Spot machines, as the local cloud serves it. # N23"""

import json

import pytest

from slipway.google.advice import NO_ADVICE, SpotNeed, read_advice
from slipway.google.connection import connect
from slipway.model.machines.spec import MachineSpec
from tests.local.conftest import LocalCloud
from tests.slipway.google.server import Server, connection

H100 = SpotNeed.of("us-central1", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8), 2)
T4 = SpotNeed.of("us-central1", MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 1), 1)
TPU = SpotNeed.of("us-central1", MachineSpec("ct5lp-hightpu-4t"), 1)


def test_it_tells_how_likely_machines_come_how_long_they_stay_and_how_many_were_taken(cloud: LocalCloud) -> None:
    report = read_advice(connect(cloud.env()), "local-project", [H100, T4, H100, TPU])
    rest = "(most stay 1 h), preempted 12 % of those that stopped on an average day of the last 30"
    assert report.lines == (
        f"Google: Spot obtainability 0.7 in us-central1 for 2 a3-highgpu-8g {rest}",
        f"Google: Spot obtainability 0.7 in us-central1 for 1 n1-standard-8 with 1 nvidia-tesla-t4 {rest}",
    )
    assert report.document[0] == {
        "region": "us-central1",
        "machineType": "a3-highgpu-8g",
        "accelerator": None,
        "machines": 2,
        "obtainability": 0.7,
        "uptimeSeconds": 3600.0,
        "preemptedShare": pytest.approx(0.12),
        "days": 30,
    }


def test_without_a_role_one_line_says_which_and_nothing_fails(cloud: LocalCloud) -> None:
    report = read_advice(connect(cloud.env("submitter")), "local-project", [H100, T4])
    assert not report.advice
    (line,) = report.lines
    assert line.startswith("Google's advice on Spot was not read: Required 'compute.advice.capacity' permission")
    assert line.endswith("(ask for roles/compute.viewer on project local-project)")


def test_machines_beyond_the_first_six_are_told_not_to_be_asked_for(server: Server) -> None:
    needs = [SpotNeed.of("us-central1", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8), n) for n in range(1, 9)]
    report = read_advice(connection(server.url), "p", needs)
    assert len(report.advice) == 6 and report.lines[-1] == "Google was not asked about 2 more Spot machines"


def test_nothing_is_asked_without_spot_machines(server: Server) -> None:
    assert read_advice(connection(server.url), "p", [TPU]) is NO_ADVICE
    assert read_advice(connection(server.url), "p", []) is NO_ADVICE
    assert not server.sent


def test_figures_that_google_leaves_out_are_unknown_and_odd_answers_are_told(server: Server) -> None:
    (line,) = read_advice(connection(server.url), "p", [H100]).lines
    assert line == "Google: Spot obtainability unknown in us-central1 for 2 a3-highgpu-8g; no history of preemptions"
    for odd in ("much", "NaN", -3, 7, 12.5):
        server.content = json.dumps({"recommendations": [{"scores": {"obtainability": odd}}]}).encode()
        (line,) = read_advice(connection(server.url), "p", [H100]).lines
        assert line.startswith("Google's advice on Spot was not read: could not ask")
    server.content = b'{"recommendations": [{"scores": {"estimatedUptime": "1e999s"}}]}'
    assert not read_advice(connection(server.url), "p", [H100]).advice
