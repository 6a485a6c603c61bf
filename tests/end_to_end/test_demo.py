"""`make demo` runs through, also after a kill at any point, and shows what the README says; `make demo-down` clears up.
(N4, B4, B5, D8)"""

import contextlib
import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import yaml
from vertex_local.testing.bodies import job_body

from local.demo.demo import REQUEST_PREFIX
from local.demo.leftovers import marked
from slipway.model.labels import REQUEST_LABEL
from tests.checkouts.checkout import PROJECT, VERTEX
from tests.checkouts.shell import Done, Started, wait_for
from tests.docs.console import commands, missing
from tests.local.conftest import FAST, ROOT, LocalCloud

pytestmark = pytest.mark.journey

Demo = Callable[..., Started]
PROGRAM = (sys.executable, "-m", "local.demo")
DOWN = ("make", "--no-print-directory", "demo-down")
TOLD = {typed.command: typed for typed in commands(ROOT / "README.md")}
FILES = {file.name.split(".")[1]: file for file in sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))}
PROJECTS = {name: yaml.safe_load(file.read_text())["config"]["gcp:project"] for name, file in FILES.items()}
REAL = [name for name, project in PROJECTS.items() if project != PROJECT]


@pytest.fixture
def cloud_of_demo(tmp_path: Path) -> LocalCloud:
    """The local cloud that the demo starts, in a state folder of the test's own."""
    return LocalCloud(tmp_path / "state")


@pytest.fixture
def demo(tmp_path: Path, cloud_of_demo: LocalCloud) -> Iterator[Demo]:
    """Starts `make demo`, or another command of a reader's, in this checkout, whose README has its commit."""

    started: list[Started] = []

    def start(*command: str, **extra: str) -> Started:
        output = tmp_path / f"demo-{len(list(tmp_path.glob('demo-*')))}.log"
        with output.open("wb") as file:
            process = subprocess.Popen(
                command or ("make", "--no-print-directory", "demo"),
                cwd=ROOT,
                env={**cloud_of_demo.base_env(), "NO_COLOR": "1", **extra},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        started.append(Started(process, output))
        return started[-1]

    yield start
    for item in started:
        item.kill_tree()
    if cloud_of_demo.state.exists():
        start(*DOWN).process.wait()


def ended(started: Started) -> Done:
    code = started.process.wait()
    return Done(code, started.said, "")


def jobs(cloud: LocalCloud) -> list[str]:
    """The states of all jobs."""
    return sorted(job["state"] for job in cloud.rest("GET", f"{VERTEX}/customJobs").get("customJobs", []))


def clusters(cloud: LocalCloud) -> list[str]:
    with contextlib.suppress(AssertionError, OSError):
        return [
            resource["state"] for resource in cloud.rest("GET", f"{VERTEX}/persistentResources")["persistentResources"]
        ]
    return []


def waiting_job(cloud: LocalCloud, name: str, **labels: str) -> str:
    """A job that has asked for a machine of its own, and computes nothing meanwhile."""
    return str(cloud.rest("POST", f"{VERTEX}/customJobs", job_body(displayName=name, labels=labels))["name"])


def test_killed_in_up_and_after_submitting_the_same_command_runs_through(demo: Demo, cloud_of_demo: LocalCloud) -> None:
    cloud, state = cloud_of_demo, cloud_of_demo.state
    waits = ("create_seconds=3", "machine_seconds=3600")
    first = demo(VERTEX_LOCAL_SET=",".join((*waits, *FAST)))
    first.until(lambda: clusters(cloud), "its `pulumi up` makes a cluster")
    first.kill_tree()

    # A person's things that look alike: a process in the same state folder, a lock from another machine, and a job.
    bystander = demo("bash", "-c", f"cd '{state}'; exec sleep 3600").process
    lock = state / "pulumi-state" / ".pulumi" / "locks" / "organization" / "other" / "dev" / "a.json"
    lock.parent.mkdir(parents=True)
    lock.write_text(json.dumps({"pid": 1, "hostname": "elsewhere", "username": "ada", "timestamp": "2026-11-20"}))
    theirs = waiting_job(cloud, "of-others")
    # And what a demo leaves that is killed after submitting.
    of_killed = waiting_job(cloud, "dask-digits-killed", **{REQUEST_LABEL: f"{REQUEST_PREFIX}20261120"})

    done = ended(demo())
    assert done.code == 0, done.out
    assert "removed 1 lock" in done.out
    assert "cancels dask-digits-killed of a killed demo" in done.out and done.out.count("cancels ") == 1
    assert done.out.count(f"--request-id {REQUEST_PREFIX}") == 2, "by which the next demo would know them"
    assert clusters(cloud) == ["RUNNING"]
    assert cloud.rest("GET", f"/v1/{of_killed}")["state"] == "JOB_STATE_CANCELLED"
    assert cloud.rest("GET", f"/v1/{theirs}")["state"] == "JOB_STATE_PENDING", "theirs is not the demo's to cancel"
    assert jobs(cloud).count("JOB_STATE_SUCCEEDED") == 2 == len(jobs(cloud)) - 2
    last = done.out.rstrip().splitlines()[-1]
    assert re.match(r"demo finished: accuracy 0\.9\d+; create → start [\d.]+ s", last)
    assert "the second run " in done.out and "a local figure" in done.out  # B4: the gain, named as what it is
    assert "# as submitter" in done.out
    assert re.search(r"recorded: \d+ of \d+ machines busy", done.out), "usage knows how many a growing pool had"
    assert lock.exists()
    # What an empty machine is shown until it has a cluster was the killed one's to say.
    assert missing(TOLD["make demo"].shown, first.said + done.out) == []

    down = ended(demo(*DOWN))
    assert down.code == 0, down.out
    assert not state.exists()
    assert marked(state) == []
    assert [process for process in of_folder(state) if process.pid != bystander.pid] == []
    assert bystander.poll() is None


def of_folder(folder: Path) -> list[psutil.Process]:
    """Processes whose command line or working folder lies in a folder."""
    processes = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if str(folder) in " ".join(process.cmdline()) or process.cwd().startswith(str(folder)):
                processes.append(process)
    return processes


@pytest.mark.long
@pytest.mark.skipif(not REAL, reason="no stack of a real project is there")
def test_a_real_stack_is_played_in_its_project_and_its_file_stays(demo: Demo) -> None:
    name = REAL[0]
    before = FILES[name].read_bytes()
    done = ended(demo(*PROGRAM, "--stack", name))
    assert done.code == 0 and "demo finished" in done.out, done.out
    assert "the second run started" in done.out and "the image was cached" in done.out, done.out  # B4
    assert f"it has the project {PROJECTS[name]}" in done.out and f"make shell AS=submitter STACK={name}" in done.out
    assert FILES[name].read_bytes() == before


def test_nothing_is_begun_for_a_stack_that_is_not_there_and_down_cleans_what_is_the_demos_alone(
    demo: Demo, cloud_of_demo: LocalCloud
) -> None:
    for words, code, said in (("--stack nowhere", 2, "there is no stack nowhere"), ("down", 0, "nothing to clean")):
        done = ended(demo(*PROGRAM, *words.split()))
        assert done.code == code and said in done.out
        assert not cloud_of_demo.state.exists()
    cloud_of_demo.state.mkdir()
    (cloud_of_demo.state / "thesis.tex").write_text("years of work")
    done = ended(demo(*PROGRAM, "down"))
    assert done.code != 0 and "is not cleaned" in done.out and "thesis.tex" in done.out
    assert [path.name for path in cloud_of_demo.state.iterdir()] == ["thesis.tex"]


def test_a_taken_port_ends_the_demo_in_words_and_leaves_nothing_running(demo: Demo, cloud_of_demo: LocalCloud) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = ended(demo(*PROGRAM, VERTEX_LOCAL_PORT=str(port)))
    assert done.code == 1, done.out
    assert f"port {port} is taken by another program" in done.out
    assert "set VERTEX_LOCAL_PORT=0" in done.out
    assert "Traceback" not in done.out
    wait_for(lambda: of_folder(cloud_of_demo.state) == [], "nothing of it runs")
