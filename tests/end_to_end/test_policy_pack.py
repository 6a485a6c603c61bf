"""`pulumi preview --policy-pack policy/__main__.py`, with the real engine."""  # N5 # P5

import re
from typing import Any

import pytest

from tests.checkouts.checkout import Checkout
from tests.checkouts.shell import Done
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey

PACK = ROOT / "policy" / "__main__.py"
# What a change could do to the program. The pack is then that of the branch that it is made for.
UNHELD = """from slipway.deploying.deployment.deployment import Deployment

Deployment.refuse = lambda deployment, beside=(): None
"""


def preview(checkout: Checkout, **policy: Any) -> Done:
    checkout.write(policy=policy)
    return checkout.pulumi("preview", "--policy-pack", str(PACK))


def test_a_stack_is_held_to_its_own_rules_whatever_its_program_does(checkout: Checkout) -> None:
    rules = {"mandatory": {"regions": ["us-central1"]}, "advisory": {"nothingPublic": True, "labels": ["team"]}}
    told = preview(checkout, **rules)
    assert told.code == 0, told.said
    assert re.search(r"slipway@v\S+ \(local: ", told.out) and "[mandatory]" not in told.out, told.said
    assert set(re.findall(r"\[advisory\]  (\S+)", told.out)) == {"labels"}, told.said
    assert "label team is missing" in told.out, told.said

    refused = preview(checkout, mandatory={"labels": ["team"]})
    assert refused.code != 0 and "mandatory rules" in refused.said, refused.said
    program = checkout.folder / "__main__.py"
    program.write_text(UNHELD + program.read_text())
    caught = preview(checkout, mandatory={"labels": ["team"]})
    assert caught.code != 0, caught.said
    assert "[mandatory]  labels" in caught.out and "label team is missing" in caught.out, caught.said
