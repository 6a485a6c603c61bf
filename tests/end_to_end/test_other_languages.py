"""Programs of Pulumi YAML, whose component another process hosts; the real engine, and Pulumi's own YAML host. # D3"""

import json
import os
import re
import shlex
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from local.engine.yaml_host import ensure
from tests.checkouts.checkout import PROJECT, REGION, STACK, VERTEX, Checkout
from tests.checkouts.shell import Done, wait_for
from tests.local.conftest import ROOT

pytestmark = [pytest.mark.journey, pytest.mark.long]

PAGE = (ROOT / "docs" / "your-program.md").read_text("utf-8").partition("## Another language")[2]
PROGRAM = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0].replace("count-words", "nap"))
POOL = {"machine": "n1-standard-4", "replicas": {"min": 1, "max": 2}}
CATALOG = f"gs://{PROJECT}-slipway--{STACK}--ml-catalog"


@pytest.fixture(scope="session")
def yaml_host() -> Path:
    """Return the folder of Pulumi's YAML host, which is built once for a machine."""
    return ensure(print, os.environ)


class Written:
    """A program of YAML in a checkout, beside its templates."""

    def __init__(self, checkout: Checkout, *programs: Path) -> None:
        """Begin. `programs`: the folders of the language host and the plugin."""
        self.checkout = checkout
        self.path = os.pathsep.join([*map(str, programs), checkout.environ("deployer")["PATH"]])
        self.name = yaml.safe_load((checkout.folder / "Pulumi.yaml").read_text())["name"]
        checkout.file.write_text(yaml.safe_dump({"config": {"gcp:project": PROJECT, "gcp:region": REGION}}))

    def write(self, resources: dict[str, Any], outputs: dict[str, str] | None = None) -> None:
        own = {"name": self.name, "runtime": "yaml", "stackConfigDir": "stacks"}
        # A copy of each part, as the host of YAML knows no references within a file.
        parts = json.loads(json.dumps({**own, "resources": resources, "outputs": outputs or {}}))
        text = yaml.safe_dump(parts, sort_keys=False)
        (self.checkout.folder / "Pulumi.yaml").write_text(text.replace("acme.example", "company.example"))

    def run(self, verb: str) -> Done:
        # Without the fork server: the YAML host ends its providers in a way that looks like a crash of a forked one.
        return self.checkout.run(*self.checkout.command(verb), role="deployer", PATH=self.path)

    def up(self) -> str:
        done = self.run("up")
        assert done.code == 0, done.said
        return done.said


@pytest.fixture
def program(checkout: Checkout, yaml_host: Path, tmp_path: Path) -> Written:
    """Return a program whose plugin is started as Pulumi starts that of a folder."""
    script = tmp_path / "plugin" / "pulumi-resource-slipway"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {shlex.join((sys.executable, str(ROOT / "components")))} "$@"\n')
    script.chmod(0o755)
    return Written(checkout, yaml_host, script.parent)


def page(most: int = 8, **changed: Any) -> dict[str, Any]:
    """Return the resources of the page's program."""
    resources: dict[str, Any] = deepcopy(PROGRAM["resources"])
    resources["results"]["properties"]["forceDestroy"] = True  # Or it stays, as it has what jobs wrote.
    parts = resources["ml"]["properties"]
    parts["clusters"]["research"]["pools"]["workers"]["replicas"]["max"] = most
    resources["ml"]["properties"] = {key: value for key, value in {**parts, **changed}.items() if value is not None}
    return resources


def test_the_page_s_program_keeps_the_promises_of_one_in_python(program: Written) -> None:
    checkout = program.checkout
    outputs = {**PROGRAM["outputs"], **{key: f"${{ml.{key}}}" for key in ("clusters", "retiring")}}
    program.write(page(), outputs)
    preview = program.run("preview")
    assert preview.code == 0 and "gcp:storage:Bucket results create" in preview.said, preview.said
    program.up()
    exported = checkout.outputs()
    first = exported["clusters"]["research"]
    assert exported["catalog"] == f"{CATALOG}/catalog.json"
    assert checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{first}")["state"] == "RUNNING"
    unchanged = program.up()
    # An engine in a hurry may name a provider behind it that it gave five seconds to end.
    assert re.search(r"Resources:\s+\d+ unchanged\s", unchanged), unchanged

    submitted = checkout.slipway(
        *("submit", "nap", "-p", "say=hello", "-p", "seconds=600", "--capacity", "pool", "--output", "json"),
        SLIPWAY_CATALOG=CATALOG,
    )
    assert submitted.code == 0, submitted.said
    job = f"/v1/{submitted.json['job']['name']}"
    assert submitted.json["job"]["output"].startswith("gs://acme-ml-results/")
    wait_for(lambda: checkout.cloud.rest("GET", job)["state"] == "JOB_STATE_RUNNING", "it runs")
    program.write(page(most=9), outputs)
    program.up()
    exported = checkout.outputs()
    assert exported["clusters"]["research"] != first and exported["retiring"] == [first]
    refused = program.run("destroy")
    assert refused.code != 0 and "the stack is not deleted: 1 job has not ended" in refused.said, refused.said
    program.write({"results": page()["results"]})
    dropped = program.run("up")
    assert dropped.code != 0 and 'hook "slipway-guard-v1" was not registered' in dropped.said, dropped.said
    assert checkout.cloud.rest("GET", job)["state"] == "JOB_STATE_RUNNING"

    checkout.cloud.rest("POST", f"{job}:cancel", {})
    program.write(page(most=9))
    done = program.run("destroy")
    assert done.code == 0, done.said
    assert checkout.cloud.every(f"{VERTEX}/persistentResources", "persistentResources") == []


def test_what_is_wrong_or_can_t_be_promised_is_refused_in_words_and_changes_nothing(program: Written) -> None:
    many = {"research": {"pools": {"all": {**POOL, "replicas": {"min": 900, "max": 901}}}}}
    wrong = {"research": {"pools": {"all": {**POOL, "replicas": {"min": 9, "max": 2}}}}}
    cases = {
        "max 2 is not more than min 9": page(clusters=wrong),
        "templates and policy need a workspace": page(workspace=None),
        "quota does not suffice in us-central1, so nothing was changed": page(clusters=many),
        "is the program's second one": {**page(), "other": page(clusters={})["ml"]},
        "is not an IAM member": page(workspace={"submitters": ["${results.url}"]}),
    }
    for words, resources in cases.items():
        program.write(resources)
        done = program.run("up" if "quota" in words else "preview")
        assert done.code != 0 and words in done.said, done.said
        assert "Traceback" not in done.said and "<class" not in done.said, done.said
    assert program.checkout.cloud.every(f"{VERTEX}/persistentResources", "persistentResources") == []


def test_a_cluster_alone_by_the_wheel_s_plugin_is_where_its_provider_is_and_protected(
    checkout: Checkout, yaml_host: Path, deploying: Path
) -> None:
    program, region = Written(checkout, yaml_host, deploying / "bin"), "europe-west4"
    labels = {"defaultLabels": {"by": "us"}, "addPulumiAttributionLabel": False}
    provider = {"type": "pulumi:providers:gcp", "properties": {"project": PROJECT, "region": region, **labels}}

    def alone(most: int) -> dict[str, Any]:
        clusters = {"cpu": {"pools": {"all": {**POOL, "replicas": {"min": 1, "max": most}}}}}
        options = {"providers": ["${ours}"], "protect": True}
        stack = {"type": "slipway:Stack", "options": options, "properties": {"clusters": clusters}}
        return {"ours": provider, "cpu": stack}

    program.write(alone(2), {"clusters": "${cpu.clusters}"})
    said = program.up()
    assert "QuotaCheck" in said, said
    place = f"/v1/projects/{PROJECT}/locations/{region}/persistentResources"
    (made,) = checkout.cloud.every(place, "persistentResources")
    assert made["name"].endswith(checkout.outputs()["clusters"]["cpu"])
    program.write(alone(3))
    refused = program.run("up")
    assert refused.code != 0 and "protect" in refused.said, refused.said
    assert [each["name"] for each in checkout.cloud.every(place, "persistentResources")] == [made["name"]]
