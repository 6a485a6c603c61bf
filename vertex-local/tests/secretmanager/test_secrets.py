"""Secrets: kept from everybody but those who may read them, and from logs and the store altogether."""

import base64
import re
import stat
import uuid
from datetime import timedelta
from typing import Any

import google_crc32c
import pytest
from google.api_core import exceptions
from google.cloud import secretmanager_v1

from vertex_local.access.policies import project_name
from vertex_local.testing.calling import Calling
from vertex_local.testing.local_cloud import LocalCloud

SECRETS = "/v1/projects/local-project/secrets"
NUMBERED = "projects/100000000001/secrets"
VALUE = b"hf_a-very-secret-token"
ADA = "submitter"


def made(calling: Calling, name: str = "hf-token", *values: bytes, **body: Any) -> str:
    """The path of a new secret with these versions."""
    calling.call("POST", f"{SECRETS}?secretId={name}", {"replication": {"automatic": {}}} | body)
    for value in values:
        add(calling, f"{SECRETS}/{name}", value)
    return f"{SECRETS}/{name}"


def add(calling: Calling, at: str, value: bytes, **payload: Any) -> Any:
    data = base64.b64encode(value).decode()
    return calling.call("POST", f"{at}:addVersion", {"payload": {"data": data} | payload})


def value(calling: Calling, at: str, version: str = "latest", role: str = "owner") -> bytes:
    answer = calling.call("GET", f"{at}/versions/{version}:access", role=role)
    found = base64.b64decode(answer["payload"]["data"])
    assert int(answer["payload"]["dataCrc32c"]) == google_crc32c.value(found)
    return found


def test_a_secret_has_versions_and_the_latest_is_the_newest(calling: Calling) -> None:
    at = made(calling, "hf-token", b"one", b"two")
    assert (value(calling, at), value(calling, at, "1")) == (b"two", b"one")
    listed = calling.call("GET", f"{at}/versions")
    assert [item["name"] for item in listed["versions"]] == [f"{NUMBERED}/hf-token/versions/{n}" for n in (2, 1)]
    assert calling.call("GET", f"{at}/versions/latest")["name"].endswith("/2")


def test_the_project_may_be_named_by_its_number(calling: Calling) -> None:
    made(calling, "hf-token", VALUE)
    assert value(calling, "/v1/projects/100000000001/secrets/hf-token") == VALUE


def test_a_checksum_is_verified(calling: Calling) -> None:
    at = made(calling)
    assert add(calling, at, VALUE, dataCrc32c=str(google_crc32c.value(VALUE)))["clientSpecifiedPayloadChecksum"]
    data = base64.b64encode(VALUE).decode()
    error = calling.refused("POST", f"{at}:addVersion", {"payload": {"data": data, "dataCrc32c": "1"}})
    assert error.code == 400 and VALUE.decode() not in str(error) and data not in str(error)


def test_values_lie_in_files_of_their_owner_and_nowhere_else(calling: Calling) -> None:
    made(calling, "hf-token", VALUE)
    state = calling.world.state_folder
    holding = [path for path in state.rglob("*") if path.is_file() and VALUE in path.read_bytes()]
    assert holding == [state / "secrets" / "hf-token" / "1"]
    assert stat.S_IMODE(holding[0].stat().st_mode) == 0o600
    assert stat.S_IMODE(holding[0].parent.stat().st_mode) == 0o700


def test_a_destroyed_version_is_gone_for_good(calling: Calling) -> None:
    at = made(calling, "hf-token", VALUE)
    assert calling.call("POST", f"{at}/versions/1:destroy", {})["state"] == "DESTROYED"
    error = calling.refused("GET", f"{at}/versions/1:access")
    assert error.status == "FAILED_PRECONDITION" and "DESTROYED" in error.message
    assert f"[{NUMBERED}/hf-token/versions/1]" in error.message
    assert calling.refused("POST", f"{at}/versions/1:enable", {}).code == 400
    assert not any(VALUE in path.read_bytes() for path in calling.world.state_folder.rglob("*") if path.is_file())


def test_a_disabled_version_is_not_given_out_until_it_is_enabled(calling: Calling) -> None:
    at = made(calling, "hf-token", VALUE)
    calling.call("POST", f"{at}/versions/1:disable", {})
    assert "DISABLED" in str(calling.refused("GET", f"{at}/versions/latest:access"))
    calling.call("POST", f"{at}/versions/1:enable", {})
    assert value(calling, at) == VALUE


def test_a_removed_secret_leaves_nothing_to_its_successor(calling: Calling) -> None:
    at = made(calling, "hf-token", VALUE)
    grant(calling, at, "roles/secretmanager.secretAccessor")
    calling.call("DELETE", at)
    assert calling.refused("GET", at).code == 404
    at = made(calling)
    assert "has no versions" in str(calling.refused("GET", f"{at}/versions/latest:access"))
    assert calling.refused("GET", f"{at}/versions/latest:access", role=ADA).code == 403


def test_an_expired_secret_is_gone(calling: Calling) -> None:
    at = made(calling, "hf-token", VALUE, ttl="3600s")
    assert calling.call("GET", at)["expireTime"] == "2026-11-20T11:00:00.000000Z"
    calling.clock.advance(timedelta(hours=1).total_seconds())
    assert calling.refused("GET", f"{at}/versions/1:access").code == 404
    assert calling.call("GET", SECRETS) == {"totalSize": 0}


def grant(calling: Calling, at: str, role: str, member: str = "user:ada@company.example") -> None:
    policy = calling.call("GET", f"{at}:getIamPolicy")
    bindings = [*policy.get("bindings", []), {"role": role, "members": [member]}]
    calling.call("POST", f"{at}:setIamPolicy", {"policy": {"etag": policy["etag"], "bindings": bindings}})


def test_a_role_on_one_secret_opens_that_one(calling: Calling) -> None:
    mine, other = made(calling, "mine", VALUE), made(calling, "other", VALUE)
    error = calling.refused("GET", f"{mine}/versions/latest:access", role=ADA)
    assert (error.code, error.status) == (403, "PERMISSION_DENIED")
    assert re.findall("'(.+?)'", error.message) == [
        "secretmanager.versions.access",
        "projects/local-project/secrets/mine/versions/latest",
    ]
    grant(calling, mine, "roles/secretmanager.secretAccessor")
    assert value(calling, mine, role=ADA) == VALUE
    assert calling.refused("GET", f"{other}/versions/latest:access", role=ADA).code == 403
    # Reading a value is not seeing what there is.
    assert calling.refused("GET", mine, role=ADA).code == 403


def test_who_sees_secrets_does_not_read_them(calling: Calling) -> None:
    at = made(calling, "hf-token", VALUE)
    calling.world.policies.seed(
        project_name("local-project"), {"roles/secretmanager.viewer": ("user:ada@company.example",)}
    )
    assert calling.call("GET", f"{at}/versions/1", role=ADA)["state"] == "ENABLED"
    assert calling.refused("GET", f"{at}/versions/1:access", role=ADA).code == 403


def test_labels_and_aliases_change_and_what_is_not_masked_stays(calling: Calling) -> None:
    at = made(calling, "hf-token", b"one", b"two", labels={"team": "ml"})
    found = calling.call("PATCH", f"{at}?updateMask=version_aliases", {"versionAliases": {"stable": "1"}, "labels": {}})
    assert found["labels"] == {"team": "ml"} and value(calling, at, "stable") == b"one"
    assert calling.refused("PATCH", f"{at}?updateMask=replication", {"replication": {"automatic": {}}}).code == 400
    assert calling.refused("PATCH", f"{at}?updateMask=labels", {"etag": '"0"', "labels": {}}).status == "ABORTED"


def test_what_was_changed_meanwhile_is_neither_removed_nor_moved(calling: Calling) -> None:
    at = made(calling, "hf-token", VALUE)
    assert calling.refused("DELETE", f"{at}?etag=old").status == "ABORTED"
    assert calling.refused("POST", f"{at}/versions/1:destroy", {"etag": "old"}).status == "ABORTED"
    missing = calling.refused("POST", f"{at}/versions/2:destroy", {})
    assert missing.code == 404 and f"[{NUMBERED}/hf-token/versions/2]" in missing.message
    assert value(calling, at) == VALUE


# --- google-cloud-secret-manager, unmodified, over REST.


PROJECT = "projects/local-project"


def client(cloud: LocalCloud, role: str = "owner") -> secretmanager_v1.SecretManagerServiceClient:
    return secretmanager_v1.SecretManagerServiceClient(**cloud.to_client(role))


def test_a_secret_from_create_to_delete(cloud: LocalCloud) -> None:
    owner, name = client(cloud), f"token-{uuid.uuid4().hex[:8]}"
    automatic = secretmanager_v1.Replication(automatic=secretmanager_v1.Replication.Automatic())
    secret = secretmanager_v1.Secret(replication=automatic)
    made = owner.create_secret(parent=PROJECT, secret_id=name, secret=secret)
    value = b"hf_official"
    payload = secretmanager_v1.SecretPayload(data=value, data_crc32c=google_crc32c.value(value))
    version = owner.add_secret_version(parent=made.name, payload=payload)
    assert version.state.name == "ENABLED"
    latest = owner.access_secret_version(name=f"{PROJECT}/secrets/{name}/versions/latest")
    assert (latest.payload.data, latest.payload.data_crc32c) == (value, google_crc32c.value(value))
    assert [item.name for item in owner.list_secret_versions(parent=made.name)] == [version.name]
    assert made.name in [item.name for item in owner.list_secrets(parent=PROJECT)]
    with pytest.raises(exceptions.Forbidden, match=r"Permission .* denied for resource"):
        client(cloud, "previewer").access_secret_version(name=version.name)
    policy = owner.get_iam_policy(request={"resource": made.name})
    policy.bindings.add(role="roles/secretmanager.secretAccessor", members=["user:ada@company.example"])
    owner.set_iam_policy(request={"resource": made.name, "policy": policy})
    assert client(cloud, "submitter").access_secret_version(name=version.name).payload.data == value
    owner.destroy_secret_version(name=version.name)
    with pytest.raises(exceptions.BadRequest, match="DESTROYED"):
        owner.access_secret_version(name=version.name)
    owner.delete_secret(name=made.name)
    with pytest.raises(exceptions.NotFound):
        owner.get_secret(name=made.name)
    assert value.decode() not in (cloud.state / "cloud.log").read_text()
