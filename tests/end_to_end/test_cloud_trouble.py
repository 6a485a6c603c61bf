"""The local cloud is killed, or its disk is full: in words, nothing half done, and afterwards all goes on. (N4)"""

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


def test_a_stack_comes_through_a_full_disk_and_kills_in_the_middle_of_an_up_and_of_a_job(checkout: Checkout) -> None:
    a_full_disk_fails_an_up_in_words(checkout)
    killed_in_the_middle_of_an_up_with_room_again(checkout)
    checkout.up()
    assert list(checkout.clusters().values()) == ["RUNNING"]
    checkout.at_rest()
    killed_while_a_job_runs_the_job_ends_well_after_the_restart(checkout)


def a_full_disk_fails_an_up_in_words(checkout: Checkout) -> None:
    checkout.cloud.command("down")
    checkout.cloud.up(VERTEX_LOCAL_FILE_LIMIT=str(taken(checkout) + 60_000))
    failed = checkout.pulumi("up")
    assert failed.code == 1, failed.said
    assert "disk is full" in failed.said
    assert "Make room, as with `vertex-local cache clear`" in failed.said
    assert checkout.slipway("submit", "nap", "-p", "say=hello").code != 0
    assert checkout.jobs() == []


def taken(checkout: Checkout) -> int:
    """Bytes of the largest file of the cloud's state."""
    return max(file.stat().st_size for file in checkout.cloud.state.rglob("*") if file.is_file())


def killed_in_the_middle_of_an_up_with_room_again(checkout: Checkout) -> None:
    checkout.cloud.command("down")
    checkout.cloud.up("--set", "create_seconds=600")
    up = checkout.start(*checkout.command("up"), role="deployer", SLIPWAY_CREATE_PATIENCE="2s")
    up.until(checkout.clusters, "the cluster is being made")
    kill(checkout.cloud)
    assert up.process.wait() != 0
    assert "Traceback" not in up.said
    checkout.cloud.up("--set", "create_seconds=0")
    checkout.make_clusters_now()
    wait_for(lambda: "PROVISIONING" not in checkout.clusters().values(), "the cluster is made")


def killed_while_a_job_runs_the_job_ends_well_after_the_restart(checkout: Checkout) -> None:
    before = checkout.cloud.record
    hello = ("submit", "nap", "-p", "say=hello", "-p", "seconds=6", "--request-id", "through")
    follower = checkout.start("slipway", *hello, "--follow", role="submitter")
    follower.until(lambda: "the word is hello" in follower.said, "the job speaks")
    kill(checkout.cloud)

    asked = checkout.slipway("jobs", "list")
    assert asked.code == 1, asked.said
    assert f"why: nothing answers at {before.url}" in asked.err
    assert "vertex-local up" in asked.err

    follower.until(lambda: "no contact" in follower.said, "the follower misses the cloud")
    checkout.cloud.up()
    after = checkout.cloud.record
    assert (after.url, after.tokens) == (before.url, before.tokens), "shells that know the cloud stay valid"
    assert follower.process.wait() == 0, follower.said
    assert follower.said.count("slept well") == 1, "a line that is shown twice, or lost"
    (job,) = checkout.jobs("through")
    assert job["state"] == "JOB_STATE_SUCCEEDED"
    assert checkout.slipway("jobs", "logs", job["displayName"]).out.count("the word is hello") == 1
