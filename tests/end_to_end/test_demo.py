"""`make demo` runs through, also after a kill at any point, and shows what the README says; so does what that tells to
type afterwards; and `make demo-down` clears up. (N4, B4, B5, D8)"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from local.demo.leftovers import marked
from tests.checkouts.checkout import VERTEX
from tests.checkouts.shell import Done, Started, wait_for
from tests.docs.console import blocks, commands, exit_code, missing
from tests.local.conftest import ROOT, LocalCloud

pytestmark = pytest.mark.journey

Demo = Callable[..., Started]
PROGRAM = (sys.executable, "-m", "local.demo")
DOWN = ("make", "--no-print-directory", "demo-down")
TOLD = {typed.command: typed for typed in commands(ROOT / "README.md")}
PAGES = ("submit", "follow", "fall-back", "why-it-failed", "why-it-waits")
LONG = "slipway submit dask-digits -p trees=500 -p candidates=100"
RUNS = "slipway jobs logs dask-digits --follow | grep --max-count=1 'Job is running'"
BEFORE = {"why-it-waits": f"{LONG} && {RUNS} && slipway submit dask-digits"}
"""Commands that bring about what a page is about."""
STANDS_FOR = {
    "--stack prod": "--stack local",
    "check local": f"--debug check {ROOT / 'stacks' / 'Pulumi.local.yaml'}",
    "--job NAME": "--job {first}",
    "show NAME": "show dask-digits",
    "submit NAME": "submit dask-digits",
    "logs JOB": "logs {first}",
    "show JOB": "show {first}",
    "dask-digits-7k2p3f9a": "{first}",
    "my-mlp-k24lpqrl my-mlp-9x2fa7uw": "{first} {second}",
    "--sweep ID": "--sweep {sweep}",
}
"""The jobs, sweeps and stacks that pages name, as this journey has them."""
OTHERS = {
    "slipway init ": "it asks a person",
    "slipway use ": "it is typed before the pages",
    "slipway board --serve": "it ends with Ctrl-C",
    "slipway jobs cancel JOB": "it is typed before, of all that run",
    "slipway pools reboot ": "no job may be on the cluster",
    "slipway submit gemma2-lora ": "it takes a GPU",
    "slipway submit script ": "it takes a person's own folder",
    "slipway templates import ": "it takes a person's own job file",
    "slipway drift ": "it takes a preview's events",
    "slipway submit NAME -p KEY=VALUE": "it stands for any",
    "slipway what-if --base main": "it takes a branch of that name",
    "slipway what-if --suggest ": "it takes a past that a replay tells rightly",
}
"""Lines that are typed by tests of their own, or by nobody, and why."""
CODES = {"slipway quota --request": 3}
"""Exit codes of what a submitter may not do."""


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
    for one in started:
        one.kill_tree()
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
        return [one["state"] for one in cloud.rest("GET", f"{VERTEX}/persistentResources")["persistentResources"]]
    return []


def test_killed_in_up_and_killed_after_submitting_the_same_command_runs_through(
    demo: Demo, cloud_of_demo: LocalCloud, tmp_path: Path
) -> None:
    cloud, state = cloud_of_demo, cloud_of_demo.state
    first = demo(SLIPWAY_LOCAL_SET="create_seconds=3,calls_per_minute=0")
    first.until(lambda: clusters(cloud), "its `pulumi up` makes a cluster")
    first.kill_tree()

    # A person's things that look alike: a process in the same state folder, and a lock from another machine.
    bystander = subprocess.Popen(["sleep", "3600"], env={**os.environ, "SLIPWAY_LOCAL_STATE": str(state)}, cwd=state)
    lock = state / "pulumi-state" / ".pulumi" / "locks" / "organization" / "other" / "dev" / "a.json"
    lock.parent.mkdir(parents=True)
    lock.write_text(json.dumps({"pid": 1, "hostname": "elsewhere", "username": "ada", "timestamp": "2026-11-20"}))

    second = demo()
    second.until(lambda: jobs(cloud), "it has submitted")
    second.kill_tree()
    assert "removed 1 lock" in second.said

    done = ended(demo())
    assert done.code == 0, done.out
    assert re.search(r"cancels dask-digits-\w+ ", done.out)
    assert clusters(cloud) == ["RUNNING"]
    assert jobs(cloud) == ["JOB_STATE_CANCELLED", *["JOB_STATE_SUCCEEDED"] * 2]
    last = done.out.rstrip().splitlines()[-1]
    assert re.match(r"demo finished: accuracy 0\.9\d+; create → start [\d.]+ s", last)
    assert "second run started" in done.out and "a local figure" in done.out  # B4: the gain, named as what it is
    assert "# as submitter" in done.out
    assert lock.exists()
    # What an empty machine is shown until it has a cluster was the killed one's to say.
    assert missing(TOLD["make demo"].shown, first.said + done.out) == []

    what_readers_are_told_to_type_after_the_demo_works(demo)
    (beside := tmp_path / "beside").mkdir()
    what_other_pages_tell_to_type_works(demo, beside)

    down = ended(demo(*DOWN))
    assert down.code == 0, down.out
    assert not state.exists()
    assert marked(state) == []
    assert [process for process in of_folder(state) if process.pid != bystander.pid] == []
    assert bystander.poll() is None
    bystander.kill()


def what_readers_are_told_to_type_after_the_demo_works(demo: Demo) -> None:
    """The pages of an own folder are typed there, by tests/docs/test_typed.py."""
    told = {page: commands(ROOT / "docs" / f"{page}.md") for page in PAGES}
    shell, use, *_ = (typed.command for typed in commands(ROOT / "docs" / "first-job.md"))
    assert ended(demo("bash", "-c", f"{shell}; {use}")).code == 0

    def type_(line: str) -> Done:
        return ended(demo("bash", "-c", f"{shell}; {line}"))

    for page, lines in {"README": list(TOLD.values()), **told}.items():
        if before := BEFORE.get(page):
            assert type_(before).code == 0
        for typed in (one for one in lines if not one.command.startswith("make ")):
            done = type_(typed.command)
            assert missing(typed.shown, done.out) == [], f"{page}: {typed.command}:\n{done.out}"
            assert done.code == exit_code("".join(typed.shown)), done.out


def what_other_pages_tell_to_type_works(demo: Demo, folder: Path) -> None:
    """Each line of a block of theirs that runs slipway, in a folder with a stack file. # D8"""
    (shell,) = (typed.command for typed in commands(ROOT / "docs" / "first-job.md") if "local env" in typed.command)
    (folder / "stacks").mkdir()
    for name in ("local", "next"):
        shutil.copy(ROOT / "stacks" / "Pulumi.local.yaml", folder / "stacks" / f"Pulumi.{name}.yaml")
    (folder / ".git").mkdir()
    shutil.copy(ROOT / "Pulumi.yaml", folder)
    (folder / "grid.yaml").write_text("grid:\n  trees: [10, 20]\n")
    run = "export SLIPWAY_CATALOG=gs://slipway-local-local-catalog GITHUB_RUN_ID=1"

    def type_(line: str) -> Done:
        return ended(demo("bash", "-c", f"{shell}; {run}; cd {folder}; {line}"))

    listed = json.loads(type_("slipway jobs list --output json 2>/dev/null").out)["jobs"]
    for job in listed:
        if job["endTime"] is None:
            assert type_(f"slipway jobs cancel {job['displayName']}").code == 0
    swept = type_("slipway submit dask-digits --sweep grid.yaml --wait --output json 2>/dev/null")
    first, second, *_ = (job["displayName"] for job in listed if job["state"] == "JOB_STATE_SUCCEEDED")
    names = {"first": first, "second": second, "sweep": json.loads(swept.out)["sweep"]}
    for page in sorted((ROOT / "docs").glob("*.md")):
        lines = "\n".join(blocks(page, "sh")).splitlines()
        for line in (one for one in lines if one.startswith("slipway ") and not one.startswith(tuple(OTHERS))):
            there = line.partition("  #")[0]
            for said, meant in STANDS_FOR.items():
                there = there.replace(said, meant.format(**names))
            done = type_(there)
            code = next((code for begins, code in CODES.items() if line.startswith(begins)), 0)
            assert done.code == code, f"{page.name}: {there}:\n{done.out}"


def of_folder(folder: Path) -> list[psutil.Process]:
    """Processes whose command line or working folder lies in a folder."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if str(folder) in " ".join(process.cmdline()) or process.cwd().startswith(str(folder)):
                found.append(process)
    return found


def test_down_where_nothing_was_started_says_so(demo: Demo, cloud_of_demo: LocalCloud) -> None:
    done = ended(demo(*PROGRAM, "down"))
    assert done.code == 0
    assert "nothing to clean" in done.out
    assert not cloud_of_demo.state.exists()


def test_down_leaves_a_folder_alone_that_is_not_the_demos(demo: Demo, cloud_of_demo: LocalCloud) -> None:
    cloud_of_demo.state.mkdir()
    (cloud_of_demo.state / "thesis.tex").write_text("years of work")
    done = ended(demo(*PROGRAM, "down"))
    assert done.code != 0 and "is not cleaned" in done.out and "thesis.tex" in done.out
    assert [path.name for path in cloud_of_demo.state.iterdir()] == ["thesis.tex"]


def test_a_taken_port_ends_the_demo_in_words_and_leaves_nothing_running(demo: Demo, cloud_of_demo: LocalCloud) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = ended(demo(*PROGRAM, SLIPWAY_LOCAL_PORT=str(port)))
    assert done.code == 1, done.out
    assert f"port {port} is taken by another program" in done.out
    assert "set SLIPWAY_LOCAL_PORT=0" in done.out
    assert "Traceback" not in done.out
    wait_for(lambda: of_folder(cloud_of_demo.state) == [], "nothing of it runs")
