"""A stack of the release before, whose clusters no component bore by name, stays as it is. # N21 # N34"""

import json
import re

import pytest

from tests.checkouts.checkout import Checkout

pytestmark = pytest.mark.journey

BY_NAME = "slipway:index:PersistentResource"


def test_nothing_is_replaced_or_deleted(checkout: Checkout) -> None:
    checkout.write()
    checkout.up()
    before = checkout.clusters()

    kept = json.dumps([resource for resource in checkout.resources() if resource["type"] != BY_NAME])
    resources = json.loads(kept.replace(f"{BY_NAME}$", ""))
    (stack,) = (resource["urn"] for resource in resources if resource["type"] == "pulumi:pulumi:Stack")
    for resource in resources:
        if BY_NAME in resource.get("parent", ""):
            resource["parent"] = stack
    checkout.keep_resources(resources)
    said = checkout.pulumi("preview").said
    assert re.search(r"\+ 1 to create\s+\d+ unchanged", said), said
    checkout.up()
    assert checkout.clusters() == before
