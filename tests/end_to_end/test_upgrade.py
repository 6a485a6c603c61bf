"""A stack that the release before deployed, with jobs that run, goes through today's `up`, and on in a small
repository of its team's own. # N1 # D8

`deployed/dc28618.json` is what `python -m tests.checkouts.record_earlier dc28618 FILE` wrote down: its state, its
catalog, its packages, all that lived in the cloud, and the bodies of two jobs: one on a cluster that retires, one on
its successor.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.checkouts import earlier, wait
from tests.checkouts.checkout import PROJECT, Checkout
from tests.checkouts.fixtures import NewCheckout
from tests.checkouts.laptop import Laptop
from tests.checkouts.shell import wait_for
from tests.docs.test_upgrading import moving
from tests.local.conftest import LocalCloud

pytestmark = pytest.mark.journey


@pytest.fixture
def programs(deploying: Path) -> Path:
    return deploying / "bin"


@dataclass(frozen=True)
class Busy:
    """An earlier stack and its jobs, the one on the retiring cluster first."""

    checkout: Checkout
    jobs: list[str]

    def goes_on(self) -> None:
        """All run, nothing is there twice, and people find them and the catalog."""
        assert {*map(self.checkout.job_state, self.jobs)} == {"JOB_STATE_RUNNING"}
        assert sorted(one["name"] for one in self.checkout.jobs()) == sorted(self.jobs)
        for words in (("templates",), ("pools",), *(("jobs", "show", name.rsplit("/", 1)[-1]) for name in self.jobs)):
            done = self.checkout.slipway(*words)
            assert done.code == 0, done.said

    def cluster(self, job: str) -> str:
        return str(self.checkout.cloud.rest("GET", f"/v1/{job}")["jobSpec"]["persistentResourceId"])

    def ends_well(self, name: str) -> None:
        job = self.checkout.cloud.rest("GET", f"/v1/{name}")
        output = job["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"].rstrip("/")
        bucket, _, folder = output.removeprefix("gs://").partition("/")
        at = f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={folder}/{wait.GO}"
        self.checkout.cloud.call("POST", at, data=b"").raise_for_status()
        wait_for(lambda: "endTime" in self.checkout.cloud.rest("GET", f"/v1/{name}"), "the job ends")
        assert self.checkout.job_state(name) == "JOB_STATE_SUCCEEDED"


@pytest.fixture(params=earlier.DEPLOYED, ids=lambda file: file.stem)
def busy(request: pytest.FixtureRequest, tmp_path: Path, cloud: LocalCloud, new_checkout: NewCheckout) -> Busy:
    before = earlier.read(request.param)
    checkout: Checkout = new_checkout(tmp_path, cloud, before.stack, files=wait.lay_out)
    return Busy(checkout, before.restore(checkout))


def test_a_stack_goes_on_with_its_jobs_through_up_and_into_a_small_repository(busy: Busy, programs: Path) -> None:
    fork = busy.checkout
    small = moved(fork, programs)
    busy.goes_on()
    lived = living(fork)
    planned = steps(fork.pulumi("preview", "--json"))
    assert harm(planned) == set()
    assert sorted(planned) == sorted(steps(small.pulumi("preview", "--json"))), "moved at once, the same happens"

    assert harm(deployed(fork)) == set()
    assert living(fork) == lived
    busy.goes_on()

    done = small.pulumi("preview", "--expect-no-changes")
    assert done.code == 0, done.said
    assert harm(deployed(small)) == set()
    assert living(small) == lived
    busy.goes_on()

    first, second = busy.jobs
    old, current = busy.cluster(first), busy.cluster(second)
    busy.ends_well(first)
    assert harm(deployed(small)) == {f"delete {old}"}, "it retires as it would have"
    assert small.clusters() == {current: "RUNNING"}
    busy.ends_well(second)


def deployed(checkout: Checkout) -> list[tuple[str, str]]:
    """The steps of a deployment."""
    done = checkout.pulumi("up", "--json")
    assert done.code == 0, done.said
    events = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
    did = [event["resourcePreEvent"]["metadata"] for event in events if "resourcePreEvent" in event]
    assert len(did) > 20, done.out
    return [(one["op"], one["urn"]) for one in did]


def moved(fork: Checkout, programs: Path) -> Checkout:
    """The stack in a small repository, as docs/upgrading.md has it, with the wheel for its program."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    laptop = Laptop(programs, fork.folder, {**environ, "PATH": f"{programs}{os.pathsep}{environ['PATH']}"})
    done = laptop.run("/bin/bash", "-ec", moving())
    assert done.code == 0, done.said
    path = os.pathsep.join([str(programs), fork.environ("deployer")["PATH"]])
    variables = {**fork.variables, "PATH": path, "PYTHONPATH": ""}
    return replace(fork, folder=fork.folder.with_name("acme-training"), variables=variables)


def living(checkout: Checkout) -> Any:
    """Resources that run, cost or hold data, and who may do what with them."""
    cloud = checkout.cloud
    accounts = cloud.rest("GET", f"/v1/projects/{PROJECT}/serviceAccounts")["accounts"]
    policy = cloud.rest("POST", f"/v1/projects/{PROJECT}:getIamPolicy", {})
    return (
        checkout.clusters(),
        checkout.buckets(),
        sorted(one["uniqueId"] for one in accounts),
        sorted((one["role"], member) for one in policy["bindings"] for member in one["members"]),
    )


def steps(preview: Any) -> list[tuple[str, str]]:
    assert preview.code == 0, preview.said
    return [(step["op"], step["urn"]) for step in preview.json["steps"]]


def harm(planned: Iterable[tuple[str, str]]) -> set[str]:
    """The steps, each an operation and whom it concerns, that an earlier stack must not meet."""
    return {
        f"{op} {urn.rsplit('::', 1)[-1]}"
        for op, urn in planned
        if op not in ("same", "refresh", "update") and not is_package(urn)
    }


def is_package(urn: str) -> bool:
    """A package is named by what is in it: another one comes beside it, and the old one stays in its bucket."""
    return "$gcp:storage/bucketObject:BucketObject::wait-" in urn
