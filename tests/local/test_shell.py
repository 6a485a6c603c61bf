"""`python -m local.shell`: the variables of a shell that deploys to the local cloud, as the engine uses them. # N4"""

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from local import shell
from local.stack_file import read
from tests.checkouts.shell import bash

from .conftest import ROOT, LocalCloud

REAL = [
    name
    for name in sorted(path.name.split(".")[1] for path in (ROOT / "stacks").glob("Pulumi.*.yaml"))
    if read(ROOT, name).stack.project != "local-project"
]


@pytest.fixture
def on_cloud(cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> LocalCloud:
    for name, value in cloud.base_env().items():
        monkeypatch.setenv(name, value)
    return cloud


def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["shell", *words])
    code = shell.main()
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.journey
def test_it_prints_what_a_shell_needs(
    on_cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = on_cloud.state
    code, out, err = printed(monkeypatch, capsys, "--as", "previewer")
    assert code == 0, err
    assert "local cloud running" in err
    found = dict(word.partition("=")[::2] for line in out.splitlines() for word in shlex.split(line)[1:])
    assert found["GOOGLE_OAUTH_ACCESS_TOKEN"] == on_cloud.token("previewer")
    assert found["SLIPWAY_USER"] == "previewer", "a shared machine's login name is nobody of the stack"
    assert found["PULUMI_BACKEND_URL"] == f"file://{state}/pulumi-state?metadata=skip"
    assert found["VERTEX_LOCAL_STATE"] == str(state), "vertex-local finds this cloud from any folder"
    plugin = state / "pulumi-home" / "plugins" / "resource-gcp-v10.2.0" / "pulumi-resource-gcp"
    assert plugin.stat().st_mode & stat.S_IXUSR
    done = subprocess.run(
        ["sh", "-c", "pulumi version && command -v python"],
        cwd=ROOT,
        env={**os.environ, **found},
        capture_output=True,
        text=True,
        check=True,
    )
    version, python = done.stdout.split()
    assert version.startswith("v3.") and python.startswith(found["PATH"].split(":")[0])


@pytest.mark.journey
def test_for_a_group_somebody_in_it_signs_in(
    on_cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    group = "group:divers@acme.example"
    code, out, err = printed(monkeypatch, capsys, "--as", group)
    assert code == 0 and f"GOOGLE_OAUTH_ACCESS_TOKEN={on_cloud.token('submitter')}" in out, err
    _, _, err = printed(monkeypatch, capsys, "--as", group, "--stack", "local")
    assert "submitter is in divers@acme.example\n" in err and "gs://" not in err, "a program's own, not this stack's"
    on_cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": "acme-dive-logs"})
    reads = {"bindings": [{"role": "roles/storage.objectViewer", "members": [group]}]}
    on_cloud.rest("PUT", "/storage/v1/b/acme-dive-logs/iam", reads)
    assert on_cloud.rest("GET", "/storage/v1/b/acme-dive-logs/o", role="submitter").get("items", []) == []


@pytest.mark.journey
@pytest.mark.skipif(not REAL, reason="no stack of a real project is there")
def test_a_stack_file_names_its_project_and_people(
    on_cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = read(ROOT, REAL[0])
    project, who = stack.stack.project, stack.submitter
    code, out, err = printed(monkeypatch, capsys, "--as", "submitter", "--stack", REAL[0])
    assert code == 0 and f"project {project}: --as " in err, err
    assert f"GOOGLE_CLOUD_PROJECT={project}" in out and "SLIPWAY_JOURNAL=" in out and "SLIPWAY_CONFIG=" in out
    key = json.loads((on_cloud.state / "projects" / project / "credentials" / f"{who}.json").read_text())
    assert key["project_id"] == project


@pytest.mark.journey
def test_a_person_of_the_laptop_s_own_stack_signs_in_as_the_page_says(
    on_cloud: LocalCloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "stacks" / "Pulumi.local.yaml").read_text()
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.local.yaml").write_text(
        text.replace("submitters: [", 'submitters: ["user:grace@company.example", ')
    )
    monkeypatch.setattr(shell, "project_folder", lambda: tmp_path)
    make = ["make", "-s", "shell", "AS=grace@company.example", "MAKE=true", "PY=echo"]
    _, _, *words = subprocess.check_output(make, cwd=ROOT, text=True).split()
    code, out, err = printed(monkeypatch, capsys, *words)
    assert code == 0 and "export SLIPWAY_USER=grace" in out.splitlines(), err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--as", "bob"), "bob is nobody in project local-project"),
        (("--stack", "nowhere"), "there is no stack nowhere"),
    ],
)
def test_a_mistake_is_told_as_the_command_tells_it(
    on_cloud: LocalCloud,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    said: str,
) -> None:
    code, out, err = printed(monkeypatch, capsys, *words)
    assert (code, out) == (2, "") and said in err and "fix: " in err
    assert on_cloud.healthy()


def test_a_state_folder_that_is_none_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state").write_text("in the way")
    monkeypatch.setenv("VERTEX_LOCAL_STATE", str(tmp_path / "state"))
    code, _, err = printed(monkeypatch, capsys)
    assert code == 1 and "can't be used" in err and "VERTEX_LOCAL_STATE" in err


@pytest.mark.journey
def test_the_blocks_of_the_page_run(own_cloud: LocalCloud) -> None:
    page = (ROOT / "docs" / "local-cloud.md").read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S)
    environ = {**own_cloud.base_env(), "PATH": f"{Path(sys.executable).parent}:{own_cloud.base_env()['PATH']}"}
    done = bash("set -eu\n" + "".join(blocks), ROOT, environ)
    assert done.code == 0, done.said
    assert done.said.count("local cloud started") == 2 and "local cloud stopped" in done.out
