"""A cluster that ends in ERROR or is deleted by hand: said in words, and mended by the next `pulumi up`. (B1, N2)"""

from __future__ import annotations

import pytest

from tests.checkouts.checkout import VERTEX, Checkout
from tests.checkouts.shell import Done, wait_for

pytestmark = pytest.mark.journey


def refused(checkout: Checkout, done: Done, what: str, cluster: str) -> None:
    assert done.code == 4, done.said
    assert f"error: {what}" in done.err
    assert f"why: {cluster}: " in done.err
    assert "fix: " in done.err
    assert f"pulumi up --stack {checkout.stack}" in done.err


def test_a_cluster_in_error_or_gone_is_refused_and_the_next_up_makes_a_new_one(checkout: Checkout) -> None:
    checkout.up()
    (first,) = checkout.clusters()
    checkout.cloud.rest("POST", "/slipway/settings", {"reboot_error": first})
    checkout.cloud.rest("POST", f"{VERTEX}/persistentResources/{first}:reboot", {})
    wait_for(lambda: checkout.clusters() == {first: "ERROR"}, "the reboot fails")
    failed = checkout.slipway("submit", "nap", "-p", "say=hello")
    refused(checkout, failed, "cluster cpu is in ERROR and takes no jobs", first)

    checkout.up()
    (second,) = [id_ for id_, state in checkout.clusters().items() if state == "RUNNING"]
    assert second == f"{first}-2"
    checkout.cloud.rest("DELETE", f"{VERTEX}/persistentResources/{second}")
    wait_for(lambda: second not in checkout.clusters(), "the cluster is gone")
    refused(checkout, checkout.slipway("submit", "nap", "-p", "say=hello"), "cluster cpu is gone", second)
    assert checkout.jobs() == []

    checkout.up()
    assert "RUNNING" in checkout.clusters().values()
    assert checkout.submit("--wait")["state"] == "JOB_STATE_SUCCEEDED"


def test_a_cluster_that_ends_in_error_ends_up_with_a_message_and_the_next_up_mends_it(own: Checkout) -> None:
    own.cloud.rest("POST", "/slipway/settings", {"create_error": "cpu-"})
    failed = own.pulumi("up")
    assert failed.code == 1, failed.said
    assert "Resources are insufficient in region: us-central1" in failed.said
    assert list(own.clusters().values()) == ["ERROR"]
    own.cloud.rest("POST", "/slipway/settings", {"create_error": ""})
    own.up()
    assert sorted(own.clusters().values()) == ["ERROR", "RUNNING"]
    own.up()
    assert list(own.clusters().values()) == ["RUNNING"]
    assert own.pulumi("preview", "--expect-no-changes").code == 0
