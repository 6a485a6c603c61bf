"""What a creation meets, with the real engine: a refusal, a stock-out, a lost answer, commands that create nothing."""

from __future__ import annotations

import re

import pytest

from tests.checkouts.checkout import MACHINE, VERTEX, Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

QUOTA = "The following quota metrics exceed quota limits: aiplatform.googleapis.com/custom_model_training_cpus"
POST = "POST .*/persistentResources$"


def unchanged(checkout: Checkout) -> None:
    done = checkout.pulumi("preview", "--expect-no-changes")
    assert done.code == 0, done.said


def test_a_refusal_for_quota_is_shown_in_the_services_words_and_ends_by_itself(own: Checkout) -> None:
    large = {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 600, "max": 700}}}}}
    own.write(persistentResources=large, quota={"mode": "warn"})
    done = own.pulumi("up", SLIPWAY_CREATE_PATIENCE="3s")
    assert done.code != 0
    assert f"is refused: {QUOTA}" in done.said
    assert "trying again, for up to 3 s" in done.said
    assert re.search(r"could not be made: it is refused \(\d tries in \d+ s\)", done.said), done.said
    assert "fix: slipway quota shows limits and use; then run pulumi up again" in done.said
    assert own.clusters() == {}


def test_a_stock_out_is_survived(own: Checkout) -> None:  # N2
    own.cloud.rest("POST", "/slipway/settings", {"create_error": "cpu-"})
    up = own.start(*own.command("up"), role="deployer")
    up.until(lambda: "trying again, for up to 15 min" in up.said, "it says that it tries again")
    assert "ended in ERROR: Resources are insufficient in region: us-central1." in up.said
    own.cloud.rest("POST", "/slipway/settings", {"create_error": ""})
    assert up.process.wait(120) == 0, up.said
    assert "is deleted: it holds nothing" in up.said
    assert list(own.clusters().values()) == ["RUNNING"]
    unchanged(own)


def test_a_lost_answer_is_no_failure(own: Checkout) -> None:
    own.cloud.rest("POST", "/slipway/faults", {"faults": [{"kind": "lost-answer", "match": POST, "times": 1}]})
    own.up()
    assert list(own.clusters().values()) == ["RUNNING"]
    unchanged(own)


def test_one_that_is_deleted_by_hand_is_made_again_in_the_same_way(checkout: Checkout) -> None:  # B1
    checkout.up()
    (id_,) = checkout.clusters()
    checkout.cloud.rest("DELETE", f"{VERTEX}/persistentResources/{id_}")
    wait_for(lambda: checkout.clusters() == {}, "the cluster is gone")
    done = checkout.pulumi("up")
    assert done.code == 0, done.said
    assert f"cluster {id_} is accepted and being made" in done.said
    assert checkout.clusters() == {id_: "RUNNING"}
    unchanged(checkout)


@pytest.mark.parametrize("verb", ["preview", "refresh", "destroy"])
def test_commands_that_create_nothing_make_no_cluster(checkout: Checkout, verb: str) -> None:
    """The program runs in all of them, and in two the engine says that it is no dry run."""
    flags = {"refresh": ("--run-program", "--yes", "--skip-preview")}.get(verb, ())
    done = checkout.pulumi(verb, *flags)
    assert done.code == 0, done.said
    assert "being made" not in done.said
    assert checkout.clusters() == {}


def test_whatever_is_declared_is_taken_over_without_a_change(checkout: Checkout) -> None:
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
    checkout.up()
    assert list(checkout.clusters().values()) == ["RUNNING"] * 3
    unchanged(checkout)
