"""Who may own a project, and what a policy's mask leaves alone. (N17)"""

from typing import Any

import pytest

from tests.local.cloud.calling import Calling

PROJECT = "/v1/projects/slipway-local"
OWNER, ADMIN = "user:owner@slipway.example", "serviceAccount:deployer@slipway-local.iam.gserviceaccount.com"


def owners(*members: str) -> dict[str, Any]:
    return {"policy": {"bindings": [{"role": "roles/owner", "members": list(members)}]}}


@pytest.mark.parametrize(
    ("members", "kind", "member"),
    [
        ((), "SOLO_REQUIRE_TOS_ACCEPTOR", None),
        ((ADMIN,), "SOLO_REQUIRE_TOS_ACCEPTOR", None),
        ((OWNER, "user:new@slipway.example"), "SOLO_MUST_INVITE_OWNERS", "user:new@slipway.example"),
        (("user:new@slipway.example",), "SOLO_MUST_INVITE_OWNERS", "user:new@slipway.example"),
        ((OWNER, "group:all@slipway.example"), "SOLO_GROUP_OWNERS_DISALLOWED", "group:all@slipway.example"),
    ],
)
def test_nobody_is_locked_out_and_nobody_becomes_an_owner_unasked(
    calling: Calling, members: tuple[str, ...], kind: str, member: str | None
) -> None:
    body = owners(*members) if members else {"policy": {"bindings": []}}
    error = calling.refused("POST", f"{PROJECT}:setIamPolicy", body)
    assert (error.code, error.message) == (400, "Request contains an invalid argument.")
    assert (error.details[0]["type"], error.details[0].get("member")) == (kind, member)
    assert calling.call("POST", f"{PROJECT}:getIamPolicy")["bindings"]


def test_a_service_account_may_own_a_project_beside_its_owner(calling: Calling) -> None:
    policy = calling.call("POST", f"{PROJECT}:setIamPolicy", owners(ADMIN, OWNER))
    assert policy["bindings"] == [{"role": "roles/owner", "members": [ADMIN, OWNER]}]


def test_a_mask_without_bindings_leaves_them(calling: Calling) -> None:
    before = calling.call("POST", f"{PROJECT}:getIamPolicy")["bindings"]
    sent = {**owners(OWNER), "updateMask": "etag"}
    assert calling.call("POST", f"{PROJECT}:setIamPolicy", sent)["bindings"] == before
    sent = {**owners(OWNER), "updateMask": "bindings,etag"}
    assert calling.call("POST", f"{PROJECT}:setIamPolicy", sent)["bindings"] == owners(OWNER)["policy"]["bindings"]
