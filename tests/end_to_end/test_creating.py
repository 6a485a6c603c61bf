"""What a creation meets, with the real engine: a refusal, a stock-out, a lost answer, commands that create nothing."""

import re
from collections.abc import Callable

import pytest

from slipway.model.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from tests.checkouts.checkout import MACHINE, VERTEX, Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

Faults = Callable[..., None]
Settings = Callable[..., None]

QUOTA = "The following quota metrics exceed quota limits: aiplatform.googleapis.com/custom_model_training_cpus"
POST = "POST .*/persistentResources$"
CPU = {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 2}}}}}
"""What checkouts write where they are told nothing else."""
LARGER = {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 3}}}}
OTHERS = [{"pools": {"all": {"machine": "n1-standard-8", "replicas": {"min": 1, "max": 2}}}}]
LARGE = {"pools": {"all": {**MACHINE, "replicas": {"min": 600, "max": 700}}}}
"""It needs more quota than there is."""


def test_a_creation_that_is_refused_or_fails_is_said_and_mended(  # N2
    checkout: Checkout, settings: Settings, faults: Faults
) -> None:
    # Commands that create nothing make no cluster, where there is nothing yet and where one is to be made again.
    makes_no_cluster(checkout, "refresh", "--run-program", "--yes", "--skip-preview")
    makes_no_cluster(checkout, "destroy")
    assert checkout.clusters() == {}

    a_refusal_for_quota_is_shown_in_the_services_words_and_ends_by_itself(checkout)
    trouble_before_the_program_runs_is_explained(checkout, faults)
    id_ = a_stock_out_that_lasts_ends_up_with_words_and_leaves_nothing_behind(checkout, settings)
    a_failed_cluster_that_is_found_and_short_quota_are_named_in_preview(checkout, settings, id_)

    # The same `up` clears it, and survives a stock-out of the next one.
    settings(create_error=f"{id_}-2")
    up = checkout.begin("up")
    up.until(lambda: "trying again, for up to 15 min" in up.said, "it says that it tries again")
    assert f"cluster {id_}-2 ended in ERROR" in up.said
    settings(create_error="")
    assert up.process.wait() == 0, up.said
    for failed in (id_, f"{id_}-2"):
        assert re.search(rf"deleting cluster {failed}: it failed \(Resources are insufficient", up.said), up.said
    assert checkout.clusters() == {f"{id_}-2": "RUNNING"}

    a_rollover_that_meets_a_stock_out_leaves_the_old_one_to_its_submitters(checkout, settings, f"{id_}-2")


def a_rollover_that_meets_a_stock_out_leaves_the_old_one_to_its_submitters(
    checkout: Checkout, settings: Settings, old: str
) -> None:
    """Nor is its alternative made. (One that is: test_other_regions.) All else is published."""
    cpu = {"cpu": {**LARGER, "createWithin": "1m", "alternatives": OTHERS}}
    people = {"submitters": ["group:ml-engineers@company.example", "group:new@company.example"], "code": True}
    checkout.write(persistentResources={**cpu, "other": CPU["cpu"]}, workspace=people)
    settings(create_error="cpu-")
    # Patience is that, whatever the stack file says.
    failed = checkout.pulumi("up", SLIPWAY_CREATE_PATIENCE="1s")
    assert failed.code == 1, failed.said
    said = re.search(r"cluster (cpu-\w{7}) could not be made, nor could its alternative \(\d+ tries in", failed.said)
    assert said and said[1] not in old, failed.said
    assert "(`createWithin`)" in failed.said
    (other,) = checkout.clusters().keys() - {old}
    assert checkout.clusters() == {old: "RUNNING", other: "RUNNING"} and other.startswith("other-")
    for pool in ("cpu/all", "other/all"):  # the catalog still offers the old one
        checkout.submit("--pool", pool, "--wait")
    assert [grant for grant in checkout.resources() if grant["urn"].endswith("::submit-group:new@company.example")]
    told = checkout.slipway("doctor", "--stack", checkout.stack).out
    assert f"! cluster cpu is declared anew, as {said[1]}, and not there: the catalog, of" in told, told
    assert f"offers {old} in its place\n    fix: make up STACK={checkout.stack}" in told, told


def makes_no_cluster(checkout: Checkout, verb: str, *flags: str) -> str:
    """What it said. The program runs in all of them, and in two the engine says that it is not a dry run."""
    before = checkout.clusters()
    done = checkout.pulumi(verb, *flags)
    assert done.code == 0, done.said
    assert "being made" not in done.said
    assert checkout.clusters() == before
    return done.said


def a_refusal_for_quota_is_shown_in_the_services_words_and_ends_by_itself(checkout: Checkout) -> None:
    checkout.write(persistentResources={"cpu": LARGE}, quota={"mode": "warn"})
    done = checkout.pulumi("up", SLIPWAY_CREATE_PATIENCE="3s")
    assert done.code != 0
    assert "needs 2,400, limit 2,200" in done.said  # D2: short quota is said, and where it only warns, tried
    assert f"is refused: {QUOTA}" in done.said
    assert "for up to 3 s" in done.said
    assert re.search(r"could not be made: .* \(\d tries in \d+ s\)", done.said), done.said
    assert "fix: slipway quota" in done.said
    assert checkout.clusters() == {}


def trouble_before_the_program_runs_is_explained(checkout: Checkout, faults: Faults) -> None:
    """The engine's first reads fail, after a first deployment that has failed: the program can't explain them."""
    faults({"kind": "unavailable", "match": "GET .*-work$", "times": 1000})
    done = checkout.pulumi("destroy", SLIPWAY_PURPOSE="destroy", SLIPWAY_GCP_PLUGIN_SPEED="100")
    assert done.code != 0 and "503" in done.said, done.said
    (checkout.folder / "said.txt").write_text(done.said)
    assert "fix: " in checkout.slipway("explain", "said.txt").said
    faults()


def a_stock_out_that_lasts_ends_up_with_words_and_leaves_nothing_behind(checkout: Checkout, settings: Settings) -> str:
    """The id of the cluster that is not made."""
    checkout.write()
    settings(create_error="cpu-")
    failed = checkout.pulumi("up", SLIPWAY_CREATE_PATIENCE="1s")
    assert failed.code == 1, failed.said
    # How many tries a second holds is the machine's; test_making counts them on a clock of its own.
    said = re.search(
        r"cluster (cpu-\w{7}) could not be made: it ended in ERROR \((one try|\d tries in \d+ s)\)", failed.said
    )
    assert said, failed.said
    assert "why: Resources are insufficient" in failed.said
    assert "fix: deploy again" in failed.said
    assert "nothing of it is left" in failed.said
    assert checkout.clusters() == {}
    told = checkout.slipway("doctor", "--stack", checkout.stack).out
    assert "! cluster cpu is declared and has not been there for" in told, told  # N10
    return said[1]


def a_failed_cluster_that_is_found_and_short_quota_are_named_in_preview(
    checkout: Checkout, settings: Settings, id_: str
) -> None:
    labels = {STACK_LABEL: f"slipway--{checkout.stack}", NAME_LABEL: "cpu", HASH_LABEL: id_.removeprefix("cpu-")}
    pool = {"id": "all", "machineSpec": {"machineType": MACHINE["machine"]}, "replicaCount": "1"}
    body = {"displayName": "cpu", "labels": labels, "resourcePools": [pool]}
    checkout.cloud.rest("POST", f"{VERTEX}/persistentResources?persistentResourceId={id_}", body)
    wait_for(lambda: checkout.clusters() == {id_: "ERROR"}, "the creation fails")
    settings(create_error="")
    checkout.write(persistentResources=CPU | {"large": LARGE}, quota={"mode": "warn"})
    said = makes_no_cluster(checkout, "preview")
    assert f"cluster {id_}: delete: an earlier deployment left it, and it failed: Resources are insufficient" in said
    assert "cluster cpu: create: 1–2 n1-standard-4" in said
    assert "needs 2,404, limit 2,200" in said  # D2
    checkout.write()


def test_whatever_is_declared_is_taken_over_without_a_change_though_an_answer_is_lost(
    checkout: Checkout, faults: Faults
) -> None:
    """The provider compares what it finds with what is declared, and would replace the cluster for a difference."""
    t4 = {"machine": "n1-standard-8", "accelerator": {"type": "NVIDIA_TESLA_T4", "count": 1}, "replicas": 1}
    small = {**MACHINE, "replicas": 1}
    checkout.write(
        quota={"mode": "warn"},
        persistentResources={
            "cpu": {"pools": {"all": {**small, "replicas": {"min": 1, "max": 2}}}},
            "net": {
                "pools": {"all": small},
                "displayName": "Team A",
                "labels": {"team": "a"},
                "network": "projects/1/global/networks/n",
                "reservedIpRanges": ["vertex"],
                "serviceAccount": {"custom": False},
            },
            "two": {
                "pools": {"b": {**small, "replicas": {"min": 1, "max": 3, "initial": 2}}, "gpu": t4},
                "encryption": {"kmsKey": "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"},
                "pscInterface": {
                    "networkAttachment": "attachment",
                    "dnsPeeringConfigs": [{"domain": "acme.", "targetProject": "net", "targetNetwork": "shared"}],
                },
            },
        },
    )
    faults({"kind": "lost-answer", "match": POST, "times": 1})
    done = checkout.pulumi("up")
    assert done.code == 0, done.said
    assert "although the answer did not come" in done.said
    assert list(checkout.clusters().values()) == ["RUNNING"] * 3
    checkout.at_rest()
