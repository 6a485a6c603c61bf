"""A cluster that ends in ERROR or is deleted by hand: said in words, and mended by the next `pulumi up`. (B1, N2)"""

from __future__ import annotations

import re

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


def test_a_stock_out_that_lasts_ends_up_with_words_and_leaves_nothing_behind(own: Checkout) -> None:
    own.cloud.rest("POST", "/slipway/settings", {"create_error": "cpu-"})
    failed = own.pulumi("up", SLIPWAY_CREATE_PATIENCE="1s")
    assert failed.code == 1, failed.said
    # How many tries a second holds is the machine's; test_making counts them on a clock of its own.
    assert re.search(r"could not be made: it ended in ERROR \((one try|\d tries in \d+ s)\)", failed.said), failed.said
    assert "why: Resources are insufficient in region: us-central1" in failed.said
    assert "fix: run pulumi up again, which tries again" in failed.said
    assert "nothing of it is left behind or billed" in failed.said
    assert own.clusters() == {}
    own.cloud.rest("POST", "/slipway/settings", {"create_error": ""})
    own.up()
    assert list(own.clusters().values()) == ["RUNNING"]
    assert own.pulumi("preview", "--expect-no-changes").code == 0


def test_a_failed_cluster_that_is_found_is_named_in_preview_and_cleared_by_the_same_up(own: Checkout) -> None:
    own.up()
    (id_,) = own.clusters()
    body = own.cloud.rest("GET", f"{VERTEX}/persistentResources/{id_}")
    assert own.destroy().code == 0
    own.cloud.rest("POST", "/slipway/settings", {"create_error": "cpu-"})
    again = {key: body[key] for key in ("displayName", "labels", "resourcePools")}
    own.cloud.rest("POST", f"{VERTEX}/persistentResources?persistentResourceId={id_}", again)
    wait_for(lambda: own.clusters() == {id_: "ERROR"}, "the creation fails")
    own.cloud.rest("POST", "/slipway/settings", {"create_error": ""})
    words = f"cluster {id_} failed (Resources are insufficient in region: us-central1."
    assert words in own.pulumi("preview").said
    own.up()
    assert own.clusters() == {f"{id_}-2": "RUNNING"}
    assert own.pulumi("preview", "--expect-no-changes").code == 0
