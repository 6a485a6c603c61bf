"""What a shell needs to talk to the local cloud. (N4)"""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from local.cloud.endpoints import every
from local.environment import apart, past_proxies

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


def test_the_laptop_is_apart_from_the_clouds_and_stacks_of_a_persons_shell() -> None:
    theirs = (
        "GOOGLE_CREDENTIALS",
        "PULUMI_STACK",
        "CLOUDSDK_CONFIG",
        "SLIPWAY_CATALOG",
        "SLIPWAY_LIVE",
        "SLIPWAY_PURPOSE",
    )
    own = {
        "PATH": "/bin",
        "HOME": "/home/ada",
        "SLIPWAY_CACHE": "/cache",
        "SLIPWAY_USER": "ada",
        "SLIPWAY_GCP_PLUGIN": "auto",
    }
    assert apart({**own, **dict.fromkeys(theirs, "theirs")}) == own


# What `SetEndpointDefaults` of google-beta spells differently from the option, and what it read before.
ODD = ("CONTAINERAWS", "CONTAINERAZURE", "IAM", "NOTEBOOKS", "ML_ENGINE", "TPU", "CLOUD_IOT", "DATASTORE")
# The form that the provider asks of a custom endpoint: it ends with a part and a slash.
FORM = re.compile(r"http://127\.0\.0\.1:\d+/.*[^/]+/")


def options() -> set[str]:
    """The services that the installed SDK knows a custom endpoint of."""
    # Read, not imported: a process that tests the plugin has entered the package pulumi by path alone.
    package = importlib.util.find_spec("pulumi_gcp")
    assert package and package.origin
    text = (Path(package.origin).parent / "provider.py").read_text(encoding="utf-8")
    return {name.upper() for name in re.findall(r"(\w+)_custom_endpoint: ", text)}


def test_every_endpoint_that_the_provider_knows_is_on_this_machine(cloud: LocalCloud) -> None:
    """A single one that was left out would be asked at Google, with the token of the local cloud."""
    assert len(options()) > 190 and {"IAM_BETA", "COMPUTE", "CLOUD_RESOURCE_MANAGER"} <= options()
    environ = cloud.env("deployer")
    given = {name: environ.get(f"GOOGLE_{name}_CUSTOM_ENDPOINT", "") for name in sorted({*options(), *ODD})}
    assert {name: url for name, url in given.items() if not FORM.fullmatch(url)} == {}
    assert given["IAM_BETA"] == given["IAM"] == f"{cloud.url}/v1/"


def test_what_the_local_cloud_does_not_serve_it_refuses_in_words(cloud: LocalCloud) -> None:
    url = every(cloud.url)["GOOGLE_COMPUTE_CUSTOM_ENDPOINT"]
    answer = requests.get(
        f"{url}projects/slipway-local/regions",
        headers={"Authorization": f"Bearer {cloud.token('deployer')}"},
        timeout=10,
    )
    assert answer.status_code == 501
    assert answer.json()["error"]["message"].endswith(": compute.")
