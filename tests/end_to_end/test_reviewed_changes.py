"""Changes that the engine previews on one deployed stack, each with what a careful person would name. # N5 D7 N1

The corpus in tests/review has many more, without the engine.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slipway.deploying.engine.events import STREAMING
from tests.checkouts.checkout import MACHINE, Checkout

pytestmark = pytest.mark.journey

BOB = {"submitters": ["user:bob@company.example"]}
LARGER = {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 3}}}}}


def edit(checkout: Checkout, old: str, new: str, file: str = "templates/nap.py") -> None:
    path = checkout.folder / file
    text = path.read_text()
    assert old in text, f"{file} has no {old!r}"
    path.write_text(text.replace(old, new))


def nothing(checkout: Checkout) -> None:
    edit(checkout, '"""nap: a job', '"""nap: the job')
    checkout.file.write_text(checkout.file.read_text() + "# a comment\n")


def the_stack_is_edited(checkout: Checkout) -> None:
    checkout.write(persistentResources=LARGER, workspace=BOB, quota={"mode": "warn"})


def the_template_is_edited(checkout: Checkout) -> None:
    edit(checkout, "default=0.0", "default=9.0")
    edit(checkout, "parameters=(", 'parameters=(\n        Parameter("layers", list[int], default=[64, 32]),')  # N31
    edit(checkout, "args=(", 'args=("--layers=${layers}", ')
    edit(checkout, "sklearn-cpu.1-6", "sklearn-cpu.1-5")
    edit(checkout, "slept well", "slept badly", "jobs/nap/task.py")


def the_program_fails(checkout: Checkout) -> None:
    edit(checkout, "\ndeploy(", '\nraise SystemExit("broken")\ndeploy(', "__main__.py")


def a_check_fails(checkout: Checkout) -> None:
    """The provider's, beside an edit: the engine ends before it has heard of all clusters."""
    the_stack_is_edited(checkout)
    program = checkout.folder / "__main__.py"
    bad = 'import pulumi_gcp as gcp\n\ngcp.serviceaccount.Account("bad", account_id="A!")\n'
    program.write_text(program.read_text() + bad)


FAILING = (the_program_fails, a_check_fails)
CASES: dict[Callable[[Checkout], None], set[str]] = {
    nothing: set(),
    the_stack_is_edited: {
        *("cluster-replaced", "most-cost", "access-lost", "policy-loosened"),
    },
    the_template_is_edited: {"submission-changed", "job-code-changed"},
    the_program_fails: {"deployment-rejected"},
    a_check_fails: {"deployment-rejected"},
}
"""Edits while a job runs, with kinds that have to be said; none for one that means nothing."""


@pytest.mark.deployed
def test_changes_and_what_they_do(checkout: Checkout, tmp_path: Path) -> None:
    checkout.submit("-p", "seconds=600")
    shutil.copytree(checkout.folder, tmp_path / "unchanged")
    for change, kinds in CASES.items():
        change(checkout)
        review = reviewed(checkout, tmp_path)
        named = {finding["kind"] for finding in review["findings"]}
        assert kinds <= named, (change, review)
        assert "drift" not in named, (change, review)  # nobody changed or forged anything
        assert "cluster-deleted" not in named, (change, review)
        if change is nothing:
            assert named == set(), review
            drifts(checkout, str(tmp_path / "events.jsonl"))
        assert bool(review["incomplete"]) is (change in FAILING), (change, review["incomplete"])
        shutil.copytree(tmp_path / "unchanged", checkout.folder, dirs_exist_ok=True)


def drifts(checkout: Checkout, events: str) -> None:
    """Nobody did anything by hand, though a job runs; then somebody lets another into a bucket. # N10"""
    told = checkout.slipway("drift", events, role="previewer")
    assert told.code == 0, told.said
    policy = f"/storage/v1/b/{checkout.buckets()[0]}/iam"
    before = checkout.cloud.rest("GET", policy)
    eve = {"role": "roles/storage.objectViewer", "members": ["user:eve@company.example"]}
    checkout.cloud.rest("PUT", policy, {"bindings": [*before["bindings"], eve]})
    try:
        told = checkout.slipway("drift", events, role="previewer")
    finally:
        checkout.cloud.rest("PUT", policy, {"bindings": before["bindings"]})
    assert told.code == 4 and "user:eve@company.example has roles/storage.objectViewer" in told.out


@pytest.mark.deployed
def test_after_a_deployment_that_failed_halfway_before_is_what_people_submit_to(
    checkout: Checkout, settings: Callable[..., None], tmp_path: Path
) -> None:
    """The components' inputs have run ahead by then, and name a cluster that is not there."""
    checkout.write(persistentResources=LARGER)
    first = reviewed(checkout, tmp_path)
    made = next(step.rpartition(" ")[2] for step in first["plan"] if step.startswith("create ") and "cpu-" in step)
    settings(create_error=made)
    failed = checkout.pulumi("up", SLIPWAY_CREATE_PATIENCE="1s")
    assert failed.code != 0, failed.said
    settings(create_error="")
    again = reviewed(checkout, tmp_path)
    assert not again["incomplete"]
    (replaced,) = [finding for finding in again["findings"] if finding["kind"] == "cluster-replaced"]
    edit, deleted = replaced["details"]
    assert edit == "`pools.all.replicas.max` 2 → 3" and deleted.endswith("is idle and is deleted")
    edited = [(row["subject"], row["before"], row["after"]) for row in again["settings"]]
    assert edited == [("cluster cpu", "2", "3")]
    assert again["costs"]["mostBefore"] != again["costs"]["most"]


def reviewed(checkout: Checkout, folder: Path) -> dict[str, Any]:
    events = folder / "events.jsonl"
    preview = checkout.pulumi("preview", "--json", role="previewer", **STREAMING)
    events.write_text(preview.out)
    done = checkout.slipway("review", str(events), "--output", "json", role="previewer")
    assert done.code == 0, done.said
    document: dict[str, Any] = json.loads(done.out)
    return document
