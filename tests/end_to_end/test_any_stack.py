"""`make demo STACK=…` plays the stacks that are there, one after another, with their projects and people, and leaves
their files as they are. # N4 # B4"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.checkouts.shell import Started
from tests.local.conftest import ROOT, LocalCloud

pytestmark = pytest.mark.journey

FILES = {one.name.split(".")[1]: one for one in sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))}
PROJECTS = {name: yaml.safe_load(file.read_text())["config"]["gcp:project"] for name, file in FILES.items()}
REAL = [name for name, project in PROJECTS.items() if project != "slipway-local"]


@pytest.fixture
def cloud_of_demo(tmp_path: Path) -> Iterator[LocalCloud]:
    mine = LocalCloud(tmp_path / "state")
    yield mine
    played(mine, tmp_path, "down").process.wait()


def played(cloud: LocalCloud, folder: Path, *arguments: str) -> Started:
    output = folder / f"demo-{len(list(folder.glob('demo-*')))}.log"
    with output.open("wb") as file:
        process = subprocess.Popen(
            (sys.executable, "-m", "local.demo", *arguments),
            cwd=ROOT,
            env={**cloud.base_env(), "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Started(process, output)


@pytest.mark.long
@pytest.mark.skipif(not REAL, reason="no stack of a real project is there")
def test_a_real_stack_is_played_after_a_killed_up_and_its_file_stays(tmp_path: Path, cloud_of_demo: LocalCloud) -> None:
    name, cloud = REAL[0], cloud_of_demo
    before = FILES[name].read_bytes()
    clusters = f"/v1/projects/{PROJECTS[name]}/locations/us-central1/persistentResources"

    def made() -> bool:
        answer = cloud.call("GET", clusters)
        return answer.status_code == 200 and bool(answer.json().get("persistentResources"))

    first = played(cloud, tmp_path, "--stack", name)
    first.until(lambda: cloud.state.exists() and (cloud.state / "cloud.json").exists() and made(), "it makes a cluster")
    first.kill_tree()

    second = played(cloud, tmp_path, "--stack", name)
    assert second.process.wait() == 0, second.said
    assert "demo finished" in second.said and f"it has the project {PROJECTS[name]}" in second.said
    assert f"env --as submitter --stack {name}" in second.said
    assert FILES[name].read_bytes() == before
    # What it submitted is written down with the laptop's state.
    assert list((cloud.state / "journal" / "requests" / PROJECTS[name]).rglob("*.json"))

    shell = f'eval "$({sys.executable} -m local env --as submitter --stack {name})"'
    done = cloud_shell(cloud, f"{shell}; slipway templates --output json --catalog {catalog(cloud, name)}")
    assert json.loads(done), "its people use it"


def catalog(cloud: LocalCloud, stack: str) -> str:
    found = cloud.rest("GET", f"/storage/v1/b?project={PROJECTS[stack]}")["items"]
    return f"gs://{next(one['name'] for one in found if one['name'].endswith('catalog'))}"


def cloud_shell(cloud: LocalCloud, line: str) -> str:
    done = subprocess.run(
        ["bash", "-c", line], cwd=ROOT, env=cloud.base_env(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_stack_that_is_not_there_is_said_before_anything_begins(tmp_path: Path, cloud_of_demo: LocalCloud) -> None:
    done = played(cloud_of_demo, tmp_path, "--stack", "nowhere")
    assert done.process.wait() == 2 and "there is no stack nowhere" in done.said
    assert not cloud_of_demo.state.exists()
