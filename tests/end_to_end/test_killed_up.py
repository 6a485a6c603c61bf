"""`kill -9` of `pulumi up`, and two at once: the same command runs through and adopts what was made. (N1, N4)"""

from collections.abc import Callable
from typing import Any

import pytest

from local.backend import file_backend
from tests.checkouts.checkout import Checkout
from tests.checkouts.shell import Done, Started, wait_for

pytestmark = pytest.mark.journey

Faults = Callable[..., None]
Settings = Callable[..., None]
CREATE, PUBLISH = "POST .*/persistentResources", "POST /upload/.*-catalog/o"
LOCKED = "the stack is currently locked by 1 lock(s)"


def delay(match: str, seconds: float = 8) -> dict[str, Any]:
    return {"kind": "delay", "match": match, "seconds": seconds, "times": 1}


def up(checkout: Checkout) -> Started:
    """`pulumi up` in the background, from when it holds the stack, with processes that nothing but its end ends."""
    started = checkout.start(*checkout.command("up"), role="deployer")
    started.until(checkout.locks, "it holds the stack")
    return started


def whole(checkout: Checkout) -> None:
    """The stack is deployed once, and the state knows all of it."""
    assert list(checkout.clusters().values()) == ["RUNNING"]
    assert len(checkout.buckets()) == 2
    checkout.at_rest()


@pytest.mark.smoke
def test_killed_again_and_again_the_same_command_runs_through(
    checkout: Checkout, faults: Faults, settings: Settings
) -> None:
    # Killed with all that it started when it has sent the request for its cluster.
    settings(create_seconds=600.0)  # also for that request, which may be carried out after all
    faults(delay(CREATE))
    killed = checkout.begin("up")
    killed.until(lambda: len(checkout.buckets()) == 2, "the moment to kill it")
    killed.kill_tree()
    checkout.clear_after_a_kill()

    # While the cluster is being made. The next one waits for it, and says so.
    killed = checkout.begin("up")
    killed.until(checkout.clusters, "the cluster is being made")
    settings(create_seconds=0.0)
    killed.kill_tree()
    (cluster,) = checkout.clusters()
    checkout.clear_after_a_kill()
    faults(delay(PUBLISH))
    killed = checkout.begin("up")
    words = f"waiting for {cluster}: still being made since an earlier deployment"
    killed.until(lambda: words in killed.said, "it says what it waits for")
    checkout.make_clusters_now()

    # The engine alone, before it publishes.
    killed.until(lambda: "RUNNING" in checkout.clusters().values(), "the moment to kill it")
    killed.kill()
    checkout.clear_after_a_kill()

    done = checkout.pulumi("up")
    assert done.code == 0, done.said
    assert killed.tree() == []
    assert checkout.clusters() == {cluster: "RUNNING"}
    whole(checkout)

    # It took the cluster over, so the engine deletes it, by a destruction that does not even say what it is. Killed
    # while the cluster goes, the same command waits until it is gone.
    settings(delete_seconds=600.0)
    killed = checkout.begin("destroy")
    killed.until(lambda: checkout.clusters() == {cluster: "STOPPING"}, "the cluster goes")
    killed.kill_tree()
    checkout.clear_after_a_kill()
    again = checkout.begin("destroy")
    words = f"cluster {cluster} is being deleted already: waiting until it is gone"
    again.until(lambda: words in again.said, "it says what it waits for")
    checkout.delete_clusters_now()
    assert again.process.wait() == 0, again.said
    assert checkout.clusters() == {}


def test_whoever_holds_the_stack_dead_or_alive_is_named_and_two_who_do_not_see_each_other_both_end_well(
    checkout: Checkout, faults: Faults
) -> None:
    # Of two at once one is refused, while the other goes on.
    faults({"kind": "unavailable", "match": CREATE})
    first = up(checkout)
    first.until(lambda: len(checkout.buckets()) == 2, "the program runs, and its provider")
    refused(checkout.pulumi("up"), LOCKED, f"(pid {first.process.pid})")

    # Nothing lives on when the engine alone is killed: language host, program and provider end by themselves, and
    # nobody has to look for them.
    assert len(first.tree()) >= 4
    first.kill()
    wait_for(lambda: not first.tree(), "nothing of it is left")
    assert checkout.clusters() == {}

    # The lock of a dead one is named, and `pulumi cancel` takes it away.
    refused(checkout.pulumi("up"), LOCKED, "pulumi cancel")
    assert checkout.clusters() == {}
    cancelled = checkout.run("pulumi", "cancel", checkout.stack, "--yes", role="deployer")
    assert cancelled.code == 0, cancelled.said
    assert checkout.locks() == []
    checkout.clear_after_a_kill()  # the kill may have cut off what the engine was writing

    # Two people who deploy the same stack from backends of their own: the second one is rejected, and adopts what the
    # first one creates if that person says so.
    faults({"kind": "hold", "match": PUBLISH, "times": 1})
    first = checkout.begin("up")
    first.until(lambda: "RUNNING" in checkout.clusters().values(), "the cluster runs")
    backend = checkout.state / "other-state"
    backend.mkdir()
    other = {"PULUMI_BACKEND_URL": file_backend(backend)}
    made = checkout.run("pulumi", "stack", "init", checkout.stack, role="deployer", **other)
    assert made.code == 0, made.said
    refused(checkout.pulumi("up", **other), "stack trial of Pulumi project slipway exists already")
    second = checkout.pulumi("up", SLIPWAY_RECOVER="slipway/trial", **other)
    assert second.code == 0, second.said
    assert first.process.poll() is None, first.said
    faults()
    assert first.process.wait() == 0, first.said
    whole(checkout)


def refused(done: Done, *words: str) -> None:
    assert done.code == 1, done.said
    for text in words:
        assert text in done.said
