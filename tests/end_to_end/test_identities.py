"""Identities that may not deploy or submit are told the role, and change nothing. (P5)

Each right by itself: tests/docs/test_security.py.
"""

import pytest

from tests.checkouts.checkout import PROJECT, Checkout

pytestmark = pytest.mark.journey


def test_who_may_not_deploy_is_told_why_and_changes_nothing(checkout: Checkout) -> None:
    """In a project of its own: elsewhere another stack may have given the submitters a role."""
    # What was not read on purpose is said first. # D2
    nowhere = {name: "http://127.0.0.1:1/v1/" for name in checkout.environ("deployer") if name.endswith("_ENDPOINT")}
    skipped = checkout.pulumi("preview", "--refresh=false", **nowhere, SLIPWAY_LIVE="skip")
    assert skipped.code == 0 and "cluster cpu: create: " in skipped.said, skipped.said
    assert "were not read" in skipped.said[skipped.said.index("Diagnostics:") :].splitlines()[2]
    first = checkout.pulumi("preview", role="previewer")
    assert first.code == 0, first.said
    assert "+ 24 to create" in first.said
    a_submitter_is_told_which_api_and_which_role(checkout)
    the_previewer_makes_none(checkout)
    checkout.up()
    checkout.write(persistentResources={}, templates=[])
    assert checkout.pulumi("up", role="previewer").code != 0
    assert len(checkout.clusters()) == 1


def a_submitter_is_told_which_api_and_which_role(checkout: Checkout) -> None:  # N1
    done = checkout.pulumi("up", role="submitter")
    assert done.code != 0
    assert "so nothing was changed" in done.said
    assert "identity of GOOGLE_OAUTH_ACCESS_TOKEN" in done.said
    assert "Permission 'aiplatform.persistentResources.list' denied" in done.said
    assert "it needs roles/aiplatform.viewer" in done.said
    assert "Traceback" not in done.said
    assert checkout.nothing_made()


def the_previewer_makes_none(checkout: Checkout) -> None:
    # Otherwise the engine ends with the first refusal, whichever that is.
    refused = checkout.pulumi("up", "--continue-on-error", role="previewer")
    assert refused.code == 1, refused.said
    assert "Error 403" in refused.said
    # A cluster is asked for when its catalog bucket is there.
    assert "does not have storage.buckets.create access" in refused.said
    assert checkout.nothing_made()


def test_the_previewer_may_not_submit_and_is_told_the_role(deployed: Checkout) -> None:
    before = len(deployed.jobs())
    refused = deployed.slipway("submit", "nap", "-p", "say=hello", role="previewer")
    assert refused.code == 3, refused.said
    assert "why: Permission 'aiplatform.customJobs.create' denied" in refused.err
    assert f"roles/aiplatform.user on project {PROJECT}" in refused.err
    assert len(deployed.jobs()) == before
