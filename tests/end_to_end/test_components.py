"""A team's own programs in the docs, by the real engine: one of components alone, one that changes the file's stack.
# D1 # D3"""

import re

import pytest
import yaml

from tests.checkouts.checkout import PROJECT, REGION, VERTEX, Checkout
from tests.docs.test_components import PROGRAM
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey


OWN = """
dataset = gcp.bigquery.Dataset("events", dataset_id="events", location="US")
pulumi.export("dataset", dataset.id)
"""


def test_the_page_s_program_runs_alone(checkout: Checkout) -> None:
    """With a resource of a type that the local cloud does not have."""
    # In this checkout the components have another name than in a wheel.
    (checkout.folder / "__main__.py").write_text(PROGRAM.replace("slipway.components", "components") + OWN)
    (checkout.folder / "jobs" / "nap").rename(checkout.folder / "jobs" / "hello")
    checkout.file.write_text(yaml.safe_dump({"config": {"gcp:project": PROJECT, "gcp:region": REGION}}))
    said = checkout.up()
    assert "no gcp:bigquery/dataset:Dataset: it is taken as declared and nothing is made" in said
    assert checkout.outputs()["dataset"] == "events"
    cluster = checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{checkout.outputs()['cluster']}")
    assert (cluster["state"], cluster["resourcePools"][0]["autoscalingSpec"]["maxReplicaCount"]) == ("RUNNING", "4")
    (package,) = checkout.outputs()["packages"]
    bucket, _, name = package.removeprefix("gs://").partition("/")
    assert checkout.cloud.rest("GET", f"/storage/v1/b/{bucket}/o/{name.replace('/', '%2F')}")["name"] == name
    unchanged = checkout.pulumi("up", "--refresh").said
    assert re.search(r"Resources:\s+\d+ unchanged\s+Duration", unchanged), unchanged
    done = checkout.pulumi("destroy")
    assert done.code == 0, done.said
    assert checkout.cloud.every(f"{VERTEX}/persistentResources", "persistentResources") == []


def test_a_program_declares_a_pool_for_each_team_and_a_mistake_names_its_line(checkout: Checkout) -> None:
    page = (ROOT / "docs" / "adoption.md").read_text("utf-8")
    (text,) = re.findall(r"^```python\n(from dataclasses.*?)^```", page, re.MULTILINE | re.DOTALL)
    program = checkout.folder / "__main__.py"
    program.write_text(text.replace("slipway.components", "components"))
    done = checkout.pulumi("preview")
    assert done.code == 0 and "vision" in done.said and "speech" in done.said, done.said
    program.write_text(program.read_text().replace('"speech"', '"Speech!"'))
    done = checkout.pulumi("preview")
    assert done.code, done.said
    assert re.search(r"a_pool_for_each_team of __main__.py:8 +\S+\.pools\.Speech!: ", done.said), done.said
