"""A program of one's own, killed alone amid a preview and amid an `up`: the next `up` runs through. # N1 # N33"""

from collections.abc import Callable

import psutil
import pytest

from tests.checkouts.checkout import VERTEX, Checkout
from tests.checkouts.shell import Started
from tests.end_to_end.test_own_program import write

pytestmark = pytest.mark.journey
CLUSTERS = ".*/persistentResources"


def program_of(engine: Started) -> psutil.Process | None:
    """Return the process that runs the program."""
    for process in engine.tree():
        try:
            if any(part.endswith("pulumi-language-python-exec") for part in process.cmdline()):
                return process
        except psutil.Error:
            continue
    return None


def kill_program(engine: Started) -> None:
    """Kill the program with `kill -9`, and see the engine end without it."""
    program = program_of(engine)
    assert program is not None, engine.said
    program.kill()
    assert engine.process.wait(120) != 0, engine.said


def test_the_next_up_runs_through(checkout: Checkout, faults: Callable[..., None]) -> None:
    write(checkout)
    # Amid a preview, which reads clusters.
    faults({"kind": "delay", "match": CLUSTERS, "seconds": 8, "times": 1})
    preview = checkout.start(*checkout.command("preview"), role="deployer")
    preview.until(lambda: program_of(preview), "the program runs")
    kill_program(preview)
    faults()
    assert checkout.nothing_made()

    # Amid an `up`, when one of its two clusters is asked for and the other's request is on its way.
    faults({"kind": "delay", "match": f"POST {CLUSTERS}", "seconds": 8, "times": 1})
    up = checkout.start(*checkout.command("up"), role="deployer")
    up.until(lambda: "is accepted and being made" in up.said, "a cluster is asked for")
    kill_program(up)
    faults()

    checkout.up()
    made = checkout.outputs()["clusters"]
    alive = checkout.cloud.every(f"{VERTEX}/persistentResources", "persistentResources")
    assert {each["name"].rpartition("/")[2]: each["state"] for each in alive} == dict.fromkeys(made.values(), "RUNNING")
    checkout.at_rest()
