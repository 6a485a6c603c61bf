"""The local cloud is killed, or its disk is full: in words, nothing half done, and afterwards all goes on. (N4)"""

from __future__ import annotations

import os
import signal

import psutil
import pytest

from tests.checkouts.checkout import Checkout
from tests.checkouts.shell import wait_for
from tests.local.conftest import LocalCloud

pytestmark = pytest.mark.journey


def kill(cloud: LocalCloud) -> None:
    process = psutil.Process(cloud.record.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_a_stack_comes_through_a_full_disk_and_kills_in_the_middle_of_an_up_and_of_a_job(own: Checkout) -> None:
    a_full_disk_fails_an_up_in_words(own)
    killed_in_the_middle_of_an_up_with_room_again(own)
    own.up()
    assert list(own.clusters().values()) == ["RUNNING"]
    assert own.pulumi("preview", "--expect-no-changes").code == 0
    killed_while_a_job_runs_the_job_ends_well_after_the_restart(own)


def a_full_disk_fails_an_up_in_words(own: Checkout) -> None:
    own.cloud.local("down")
    own.cloud.up(SLIPWAY_LOCAL_FILE_LIMIT=str(taken(own) + 60_000))
    failed = own.pulumi("up")
    assert failed.code == 1, failed.said
    assert "disk is full" in failed.said
    assert "Free some space" in failed.said
    assert own.slipway("submit", "nap", "-p", "say=hello").code != 0
    assert own.jobs() == []


def taken(checkout: Checkout) -> int:
    """Bytes of the largest file of the cloud's state."""
    return max(file.stat().st_size for file in checkout.cloud.state.rglob("*") if file.is_file())


def killed_in_the_middle_of_an_up_with_room_again(own: Checkout) -> None:
    own.cloud.local("down")
    own.cloud.up("--set", "create_seconds=600")
    up = own.start(*own.command("up"), role="deployer", SLIPWAY_CREATE_PATIENCE="2s")
    up.until(own.clusters, "the cluster is being made")
    kill(own.cloud)
    assert up.process.wait() != 0
    assert "Traceback" not in up.said
    own.cloud.up("--set", "create_seconds=0")
    own.make_clusters_now()
    wait_for(lambda: "PROVISIONING" not in own.clusters().values(), "the cluster is made")


def killed_while_a_job_runs_the_job_ends_well_after_the_restart(own: Checkout) -> None:
    before = own.cloud.record
    hello = ("submit", "nap", "-p", "say=hello", "-p", "seconds=6", "--request-id", "through")
    follower = own.start("slipway", *hello, "--follow", role="submitter")
    follower.until(lambda: "the word is hello" in follower.said, "the job speaks")
    kill(own.cloud)

    asked = own.slipway("jobs", "list")
    assert asked.code == 1, asked.said
    assert f"why: nothing answers at {before.url}" in asked.err
    assert "python -m local up" in asked.err

    own.cloud.up()
    after = own.cloud.record
    assert (after.url, after.tokens) == (before.url, before.tokens), "shells that know the cloud stay valid"
    assert follower.process.wait() == 0, follower.said
    assert "no contact" in follower.said
    assert follower.said.count("slept well") == 1, "a line that is shown twice, or lost"
    (job,) = own.jobs("through")
    assert job["state"] == "JOB_STATE_SUCCEEDED"
    assert own.slipway("jobs", "logs", job["displayName"]).out.count("the word is hello") == 1
