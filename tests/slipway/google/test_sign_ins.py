"""Sign-ins of CI's jobs that Google refuses, as people have reported them in public, by where each was met. # N4"""

from collections.abc import Mapping
from typing import Any, cast

import pytest
from google.auth.exceptions import RefreshError

from slipway.google.failures import Call, CloudError
from slipway.google.provider_errors import meanings
from slipway.google.session import Session
from slipway.google.transport import Transport

CALL = Call("list the jobs", "aiplatform.customJobs.list", "project acme")
NO_TOKEN = "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist)."
TRUSTS = "failed to generate Google Cloud federated token for //iam.googleapis.com/x: "
SIGN_INS: Mapping[str, tuple[str, str, str]] = {
    "terraform-example-foundation 1362": (
        (
            '{"error":"unauthorized_client","error_description":"The given credential is rejected by the attribute '
            'condition."}'
        ),
        "none of those that the identity pool lets in",
        "bootstrap:repository",
    ),
    "google-github-actions/auth 202": (
        (
            '{"error":"invalid_target","error_description":"The target service indicated by the \\"audience\\" '
            "parameters is invalid. This might either be because the pool or provider is disabled or deleted or "
            "because it doesn't exist.\"}"
        ),
        "the identity pool that is named, or its provider, is not there",
        "WORKLOAD_IDENTITY_PROVIDER",
    ),
    "fullsend 7472": (
        (
            '{"error":"invalid_request","error_description":"The size of mapped attribute google.subject exceeds the '
            '127 bytes limit. Either modify your attribute mapping or the incoming assertion."}'
        ),
        "Google takes 127 bytes for google.subject",
        "slipway init . --upgrade and make bootstrap",
    ),
    "auth 211": (
        (
            '{"error":"invalid_request","error_description":"Invalid value for \\"audience\\". This value should be '
            'the full resource name of the Identity Provider."}'
        ),
        "the identity pool that is named, or its provider, is not there",
        "WORKLOAD_IDENTITY_PROVIDER",
    ),
    "terraform-google-github-actions-runners 40": (
        (
            '{"error":"invalid_grant","error_description":"Specified identity issuer '
            'https://token.actions.githubusercontent.com not found in the configured identity providers."}'
        ),
        "the identity pool trusts another issuer than this job's",
        "bootstrap:issuer, then make bootstrap",
    ),
    "auth 27": (
        "$ACTIONS_ID_TOKEN_REQUEST_TOKEN is not set",
        "this job may not ask GitHub for a token to sign in by",
        "`permissions: id-token: write`",
    ),
    "auth 104": (
        (
            "failed to generate Google Cloud ID token for gha@acme.iam.gserviceaccount.com: {\n"
            '  "error": {\n    "code": 403,\n    "message": "The caller does not have permission",\n'
        ),
        "this identity may not act as that service account",
        "roles/iam.workloadIdentityUser",
    ),
    "auth 455": (
        '{\n  "error": {\n    "code": 403,\n    "message": "' + NO_TOKEN + '",\n    "status": "PERMISSION_DENIED"\n',
        "this identity may not act as that service account",
        "roles/iam.workloadIdentityUser",
    ),
}


@pytest.mark.parametrize("case", SIGN_INS)
@pytest.mark.parametrize("before", [TRUSTS, 'Get "https://x": oauth2/google: status code 400: '])
def test_a_refused_sign_in_of_ci_is_told_apart_from_an_old_login(case: str, before: str) -> None:
    body, what, fix = SIGN_INS[case]
    (meaning,) = meanings(f"Error: {before}{body}".split("\n"), {"GITHUB_ACTIONS": "true"})
    assert what in meaning.what and fix in meaning.fix and "re-run the failed jobs" not in meaning.fix


class _Refused:
    def __init__(self, body: str) -> None:
        self.body = body

    def request(self, *_: Any, **__: Any) -> None:
        raise RefreshError("Error code x", self.body)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("case", SIGN_INS)
def test_a_verb_of_ci_tells_the_same(case: str) -> None:
    body, what, fix = SIGN_INS[case]
    with pytest.raises(CloudError) as caught:
        Session(cast("Transport", _Refused(body))).get("https://x.googleapis.com/v1", CALL)
    assert what in caught.value.why and fix in caught.value.fix and "login" not in caught.value.fix
    assert caught.value.exit_code == 3
