"""A cluster that ends in ERROR or is deleted by hand: said in words, and put right by the next `pulumi up`. (B1, N2)"""

from collections.abc import Callable

import pytest

from tests.checkouts.checkout import VERTEX, Checkout
from tests.checkouts.shell import Done, wait_for

pytestmark = pytest.mark.journey


def refused(checkout: Checkout, done: Done, what: str, cluster: str) -> None:
    assert done.code == 4, done.said
    assert f"error: {what}" in done.err
    assert f"why: {cluster}: " in done.err
    assert "fix: " in done.err
    assert f"make up STACK={checkout.stack}" in done.err


def delete_by_hand(checkout: Checkout, cluster: str) -> None:
    checkout.cloud.rest("DELETE", f"{VERTEX}/persistentResources/{cluster}")
    found = checkout.cloud.session()
    at = f"{checkout.cloud.url}{VERTEX}/persistentResources/{cluster}"
    wait_for(lambda: found.get(at).status_code == 404, "the cluster is gone")


@pytest.mark.deployed
def test_a_cluster_in_error_or_gone_is_refused_and_the_next_up_makes_a_new_one(
    checkout: Checkout, settings: Callable[..., None]
) -> None:
    (first,) = checkout.clusters()
    settings(reboot_error=first)
    checkout.cloud.rest("POST", f"{VERTEX}/persistentResources/{first}:reboot", {})
    wait_for(lambda: checkout.clusters() == {first: "ERROR"}, "the reboot fails")
    failed = checkout.slipway("submit", "nap", "-p", "say=hello")
    refused(checkout, failed, "cluster cpu is in ERROR and takes no jobs", first)

    checkout.up()
    (second,) = [id_ for id_, state in checkout.clusters().items() if state == "RUNNING"]
    assert second == f"{first}-2"
    delete_by_hand(checkout, second)
    refused(checkout, checkout.slipway("submit", "nap", "-p", "say=hello"), "cluster cpu is gone", second)
    assert checkout.jobs() == []

    a_foreign_cluster_under_our_id_is_left_alone(checkout, second)

    # What was deleted by hand is made again, in the same way and under the id that is free again. # B1
    done = checkout.pulumi("up")
    assert done.code == 0, done.said
    again = "cluster cpu: create: 1–2 n1-standard-4, $0.25/h idle; the deployed cluster failed or no longer exists"
    assert again in done.said
    assert f"cluster {first} is accepted and being made" in done.said
    assert checkout.clusters() == {first: "RUNNING"}
    assert checkout.submit("--wait")["state"] == "succeeded"

    what_an_autoscaler_did_is_no_change(checkout, first)


def a_foreign_cluster_under_our_id_is_left_alone(checkout: Checkout, cluster: str) -> None:
    body = {"resourcePools": [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}]}
    checkout.cloud.rest("POST", f"{VERTEX}/persistentResources?persistentResourceId={cluster}", body)
    done = checkout.pulumi("up")
    assert done.code != 0
    assert cluster in done.said and "not its labels" in done.said
    assert checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{cluster}")["state"] == "RUNNING"
    delete_by_hand(checkout, cluster)


def what_an_autoscaler_did_is_no_change(checkout: Checkout, cluster: str) -> None:  # B2
    """The pool grows for two jobs at once; preview sees nothing to do."""
    jobs = [checkout.submit("-p", "seconds=600") for _ in range(2)]

    def grown() -> bool:
        pools = checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{cluster}")["resourcePools"]
        return bool(pools[0]["replicaCount"] == "2")

    wait_for(grown, "the pool grows")
    checkout.at_rest()
    for job in jobs:
        checkout.slipway("jobs", "cancel", job["displayName"])
