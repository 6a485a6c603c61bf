"""`python -m local env`, as a shell and the engine use it. (N4)"""

import os
import shlex
import stat
import subprocess

import pytest

from ...conftest import ROOT, LocalCloud


def exports(text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        word, assignment = shlex.split(line)
        assert word == "export"
        name, _, value = assignment.partition("=")
        found[name] = value
    return found


@pytest.mark.journey
def test_env_prints_what_a_shell_needs(cloud: LocalCloud) -> None:
    done = cloud.local("env", "--as", "previewer")
    assert done.returncode == 0, done.stderr
    found = exports(done.stdout)
    assert found["GOOGLE_OAUTH_ACCESS_TOKEN"] == cloud.token("previewer")
    assert (
        found["PULUMI_BACKEND_URL"] == f"file://{cloud.state}/pulumi-state" and (cloud.state / "pulumi-state").is_dir()
    )
    plugin = cloud.state / "pulumi-home" / "plugins" / "resource-gcp-v10.2.0" / "pulumi-resource-gcp"
    assert plugin.stat().st_mode & stat.S_IXUSR
    said = subprocess.run(
        ["sh", "-c", "pulumi version && command -v python"],
        cwd=ROOT,
        env={**os.environ, **found},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    version, python = said.stdout.split()
    assert version.startswith("v3.") and python.startswith(found["PATH"].split(":")[0])


def test_env_without_a_role_is_the_deployers(cloud: LocalCloud) -> None:
    helped = cloud.local("env", "--help").stdout
    assert "owner|deployer|previewer|submitter" in helped and "default: deployer" in helped
    assert cloud.local("env", "--as", "nobody").returncode == 2


def test_clearing_the_images_of_a_cluster_says_what_it_did(cloud: LocalCloud) -> None:
    done = cloud.local("images", "clear", "no-such-cluster")
    assert done.returncode == 0, done.stderr
    assert "no-such-cluster" in done.stdout
