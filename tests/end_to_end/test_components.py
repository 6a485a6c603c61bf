"""docs/components.md: its program, by the real engine, without a stack file of ours. # D1 # D3"""

from __future__ import annotations

import re

import pytest
import yaml

from tests.checkouts.checkout import PROJECT, REGION, VERTEX, Checkout
from tests.docs.test_components import PROGRAM

pytestmark = pytest.mark.journey


def test_the_page_s_program_runs_alone(checkout: Checkout) -> None:
    # In this checkout the components have another name than in a wheel.
    (checkout.folder / "__main__.py").write_text(PROGRAM.replace("slipway.components", "components"))
    (checkout.folder / "jobs" / "nap").rename(checkout.folder / "jobs" / "hello")
    checkout.file.write_text(yaml.safe_dump({"config": {"gcp:project": PROJECT, "gcp:region": REGION}}))
    checkout.up()
    cluster = checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{checkout.outputs()['cluster']}")
    assert (cluster["state"], cluster["resourcePools"][0]["autoscalingSpec"]["maxReplicaCount"]) == ("RUNNING", "4")
    (package,) = checkout.outputs()["packages"]
    bucket, _, name = package.removeprefix("gs://").partition("/")
    assert checkout.cloud.rest("GET", f"/storage/v1/b/{bucket}/o/{name.replace('/', '%2F')}")["name"] == name
    assert re.search(r"Resources:\s+\d+ unchanged\s+Duration", checkout.up())
    done = checkout.pulumi("destroy")
    assert done.code == 0, done.said
    assert checkout.cloud.every(f"{VERTEX}/persistentResources", "persistentResources") == []
