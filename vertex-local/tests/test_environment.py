"""The variables by which a shell talks to the local cloud. (N4)"""

import base64
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from vertex_local.cli.main import cli
from vertex_local.environment import past_proxies
from vertex_local.testing.local_cloud import LocalCloud


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


# --- `vertex-local secret`: a value that nobody types into a command line. # Z3


READER = "reads-secrets@local-project.iam.gserviceaccount.com"


def test_a_value_from_standard_input_becomes_the_newest_version_for_its_readers(cloud: LocalCloud) -> None:
    cloud.rest("POST", "/v1/projects/local-project/serviceAccounts", {"accountId": READER.partition("@")[0]})

    def keep(value: str) -> subprocess.CompletedProcess[str]:
        command = [
            str(Path(sys.executable).with_name("vertex-local")),
            "secret",
            "hf-token-of-the-shell",
            "--reader",
            READER,
        ]
        return subprocess.run(
            command,
            env=cloud.base_env(),
            input=value,
            capture_output=True,
            text=True,
            check=False,
        )

    for number, value in enumerate(("hf_first", "hf_second\n"), 1):
        done = keep(value)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(f"/secrets/hf-token-of-the-shell/versions/{number}\n")
        assert "hf_" not in done.stdout.replace("hf-token", "") + done.stderr
    secret = "/v1/projects/local-project/secrets/hf-token-of-the-shell"
    kept = cloud.rest("GET", f"{secret}/versions/latest:access")["payload"]["data"]
    assert base64.b64decode(kept) == b"hf_second"
    (binding,) = cloud.rest("GET", f"{secret}:getIamPolicy")["bindings"]
    assert binding == {"role": "roles/secretmanager.secretAccessor", "members": [f"serviceAccount:{READER}"]}


def test_another_folder_is_told_where_the_cloud_of_its_shell_is(cloud: LocalCloud, tmp_path: Path) -> None:
    """`up`, which the way out named first, would start a second cloud there."""
    command = str(Path(sys.executable).with_name("vertex-local"))

    def call(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        known = {name: text for name, text in cloud.base_env().items() if name != "VERTEX_LOCAL_STATE"} | environ
        return subprocess.run([command, *words], env=known, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert call("status").stderr.endswith("fix: vertex-local up, or cd to the repository whose cloud runs\n")
    words = call("env", VERTEX_LOCAL_STATE=str(cloud.state)).stdout.split("GOOGLE_APPLICATION_CREDENTIALS=")[1]
    said = call("status", GOOGLE_APPLICATION_CREDENTIALS=words.split()[0])
    assert said.returncode == 1
    way = f"fix: export VERTEX_LOCAL_STATE={cloud.state}, which has the cloud that this shell knows\n"
    assert said.stderr.endswith(way), said.stderr


def test_a_stopped_cloud_of_the_own_folder_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell keeps the variables of `vertex-local env` after `down`, and the state folder is the right one."""
    ended = {"url": "http://127.0.0.1:1", "port": 1, "pid": 1, "pidStarted": 0.0, "tokens": {}}
    (tmp_path / "cloud.json").write_text(json.dumps(ended))
    monkeypatch.setenv("VERTEX_LOCAL_STATE", str(tmp_path))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "credentials.json"))
    said = CliRunner().invoke(cli, ["status"])
    assert said.exit_code == 1 and "fix: vertex-local up" in said.output
