"""What the program learns of its own stack from the engine, before it declares anything. # N1"""

import contextlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest

from slipway.model.state import State
from tests.checkouts.bucket_backend import bucket_backend
from tests.checkouts.checkout import PROJECT, REGION, Checkout
from tests.checkouts.shell import Started

pytestmark = pytest.mark.journey

TELLS = """
import pulumi
from components.engine import known
pulumi.log.info(f"KNOWN {known()!r}")
"""
NOTHING = repr(State())
RECOVER = "slipway/trial"


def told(checkout: Checkout, verb: str, *arguments: str, **extra: str) -> str:
    """What the program of this command was told."""
    program = checkout.folder / "__main__.py"
    before = program.read_text()
    program.write_text(TELLS + before)
    done = checkout.pulumi(verb, *arguments, **extra)
    program.write_text(before)
    assert done.code == 0, done.said
    (known,) = {line.split("KNOWN ", 1)[1].strip() for line in done.said.splitlines() if "KNOWN " in line}
    return known


def test_it_is_told_in_every_command_and_never_of_what_waits_for_its_deletion(checkout: Checkout) -> None:
    first = told(checkout, "up", "--skip-preview=false")
    assert first == NOTHING, "in its preview, and then still, as it was when the command began"
    (cluster,) = checkout.clusters()
    for known in (told(checkout, "preview"), told(checkout, "refresh", "--yes", "--skip-preview", "--run-program")):
        place = f"project='{PROJECT}', region='{REGION}', stack='slipway--trial'"
        assert f"StateResource(logical='{cluster}', name='{cluster}', {place})" in known
        assert f"StateResource(logical='work', name='{checkout.work}', project='{PROJECT}'" in known
        assert "StateResource(logical='trainer'" in known
        assert f"catalog_bucket='{checkout.catalog.removeprefix('gs://')}'" in known

    # The engine leaves what waits for its deletion out of its answer.
    its_deletion_is_due(checkout, cluster)
    assert "clusters=()" in told(checkout, "preview")


def its_deletion_is_due(checkout: Checkout, cluster: str) -> None:
    """As a killed replacement leaves it in the state."""
    name = f"AiPersistentResource::{cluster}"
    checkout.keep_resources(
        [
            {**resource, "delete": True} if resource["urn"].endswith(name) else resource
            for resource in checkout.resources()
        ]
    )


@pytest.mark.deployed
def test_it_is_told_by_a_backend_in_a_bucket_and_by_a_destruction_too(checkout: Checkout) -> None:
    (cluster,) = checkout.clusters()
    state = checkout.state / "state.json"
    state.write_text(checkout.run("pulumi", "stack", "export", "--stack", checkout.stack, role="deployer").out)
    with bucket_backend(checkout.cloud, f"{PROJECT}-{checkout.stack}-state") as backend:
        made = checkout.run("pulumi", "stack", "init", checkout.stack, role="deployer", **backend)
        assert made.code == 0, made.said
        assert told(checkout, "preview", **backend, SLIPWAY_RECOVER=RECOVER) == NOTHING
        kept = checkout.run("pulumi", "stack", "import", "--file", str(state), role="deployer", **backend)
        assert kept.code == 0, kept.said
        known = told(checkout, "destroy", SLIPWAY_PURPOSE="destroy", **backend)
        assert f"StateResource(logical='{cluster}', name='{cluster}'" in known
    assert checkout.clusters() == {}


SHARED = 6
"""The roles of a submitter that other stacks may need: four on the project, two on the bucket of results."""


def lose_language_host(destruction: Started) -> None:
    for process in destruction.tree():
        with contextlib.suppress(psutil.Error):
            if "pulumi-language-python" in " ".join(process.cmdline()):
                process.kill()


@pytest.mark.deployed
def test_a_destruction_that_lost_its_language_host_needs_one_more(
    checkout: Checkout, faults: Callable[..., None]
) -> None:
    """The process dies when all but the account has been asked for its end, which the engine then waits for."""
    faults({"kind": "hold", "match": "DELETE .*/serviceAccounts/", "times": 1})
    destruction = checkout.start(*checkout.command("destroy"), role="deployer", SLIPWAY_PURPOSE="destroy")
    destruction.until(
        lambda: not checkout.cloud.rest("GET", "/vertex-local/faults")["faults"][0]["times"], "the account"
    )
    destruction.until(lambda: checkout.catalog.removeprefix("gs://") not in checkout.buckets(), "the guard let it go")
    shared = re.compile(r"IAMMember \S+ deleted \(\S+\)\[retain\]")
    destruction.until(lambda: len(shared.findall(destruction.said)) == SHARED, "the hook took the shared roles")
    lose_language_host(destruction)
    faults()
    assert destruction.process.wait() == 1, destruction.said
    assert checkout.resources() == []

    done = checkout.destroy()
    assert done.code == 0 and "nothing to destroy" in done.said and checkout.resources() == [], done.said
    removed = checkout.run("pulumi", "stack", "rm", "--preserve-config", "--yes", checkout.stack, role="deployer")
    assert removed.code == 0, removed.said


def mended(checkout: Checkout, *commands: Sequence[str]) -> None:
    """The runbook's commands mend it, and `up` takes over what lives: the copy of the state is one from before it."""
    before = checkout.clusters()
    looked = checkout.slipway("doctor", "--stack", checkout.stack, "--output", "json", role="deployer")
    assert any("The state was cut off" in (finding["means"] or "") for finding in looked.json["findings"])
    for command in commands:
        done = checkout.run(*command, role="deployer")
        assert done.code == 0, done.said
    done = checkout.pulumi("up", SLIPWAY_RECOVER=RECOVER)
    assert done.code == 0, done.said
    assert checkout.clusters() == before


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:400])


@pytest.mark.deployed
def test_a_state_that_a_full_disk_cut_off_is_mended_as_the_runbook_says(checkout: Checkout) -> None:  # N10
    state = checkout.state_file
    copy = state.with_name(f"{state.name}.bak")
    cut_off(state)
    broken = checkout.pulumi("preview")
    assert broken.code != 0 and "unexpected end of JSON input" in broken.said
    mended(checkout, ("cp", str(copy), str(state)))

    for place in (state, copy):
        cut_off(place)
    mended(checkout, ("mv", str(state), f"{state}.damaged"), ("pulumi", "stack", "init", checkout.stack))
    checkout.at_rest()
