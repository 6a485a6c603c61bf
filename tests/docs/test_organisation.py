"""The page about an organisation's policies: its rule has every API that is called, and its rows are said as they are.

# N4 # P5
"""

import json
import re
from pathlib import Path

import pytest
import yaml

import slipway
from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import from_text
from slipway.google.endpoints import OVERRIDES, Endpoints
from tests.docs.console import blocks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "organisation.md"
TEXT = PAGE.read_text("utf-8")
ROWS = json.loads((Path(slipway.__file__).parent / "google" / "reasons.json").read_text("utf-8"))
BY_OTHERS = {"cloudkms", "iamcredentials", "sts"}
"""The services that the engine calls, and the sign-in of CI."""


def test_the_rule_lets_every_call_through() -> None:
    (rule,) = yaml.safe_load(blocks(PAGE, "yaml")[0])
    services = [each["serviceName"] for each in rule["ingressTo"]["operations"]]
    endpoints = Endpoints()
    called = {re.sub("https://|/.*", "", endpoints.of(api, "aiplatform.{}/" * (api == "vertex"))) for api in OVERRIDES}
    assert sorted(services) == sorted(called | {f"{name}.googleapis.com" for name in BY_OTHERS})
    assert all(each["methodSelectors"] == [{"method": "*"}] for each in rule["ingressTo"]["operations"])


def test_the_stack_of_the_page_names_an_account() -> None:
    stack = parse(from_text(blocks(PAGE, "yaml")[1], "stacks/Pulumi.prod.yaml"))
    assert stack.workspace.trainer == "ml-training"


@pytest.mark.parametrize("said", re.findall(r"^\| \*(.+?)\* \|", TEXT, re.MULTILINE))
def test_each_row_is_what_a_refusal_says(said: str) -> None:
    begins = re.split(r" (?:us-central1|aiplatform)", said)[0]  # what a request named
    assert any(begins in row["what"] for row in ROWS)


def test_messages_point_to_headings_of_the_page() -> None:
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.+)$", TEXT, re.MULTILINE)}
    named = re.findall(r"docs/organisation\.md#([\w-]+)", json.dumps(ROWS))
    assert named and set(named) <= headings
