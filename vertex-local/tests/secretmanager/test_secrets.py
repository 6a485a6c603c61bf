"""Secrets: kept from logs and the store. What else is answered: `contracts/answered_secrets.txt` and `…_people.txt`."""

import base64
import stat
import uuid
from pathlib import Path

import google_crc32c
import pytest
from google.api_core import exceptions
from google.cloud import secretmanager_v1

from vertex_local.testing.calling import Calling
from vertex_local.testing.local_cloud import LocalCloud

SECRETS = "/v1/projects/local-project/secrets"
VALUE = b"hf_a-very-secret-token"


def test_a_value_lies_in_a_file_of_its_owner_alone_until_it_is_destroyed(calling: Calling) -> None:
    state = calling.world.state_folder

    def holding() -> list[Path]:
        return [path for path in state.rglob("*") if path.is_file() and VALUE in path.read_bytes()]

    calling.call("POST", f"{SECRETS}?secretId=hf-token", {"replication": {"automatic": {}}})
    payload = {"data": base64.b64encode(VALUE).decode()}
    calling.call("POST", f"{SECRETS}/hf-token:addVersion", {"payload": payload})
    (file,) = holding()
    assert file == state / "secrets" / "hf-token" / "1"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
    calling.call("POST", f"{SECRETS}/hf-token/versions/1:destroy", {})
    assert holding() == []


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
