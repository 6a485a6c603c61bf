"""Roles that are taken away, on the local cloud, whose policies have etags as Google's. # P5"""

from typing import Any

import pytest
from vertex_local.identities import PROJECT_ID

from slipway.google.connection import connect
from slipway.google.permissions import Bound, Holder, without
from tests.local.conftest import LocalCloud

ADA, BOB = "user:ada-takes@company.example", "user:bob-takes@company.example"
ROLE = "roles/storage.objectViewer"
BUCKET, ACCOUNT = "permissions-bucket", f"permissions@{PROJECT_ID}.iam.gserviceaccount.com"


def made(cloud: LocalCloud, what: Holder) -> str:
    if what == "bucket":
        uniform = {"iamConfiguration": {"uniformBucketLevelAccess": {"enabled": True}}}
        cloud.rest("POST", f"/storage/v1/b?project={PROJECT_ID}", {"name": BUCKET, **uniform})
        return BUCKET
    if what == "account":
        cloud.rest("POST", f"/v1/projects/{PROJECT_ID}/serviceAccounts", {"accountId": "permissions"})
        return ACCOUNT
    return PROJECT_ID


def grant(cloud: LocalCloud, what: Holder, name: str, *bindings: dict[str, Any]) -> None:
    if what == "bucket":
        at = f"/storage/v1/b/{name}/iam"
        policy = cloud.rest("GET", at)
        cloud.rest("PUT", at, {**policy, "version": 3, "bindings": [*policy["bindings"], *bindings]})
        return
    at = f"/v1/projects/{name}" if what == "project" else f"/v1/projects/{PROJECT_ID}/serviceAccounts/{name}"
    policy = cloud.rest("POST", f"{at}:getIamPolicy", {"options": {"requestedPolicyVersion": 3}})
    bindings = (*policy.get("bindings", ()), *bindings)
    cloud.rest("POST", f"{at}:setIamPolicy", {"policy": {**policy, "version": 3, "bindings": bindings}})


@pytest.mark.parametrize("what", ["project", "bucket", "account"])
def test_a_role_is_taken_from_one_member_and_whoever_wrote_meanwhile_is_asked_for_again(
    cloud: LocalCloud, what: Holder
) -> None:
    role = "roles/iam.serviceAccountUser" if what == "account" else ROLE
    name, permissions = made(cloud, what), connect(cloud.env()).permissions(PROJECT_ID)
    grant(cloud, what, name, {"role": role, "members": [ADA, BOB]})
    before, asked = permissions.policy(what, name), list[int]()

    def stays() -> bool:
        asked.append(1)
        if len(asked) == 1:
            grant(cloud, what, name, {"role": role, "members": ["user:eve-takes@company.example"]})
        return False

    permissions.revoke(what, name, Bound(role, ADA.replace("ada", "Ada")), stays)
    after = permissions.policy(what, name)
    assert before - after == {Bound(role, ADA)}
    assert after - before == {Bound(role, "user:eve-takes@company.example")} and len(asked) == 2
    permissions.revoke(what, name, Bound(role, ADA), stays)
    assert len(asked) == 2, "whoever does not have it is not asked for"
    permissions.revoke(what, name, Bound(role, BOB), lambda: True)
    assert permissions.policy(what, name) == after


def test_a_role_under_a_condition_is_somebody_elses() -> None:
    under = {"role": ROLE, "members": [ADA], "condition": {"title": "night", "expression": "true"}}
    policy = {"etag": "BwX", "bindings": [under, {"role": ROLE, "members": [ADA]}, {"role": "roles/viewer"}]}
    assert without(policy, grant=Bound(ROLE, ADA)) == {"etag": "BwX", "bindings": [under]}


@pytest.mark.parametrize("permitted", [(), ("C0company0",), ("C0company0", "C0other00")])
def test_the_organisations_policy_on_members_is_read(cloud: LocalCloud, permitted: tuple[str, ...]) -> None:
    values = [f"is:{customer}" for customer in permitted]
    cloud.rest(
        "POST", "/vertex-local/settings", {"policy": {"iam.allowedPolicyMemberDomains": values} if values else {}}
    )
    try:
        assert connect(cloud.env()).permissions(PROJECT_ID).permitted() == permitted
    finally:
        cloud.rest("POST", "/vertex-local/settings", {"policy": {}})
