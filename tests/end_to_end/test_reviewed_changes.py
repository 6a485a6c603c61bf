"""Changes that the engine previews on one deployed stack, each with what a careful person would name. # N5 D7 N1

The corpus in tests/review has many more, without the engine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from slipway.review.events import STREAMING
from tests.checkouts.checkout import MACHINE, Checkout
from tests.checkouts.fixtures import NewCheckout
from tests.local.conftest import LocalCloud

from .conftest import FAST_FLAGS

pytestmark = pytest.mark.journey

TEAM, BOB = "group:ml-engineers@slipway.example", "user:bob@slipway.example"
WORKSPACE = {"submitters": [TEAM, BOB], "code": True}


def pools(**changed: object) -> dict[str, object]:
    return {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 2}, **changed}}}}


Edit = Callable[[Checkout], None]


def stack(**changed: object) -> Edit:
    return lambda checkout: checkout.write(**{"workspace": WORKSPACE, **changed})


def template(old: str, new: str, file: str = "templates/nap.py") -> Edit:
    def edit(checkout: Checkout) -> None:
        path = checkout.folder / file
        text = path.read_text()
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new))

    return edit


def program(line: str) -> Edit:
    return template("deploy(", f"{line}\ndeploy(", "__main__.py")


@dataclass(frozen=True)
class Case:
    """`names` are kinds that have to be said; none for a change that means nothing."""

    name: str
    edit: Edit
    names: frozenset[str]


CASES = (
    Case("a comment and another order", template('"""nap: a job', '"""nap: the job'), frozenset()),
    Case("submitters in another order", stack(workspace={**WORKSPACE, "submitters": [BOB, TEAM]}), frozenset()),
    Case(
        "a larger maximum",
        stack(persistentResources=pools(replicas={"min": 1, "max": 3})),
        frozenset({"cluster-new-generation", "jobs-finish-on-old", "most-cost"}),
    ),
    Case(
        "the cluster and the template are taken out",
        stack(persistentResources={}, templates=[]),
        frozenset({"cluster-retires", "template-gone", "idle-cost", "jobs-finish-on-old"}),
    ),
    Case("a submitter less", stack(workspace={**WORKSPACE, "submitters": [TEAM]}), frozenset({"submitter-gone"})),
    Case(
        "another account while a job runs",
        stack(workspace={**WORKSPACE, "trainer": "slipway-other"}),
        frozenset({"account-created"}),
    ),
    Case(
        "another bucket for results",
        stack(workspace={**WORKSPACE, "workBucket": "slipway-local-elsewhere"}),
        frozenset({"bucket-created"}),
    ),
    Case("a default is changed", template("default=0.0", "default=9.0"), frozenset({"default-changed"})),
    Case("the image moves", template("sklearn-cpu.1-6", "sklearn-cpu.1-5"), frozenset({"executor-image-changed"})),
    Case("other code", template("slept well", "slept badly", "jobs/nap/task.py"), frozenset({"code-changed"})),
    Case("quota is only told", stack(quota={"mode": "warn"}), frozenset({"quota-check-weaker"})),
    Case("the program fails", program('raise SystemExit("broken")'), frozenset({"preview-failed"})),
)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory, new_checkout: NewCheckout) -> Iterator[Checkout]:
    """A deployed stack with a job on its cluster, on a cloud that no other test has."""
    folder = tmp_path_factory.mktemp("reviewed")
    mine = LocalCloud(folder / "cloud")
    mine.up(*FAST_FLAGS)
    made = new_checkout(folder, mine, "reviewed")
    stack()(made)
    made.up()
    made.submit("-p", "seconds=600")
    yield made
    mine.local("down")


@pytest.fixture
def restored(busy: Checkout) -> Iterator[Checkout]:
    files = [busy.file, *(busy.folder / name for name in ("templates/nap.py", "jobs/nap/task.py", "__main__.py"))]
    before = {path: path.read_bytes() for path in files}
    yield busy
    for path, content in before.items():
        path.write_bytes(content)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_change_and_what_it_does(case: Case, restored: Checkout, tmp_path: Path) -> None:
    case.edit(restored)
    review = reviewed(restored, tmp_path)
    named = {one["kind"] for one in review["consequences"]}
    assert case.names <= named, review
    assert named.isdisjoint(("drift", "cluster-unsaid")), review  # nobody changed or forged anything
    if not case.names:
        assert named == set(), review
        drifts(restored, str(tmp_path / "events.jsonl"))
    assert bool(review["incomplete"]) is ("preview-failed" in case.names), review["incomplete"]


def drifts(checkout: Checkout, events: str) -> None:
    """Nobody did anything by hand, though a job runs; then somebody lets another into a bucket. # N10"""
    told = checkout.slipway("drift", events, role="previewer")
    assert told.code == 0, told.said
    policy = f"/storage/v1/b/{checkout.buckets()[0]}/iam"
    before = checkout.cloud.rest("GET", policy)
    eve = {"role": "roles/storage.objectViewer", "members": ["user:eve@slipway.example"]}
    checkout.cloud.rest("PUT", policy, {"bindings": [*before["bindings"], eve]})
    try:
        told = checkout.slipway("drift", events, role="previewer")
    finally:
        checkout.cloud.rest("PUT", policy, {"bindings": before["bindings"]})
    assert told.code == 4 and "user:eve@slipway.example has roles/storage.objectViewer" in told.out


@pytest.mark.deployed
def test_after_a_deployment_that_failed_halfway_before_is_what_people_submit_to(
    checkout: Checkout, settings: Callable[..., None], tmp_path: Path
) -> None:
    """The components' inputs have run ahead by then, and name a cluster that is not there."""
    (old,) = checkout.clusters()
    larger = stack(persistentResources=pools(replicas={"min": 1, "max": 3}))
    larger(checkout)
    first = reviewed(checkout, tmp_path)
    made = next(step.rpartition(" ")[2] for step in first["plan"] if step.startswith("create ") and "cpu-" in step)
    settings(create_error=made)
    failed = checkout.pulumi("up", SLIPWAY_CREATE_PATIENCE="1s")
    assert failed.code != 0, failed.said
    settings(create_error="")
    again = reviewed(checkout, tmp_path)
    assert not again["incomplete"]
    (renewed,) = [one for one in again["consequences"] if one["kind"] == "cluster-new-generation"]
    assert any(f"`{old}`" in line for line in renewed["details"])
    assert "2 → 3" in renewed["sentence"]
    assert again["money"]["most"]["before"] != again["money"]["most"]["after"]


def reviewed(checkout: Checkout, folder: Path) -> dict[str, Any]:
    events = folder / "events.jsonl"
    preview = checkout.pulumi("preview", "--json", role="previewer", **STREAMING)
    events.write_text(preview.out)
    done = checkout.slipway("review", str(events), "--output", "json", role="previewer")
    assert done.code == 0, done.said
    found: dict[str, Any] = json.loads(done.out)
    return found
