"""A team's own programs in the docs, by the real engine: one of components alone, one that changes the file's stack.
# D1 # D3"""

import re

import pytest
import yaml

from tests.checkouts.checkout import PROJECT, REGION, STACK, VERTEX, Checkout
from tests.docs.test_components import PROGRAM, REGIONS, lay_out
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey

CATALOG = f"{PROJECT}-slipway--{STACK}--ml-catalog"
OWN = """
dataset = gcp.bigquery.Dataset("events", dataset_id="events", location="US")
pulumi.export("dataset", dataset.id)
"""


@pytest.mark.smoke
def test_the_page_s_program_runs_alone(checkout: Checkout) -> None:
    """With resources of types that the local cloud does not have."""
    # In this checkout the components have another name than in a wheel.
    program = PROGRAM.replace("slipway.components", "components").replace("acme.example", "company.example")
    (checkout.folder / "__main__.py").write_text(program + OWN)
    lay_out(checkout.folder)
    config = {"gcp:project": PROJECT, "gcp:region": REGION}
    checkout.file.write_text(yaml.safe_dump({"config": config}))
    said = checkout.up()
    assert "no gcp:bigquery/dataset:Dataset: it is taken as declared and nothing is made" in said
    outputs = checkout.outputs()
    assert (outputs["dataset"], outputs["catalog"]) == ("events", f"gs://{CATALOG}/catalog.json")
    clusters = checkout.cloud.every(f"{VERTEX}/persistentResources", "persistentResources")
    assert {cluster["state"] for cluster in clusters} == {"RUNNING"}
    most = [cluster["resourcePools"][0]["autoscalingSpec"]["maxReplicaCount"] for cluster in clusters]
    assert sorted(most) == ["2", "8"]
    networks = {cluster["network"].partition("/global/")[2] for cluster in clusters}
    assert networks == {"networks/training"}, "by the project's number, which the service takes alone"
    published = checkout.cloud.rest("GET", f"/storage/v1/b/{CATALOG}/o/catalog.json?alt=media")
    assert list(published["templates"]) == ["count-words"]
    unchanged = checkout.pulumi("up", "--refresh").said
    assert re.search(r"Resources:\s+\d+ unchanged\s+Duration", unchanged), unchanged
    done = checkout.pulumi("destroy", "--run-program")
    assert done.code == 0, done.said
    assert checkout.cloud.every(f"{VERTEX}/persistentResources", "persistentResources") == []


def test_the_page_s_program_of_two_regions_makes_a_catalog_in_each(checkout: Checkout) -> None:
    (checkout.folder / "__main__.py").write_text(REGIONS.replace("slipway.components", "components"))
    lay_out(checkout.folder)
    checkout.file.write_text(yaml.safe_dump({"config": {"gcp:project": PROJECT, "gcp:region": REGION}}))
    said = checkout.up().partition("Diagnostics:")[2]
    assert "docs/runbook.md" not in said, "advice for errors alone"
    outputs = checkout.outputs()
    for name, region in {"us": "us-central1", "eu": "europe-west4"}.items():
        place = f"/v1/projects/{PROJECT}/locations/{region}"
        (cluster,) = checkout.cloud.every(f"{place}/persistentResources", "persistentResources")
        assert cluster["state"] == "RUNNING"
        bucket = f"{PROJECT}-slipway--{STACK}--{name}-catalog"
        assert outputs[f"catalog-{name}"] == f"gs://{bucket}/catalog.json"
        published = checkout.cloud.rest("GET", f"/storage/v1/b/{bucket}/o/catalog.json?alt=media")
        assert (published["region"], list(published["templates"])) == (region, ["count-words"])
    unchanged = checkout.pulumi("up", "--refresh").said
    assert re.search(r"Resources:\s+\d+ unchanged\s+Duration", unchanged), unchanged
    done = checkout.pulumi("destroy")
    assert done.code == 0, done.said


def test_a_program_that_is_wrong_or_fails_is_told_why_and_nothing_is_decided(checkout: Checkout) -> None:
    program = PROGRAM.replace("slipway.components", "components")
    checkout.file.write_text(yaml.safe_dump({"config": {"gcp:project": PROJECT, "gcp:region": REGION}}))
    lay_out(checkout.folder)
    file = checkout.folder / "__main__.py"
    file.write_text(program.replace("min=1", "min=9"))
    done = checkout.pulumi("preview")
    assert done.code, done.said
    said = "PersistentResource vision: pools.workers.replicas.max: max 8 is not more than min 9"
    assert said in done.said and "Traceback" not in done.said, done.said
    file.write_text(program.replace('"vision": 8, "speech": 2', '"vision": 990').replace("min=1", "min=980"))
    done = checkout.pulumi("up")
    assert done.code and done.said.count("custom_model_training_cpus") == 1, done.said
    assert "unhandled error" not in done.said and "Traceback" not in done.said, done.said
    file.write_text(program + 'raise ValueError("of the team itself")\n')
    done = checkout.pulumi("up")
    assert done.code and "ValueError: of the team itself" in done.said, done.said
    file.write_text(program + "import sys\nsys.exit(0)\n")
    for verb in ("preview", "up"):
        done = checkout.pulumi(verb)
        assert done.code and "the program ended itself by `sys.exit`, so nothing was changed" in done.said, done.said
        assert "Traceback" not in done.said and "unhandled error" not in done.said, done.said
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
