"""What was not read on purpose is said first. (Who may not read: test_identities.) # N1 # D2"""

import pytest

from tests.checkouts.checkout import Checkout

pytestmark = pytest.mark.journey


def test_skip_previews_without_a_cloud_and_says_so_first(checkout: Checkout) -> None:
    nowhere = {name: "http://127.0.0.1:1/v1/" for name in checkout.environ("deployer") if name.endswith("_ENDPOINT")}
    done = checkout.pulumi("preview", "--refresh=false", **nowhere, SLIPWAY_LIVE="skip")
    assert done.code == 0, done.said
    told = done.said[done.said.index("Diagnostics:") :].splitlines()
    assert "were not read" in told[2]
    assert "is made: " in done.said
