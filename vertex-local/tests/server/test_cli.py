"""`vertex-local env`, as a shell uses it, and what the command says of mistakes. (N4)"""

import json
import shlex
from pathlib import Path

import pytest

from vertex_local.testing.local_cloud import LocalCloud


def exports(text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        word, assignment = shlex.split(line)
        assert word == "export"
        name, _, value = assignment.partition("=")
        found[name] = value
    return found


def test_env_prints_what_a_shell_needs(cloud: LocalCloud) -> None:
    done = cloud.command("env", "--as", "submitter")
    assert done.returncode == 0, done.stderr
    found = exports(done.stdout)
    assert found["GOOGLE_OAUTH_ACCESS_TOKEN"] == cloud.token("submitter")
    key = json.loads(Path(found["GOOGLE_APPLICATION_CREDENTIALS"]).read_text())
    assert (key["client_email"], key["token_uri"]) == ("ada@company.example", f"{cloud.url}/token")
    assert found["CLOUD_STORAGE_EMULATOR_ENDPOINT"] == found["STORAGE_EMULATOR_HOST"]
    assert found["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] == "false"


def test_clearing_the_images_of_a_cluster_says_what_it_did(cloud: LocalCloud) -> None:
    done = cloud.command("images", "clear", "no-such-cluster")
    assert done.returncode == 0, done.stderr
    assert "no-such-cluster" in done.stdout


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"url": 1, "port": "x"}', "\0"])
def test_a_broken_record_is_named_by_every_command(own_cloud: LocalCloud, content: str) -> None:
    own_cloud.state.mkdir()
    (own_cloud.state / "cloud.json").write_text(content)
    for command in ("up", "status", "env", "down"):
        done = own_cloud.command(command)
        assert done.returncode == 1 and "cloud.json is not a record" in done.stderr, command
        assert "Traceback" not in done.stderr and "then vertex-local up" in done.stderr
    (own_cloud.state / "cloud.json").unlink()


@pytest.mark.parametrize("port", ["65536", "99999999999999999999", "-1", "eight", "8 0", "\u0663"])
def test_a_port_that_is_none_is_refused(own_cloud: LocalCloud, port: str) -> None:
    done = own_cloud.command("up", VERTEX_LOCAL_PORT=port)
    assert done.returncode == 1 and f"VERTEX_LOCAL_PORT is '{port}'" in done.stderr


def test_a_state_folder_that_is_none_is_said(own_cloud: LocalCloud) -> None:
    own_cloud.state.write_text("in the way")
    for command in ("up", "status", "env"):
        done = own_cloud.command(command)
        assert done.returncode == 1 and "can't be used" in done.stderr and "Traceback" not in done.stderr, command
        assert "VERTEX_LOCAL_STATE" in done.stderr
