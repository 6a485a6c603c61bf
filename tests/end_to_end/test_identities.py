"""Who may do what: the deployer deploys, the previewer looks, a submitter submits, a job writes its output. (P5)"""

from typing import Any
from urllib.parse import quote

import pytest
import requests

from tests.checkouts.checkout import PROJECT, VERTEX, Checkout

pytestmark = pytest.mark.journey


def token_of(checkout: Checkout, account: str) -> str:
    """A token of a service account, as its replicas get one."""
    email = f"{account}@{PROJECT}.iam.gserviceaccount.com"
    body = {"scope": ["https://www.googleapis.com/auth/cloud-platform"]}
    made = checkout.cloud.rest("POST", f"/v1/projects/-/serviceAccounts/{email}:generateAccessToken", body)
    return str(made["accessToken"])


def storage(checkout: Checkout, token: str, method: str, bucket: str, name: str) -> int:
    """The HTTP status of reading, writing or deleting an object."""
    paths = {"POST": f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}"}
    path = paths.get(
        method, f"/storage/v1/b/{bucket}/o/{quote(name, safe='')}{'?alt=media' if method == 'GET' else ''}"
    )
    headers = {"Authorization": f"Bearer {token}"}
    data = b"x" if method == "POST" else None
    return requests.request(method, checkout.cloud.url + path, data=data, headers=headers, timeout=30).status_code


def test_who_may_not_deploy_is_told_why_and_changes_nothing(checkout: Checkout) -> None:
    """In a project of its own: elsewhere another stack may have given the submitters a role."""
    # What was not read on purpose is said first. # D2
    nowhere = {name: "http://127.0.0.1:1/v1/" for name in checkout.environ("deployer") if name.endswith("_ENDPOINT")}
    skipped = checkout.pulumi("preview", "--refresh=false", **nowhere, SLIPWAY_LIVE="skip")
    assert skipped.code == 0 and "is made: " in skipped.said, skipped.said
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


def test_a_submitter_and_a_job_run_as_the_trainer_read_what_was_made_and_write_no_catalog(deployed: Checkout) -> None:
    job = deployed.submit("--wait")
    assert job["state"] == "JOB_STATE_SUCCEEDED"
    ada, catalog, work = (
        deployed.cloud.token("submitter"),
        f"{PROJECT}-slipway--trial-catalog",
        f"{PROJECT}-slipway--trial-work",
    )
    assert storage(deployed, ada, "GET", catalog, "catalog.json") == 200
    assert storage(deployed, ada, "POST", catalog, "catalog.json") == 403
    assert storage(deployed, ada, "DELETE", catalog, "catalog.json") == 403
    assert storage(deployed, ada, "POST", work, "from-ada") == 200
    assert storage(deployed, ada, "GET", work, "from-ada") == 200
    assert storage(deployed, ada, "DELETE", work, "from-ada") == 403
    for path in (f"{VERTEX}/persistentResources?persistentResourceId=adas", f"/v1/projects/{PROJECT}:setIamPolicy"):
        for role in ("previewer", "submitter"):
            with pytest.raises(requests.HTTPError, match="403"):
                deployed.cloud.rest("POST", path, {}, role)

    # Nobody else's account may run it.
    request: Any = deployed.slipway("submit", "nap", "-p", "say=hello", "--dry-run").json
    request["jobSpec"]["serviceAccount"] = f"deployer@{PROJECT}.iam.gserviceaccount.com"
    with pytest.raises(requests.HTTPError) as refused:
        deployed.cloud.rest("POST", f"{VERTEX}/customJobs", request, "submitter")
    assert refused.value.response.status_code == 403
    assert "act as" in refused.value.response.text

    # A job reads the catalog and can't rewrite what others run.
    trainer = token_of(deployed, "slipway--trial--trainer")
    assert storage(deployed, trainer, "GET", catalog, "catalog.json") == 200
    for name in ("catalog.json", "packages/nap-000000000000.tar.gz"):
        assert storage(deployed, trainer, "POST", catalog, name) == 403
    assert storage(deployed, trainer, "POST", work, "jobs/mine/model") == 200
    assert storage(deployed, trainer, "DELETE", work, "jobs/mine/model") == 204
