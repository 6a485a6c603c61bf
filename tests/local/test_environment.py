"""What a shell needs to talk to the local cloud. (N4)"""

import subprocess
import sys

import pytest

from local.environment import past_proxies

from .conftest import ROOT, LocalCloud

# The discard port: nothing answers there.
PROXIES = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:9")
ASK = """
import os
from slipway.cloud.connection import connect
print(type(connect(os.environ).vertex("slipway-local", "us-central1").persistent_resources()).__name__)
"""


@pytest.mark.parametrize(
    ("environ", "kept"),
    [
        ({}, ""),
        ({"NO_PROXY": "corp.example, .svc"}, "corp.example,.svc,"),
        ({"NO_PROXY": "a", "no_proxy": "b,a"}, "a,b,"),
    ],
)
def test_this_machine_is_reached_past_a_proxy_and_so_is_what_was_before(environ: dict[str, str], kept: str) -> None:
    assert past_proxies(environ) == dict.fromkeys(
        ("NO_PROXY", "no_proxy"), f"{kept}127.0.0.1,localhost,::1,127.0.0.0/8"
    )


def test_what_stands_there_twice_is_said_once() -> None:
    assert past_proxies(past_proxies({"NO_PROXY": "localhost"}))["NO_PROXY"] == "localhost,127.0.0.1,::1,127.0.0.0/8"


def test_behind_a_proxy_the_cloud_is_reached_all_the_same_and_its_token_stays_here(cloud: LocalCloud) -> None:
    environ = {**cloud.env("owner"), **PROXIES}
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("tuple\n", "")
    environ = {name: value for name, value in environ.items() if name.lower() != "no_proxy"}
    astray = subprocess.run(
        [sys.executable, "-c", ASK], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert "Unreachable" in astray.stderr
