"""The record of a checkout's sweeps and submissions: ids, jobs and journals, which later versions must recognise.

`RECORD=FILE python -m pytest tests/slipway/cli/recorded/record.py`, in a checkout of a release. That of cecf6b4 was
recorded with its own words: `--way` and `ways` for capacity types and offers, `sending_id` for `attempt_id`.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from slipway.submission.request import attempt_id
from tests.local.conftest import LocalCloud
from tests.slipway.cli.stack import PROJECT, REGION, Stack, held
from tests.slipway.cli.test_fallback import SPOT_CPUS, packaged

CAPACITY, OFFERS = "--capacity", "offers"
THREE = "code\n" + "".join(f"print('run {number}')\n" for number in range(3))
FOUR = "code\n" + "".join(f"print('night {number}')\n" for number in range(4))
GRID = "grid:\n  code: [print(1), 'print(\"ä\")']\n  workers: {from: 1, to: 2}\n"
LIST = '[{"code": "print(1)"}, {"code": "print(2)", "workers": 3}, {"workers": null}]'
PLANNED = (
    (("hello",), "s.csv", THREE),
    (("hello", CAPACITY, "spot"), "s.csv", THREE),
    (("hello", CAPACITY, "pool"), "s.csv", THREE),
    (("hello", "--as", "custom-job"), "s.csv", THREE),
    (("hello", "--request-id", "nightly"), "s.csv", THREE),
    (("crew",), "g.yaml", GRID),
    (("crew", "-p", "workers=2"), "s.csv", THREE),
    (("crew",), "l.json", LIST),
    (("crew", "-p", "workers=2", CAPACITY, "spot"), "s.csv", THREE),
    (("tracked", "--experiment", "mine"), "s.csv", THREE),
)


@pytest.fixture
def stack(cloud: LocalCloud, tmp_path: Path) -> Iterator[Stack]:
    made = Stack(cloud, tmp_path, name="frozen")
    (tmp_path / ".git").mkdir()
    made.make()
    tracked = copy.deepcopy(made.catalog["templates"]["hello"])
    experiment = f"projects/{PROJECT}/locations/{REGION}/metadataStores/default/contexts/digits"
    for offer in tracked[OFFERS]:
        offer["request"]["labels"]["slipway-template"] = "tracked"
        run = f"{experiment}-${{slipway.experimentRun}}"
        offer["request"]["jobSpec"] |= {"experiment": experiment, "experimentRun": run}
    made.catalog["templates"]["tracked"] = tracked
    made.publish()
    yield made
    made.cancel_all()


def test_record(stack: Stack) -> None:
    record: dict[str, Any] = {
        "commit": subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout[:7],
        "catalog": copy.deepcopy(stack.catalog),
        "attempts": [attempt_id("mine", number) for number in range(3)],
        "planned": [planned(stack, list(words), file, text) for words, file, text in PLANNED],
        "ended": ended(stack),
        "named": killed_after_two(stack, "--request-id", "nightly"),
        "unnamed": killed_after_two(stack),
    }
    done = stack.run("submit", "hello", "-p", "code=print('mine')", "--request-id", "mine", "--wait")
    assert done.code == 0, done.err
    record["waiting"], holder = waits(stack)
    jobs = [job for job in reversed(stack.jobs()) if job["displayName"] != holder]
    root, kept = stack.folder / ".slipway", {job["labels"]["slipway-request"] for job in jobs}
    files = [
        file for file in sorted(root.rglob("*")) if file.suffix == ".jsonl" or (file.stem in kept and file.is_file())
    ]
    record |= {"journals": {str(file.relative_to(root)): file.read_text() for file in files}, "jobs": jobs}
    Path(os.environ["RECORD"]).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def planned(stack: Stack, words: list[str], file: str, text: str) -> dict[str, Any]:
    """Return a sweep's name, and its first runs."""
    (stack.folder / file).write_text(text)
    done = stack.run("submit", *words, "--sweep", file, "--dry-run")
    assert done.code == 0, done.err
    runs = [
        {"name": run["displayName"], **{key: run["labels"][f"slipway-{key}"] for key in ("request", "run", "sweep")}}
        for run in done.json["requests"]
    ]
    return {"words": words, "file": file, "text": text, "sweep": done.json["sweep"], "runs": runs}


def ended(stack: Stack) -> str:
    """Return the id of an ended sweep, of the runs of s.csv."""
    (stack.folder / "s.csv").write_text(THREE)
    done = stack.run("submit", "hello", "--sweep", "s.csv", "--wait", "--output", "json")
    assert done.code == 0, done.err
    return str(done.json["sweep"])


def killed_after_two(stack: Stack, *words: str) -> str:
    """Return the id of a sweep of four runs, of which two were sent and have ended."""
    (stack.folder / "f.csv").write_text(FOUR)
    before = {job["name"] for job in stack.jobs()}

    def jobs() -> list[dict[str, Any]]:
        return [job for job in stack.jobs() if job["name"] not in before]

    def recorded() -> bool:
        journals = (stack.folder / ".slipway").rglob(f"{jobs()[0]['labels']['slipway-sweep']}.jsonl")
        return next(journals).read_text().count("accepted") == 2

    with stack.started("submit", "hello", "--sweep", "f.csv", *words, "--rate", "2") as sending:
        until(stack, lambda: len(jobs()) == 2, recorded)
        sending.kill()
    stack.until(lambda: all("endTime" in job for job in jobs()))
    return str(jobs()[0]["labels"]["slipway-sweep"])


def waits(stack: Stack) -> tuple[str, str]:
    """Return the request id of a submission that was killed while it waited, and the name of the job that it waited
    for."""
    packaged(stack)
    holder = held(stack)

    def queued() -> list[dict[str, Any]]:
        return [job for job in stack.jobs() if job["state"] == "JOB_STATE_QUEUED"]

    def recorded() -> bool:
        return '"accepted"' in stack.journal(queued()[0]["labels"]["slipway-request"]).read_text()

    words = ("submit", "hello", "--wait-for", "pool=10m", "--then", "spot", "-p", "code=print('waits')")
    with stack.settings(quota=SPOT_CPUS), stack.started(*words) as waiting:
        until(stack, lambda: len(queued()) == 1, recorded)
        waiting.kill()
    return str(queued()[0]["labels"]["slipway-request"]), holder


def until(stack: Stack, *hold: Callable[[], bool]) -> None:
    """Record the parts one after the other."""
    for one in hold:
        stack.until(one, 60)
