"""What can't be read stops a deployment in words; what was not read on purpose is said first. # N1 # D2"""

import pytest

from tests.checkouts.checkout import Checkout

pytestmark = pytest.mark.journey


def test_an_identity_without_the_role_is_told_which_api_and_which_role(own: Checkout) -> None:
    """In a project of its own: elsewhere another stack may have given the submitters a role."""
    for verb in ("preview", "up"):
        done = own.pulumi(verb, role="submitter")
        assert done.code != 0
        assert "what to deploy can't be decided, so nothing was changed" in done.said
        assert (
            "can't read the clusters from aiplatform.googleapis.com persistentResources.list as the identity of "
            "GOOGLE_OAUTH_ACCESS_TOKEN: Permission 'aiplatform.persistentResources.list' denied"
        ) in done.said
        assert "it needs roles/aiplatform.viewer" in done.said
        assert "Traceback" not in done.said
    assert own.nothing_made()


def test_skip_previews_without_a_cloud_and_says_so_first(checkout: Checkout) -> None:
    nowhere = {name: "http://127.0.0.1:1/v1/" for name in checkout.environ("deployer") if name.endswith("_ENDPOINT")}
    done = checkout.pulumi("preview", "--refresh=false", **nowhere, SLIPWAY_LIVE="skip")
    assert done.code == 0, done.said
    told = done.said[done.said.index("Diagnostics:") :].splitlines()
    assert "live clusters, jobs and quota were not read" in told[2]
    assert "to be created" in done.said


def test_skip_is_for_preview_alone(checkout: Checkout) -> None:
    done = checkout.pulumi("up", SLIPWAY_LIVE="skip")
    assert done.code != 0
    assert "SLIPWAY_LIVE=skip is for preview alone" in done.said
    assert checkout.nothing_made()


def test_the_previewer_can_preview_and_not_deploy(checkout: Checkout) -> None:  # P5
    checkout.up()
    done = checkout.pulumi("preview", role="previewer")
    assert done.code == 0, done.said
    checkout.write(persistentResources={}, templates=[])
    assert checkout.pulumi("preview", role="previewer").code == 0
    assert checkout.pulumi("up", role="previewer").code != 0
    assert len(checkout.clusters()) == 1
