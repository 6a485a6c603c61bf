"""`kill -9` of `pulumi up`, and two at once: the same command runs through and adopts what was made. (N1, N4)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from journey.backend import file_backend
from tests.checkouts.checkout import Checkout
from tests.checkouts.shell import Started, wait_for

pytestmark = pytest.mark.journey

Faults = Callable[..., None]


def delay(match: str, seconds: float = 8) -> dict[str, Any]:
    return {"kind": "delay", "match": match, "seconds": seconds, "times": 1}


def whole(checkout: Checkout) -> None:
    """The stack is deployed once, and the state knows all of it."""
    assert list(checkout.clusters().values()) == ["RUNNING"]
    assert len(checkout.buckets()) == 2
    done = checkout.pulumi("preview", "--expect-no-changes")
    assert done.code == 0, done.said


@pytest.fixture
def up(checkout: Checkout) -> Callable[[], Started]:
    """Starts `pulumi up` in the background and waits until it holds the stack."""

    def start() -> Started:
        started = checkout.start(*checkout.command("up"), role="deployer")
        started.until(checkout.locks, "it holds the stack")
        return started

    return start


@pytest.mark.parametrize(
    ("slow", "reached", "kill"),
    [
        ("POST .*/persistentResources", lambda checkout: len(checkout.buckets()) == 2, Started.kill_tree),
        ("POST /upload/.*-catalog/o", lambda checkout: "RUNNING" in checkout.clusters().values(), Started.kill),
    ],
    ids=["all-of-it-while-it-creates", "the-engine-alone-before-it-publishes"],
)
def test_killed_at_some_moment_the_same_command_runs_through(
    checkout: Checkout,
    faults: Faults,
    up: Callable[[], Started],
    slow: str,
    reached: Callable[[Checkout], bool],
    kill: Callable[[Started], None],
) -> None:
    faults(delay(slow))
    killed = up()
    killed.until(lambda: reached(checkout), "the moment to kill it")
    kill(killed)
    checkout.clear_after_a_kill()
    done = checkout.pulumi("up")
    assert done.code == 0, done.said
    assert killed.tree() == []
    whole(checkout)


def test_nothing_lives_on_when_the_engine_alone_is_killed(
    checkout: Checkout, faults: Faults, up: Callable[[], Started]
) -> None:
    """Language host, program and provider end by themselves: nobody has to look for them."""
    faults(delay("POST .*/persistentResources"))
    killed = up()
    killed.until(lambda: len(checkout.buckets()) == 2, "the program runs, and its provider")
    assert len(killed.tree()) >= 4
    killed.kill()
    wait_for(lambda: not killed.tree(), "nothing of it is left")


def test_killed_while_a_cluster_is_made_the_next_one_waits_for_it(
    checkout: Checkout, up: Callable[[], Started]
) -> None:
    checkout.cloud.rest("POST", "/slipway/settings", {"create_seconds": "600"})
    killed = up()
    killed.until(checkout.clusters, "the cluster is being made")
    checkout.cloud.rest("POST", "/slipway/settings", {"create_seconds": "0"})
    killed.kill_tree()
    (cluster,) = checkout.clusters()
    checkout.clear_after_a_kill()
    second = up()
    words = f"waiting for {cluster}: still being made since an earlier deployment"
    second.until(lambda: words in second.said, "it says what it waits for")
    checkout.make_clusters_now()
    assert second.process.wait(60) == 0, second.said
    assert checkout.clusters() == {cluster: "RUNNING"}
    whole(checkout)


def test_the_lock_of_a_dead_one_is_named_and_pulumi_cancel_takes_it_away(
    checkout: Checkout, faults: Faults, up: Callable[[], Started]
) -> None:
    faults(delay("GET .*/persistentResources"))
    up().kill_tree()
    refused = checkout.pulumi("up")
    assert refused.code == 1, refused.said
    assert "the stack is currently locked by 1 lock(s)" in refused.said
    assert "pulumi cancel" in refused.said
    assert checkout.nothing_made()
    cancelled = checkout.run("pulumi", "cancel", checkout.stack, "--yes", role="deployer")
    assert cancelled.code == 0, cancelled.said
    checkout.up()
    whole(checkout)


def test_of_two_at_once_one_deploys_and_the_other_is_refused(
    checkout: Checkout, faults: Faults, up: Callable[[], Started]
) -> None:
    faults(delay("POST .*/persistentResources", 4))
    first = up()
    second = checkout.pulumi("up")
    assert second.code == 1, second.said
    assert "the stack is currently locked by 1 lock(s)" in second.said
    assert f"(pid {first.process.pid})" in second.said
    wait_for(lambda: first.process.poll() is not None, "the first one ends")
    assert first.process.returncode == 0, first.said
    whole(checkout)


def test_of_two_at_once_with_different_states_both_end_well_and_one_cluster_is_made(
    checkout: Checkout, faults: Faults, up: Callable[[], Started]
) -> None:
    """Two people who deploy the same stack from backends of their own: the second adopts what the first makes."""
    faults(delay("POST /upload/.*-catalog/o", 4))
    first = up()
    first.until(lambda: "RUNNING" in checkout.clusters().values(), "the cluster runs")
    backend = checkout.state / "other-state"
    backend.mkdir()
    other = {"PULUMI_BACKEND_URL": file_backend(backend)}
    made = checkout.run("pulumi", "stack", "init", checkout.stack, role="deployer", **other)
    assert made.code == 0, made.said
    second = checkout.pulumi("up", **other)
    assert second.code == 0, second.said
    assert first.process.wait(60) == 0, first.said
    whole(checkout)
