"""A stack is made with the newest pulumi-gcp, which `make newest-gcp` installed. # N4

The provider itself is the stand-in, under that version's name: see docs/upgrading.md for what this does not show.
"""

import os
import shutil
from pathlib import Path

import pytest

from local.plugin import VERSION
from tests.checkouts.checkout import Checkout
from tests.local.plugin.provider_sdk import installed

pytestmark = [
    pytest.mark.journey,
    pytest.mark.skipif("SLIPWAY_NEWEST_GCP" not in os.environ, reason="make newest-gcp installs the newest provider"),
]


@pytest.fixture(autouse=True)
def plugin(engine_home: Path) -> None:
    """The engine looks for a plugin of the version that the program's package has."""
    plugins = engine_home / "plugins"
    wanted = plugins / f"resource-gcp-v{installed()}"
    if not wanted.exists():
        shutil.copytree(plugins / f"resource-gcp-v{VERSION}", wanted)


def test_a_new_stack_is_made_and_then_needs_nothing(checkout: Checkout) -> None:
    checkout.up()
    checkout.at_rest()
    provider = next(resource for resource in checkout.resources() if resource["type"] == "pulumi:providers:gcp")
    assert provider["inputs"]["version"] == installed()
