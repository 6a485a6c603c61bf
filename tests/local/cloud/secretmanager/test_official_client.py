"""google-cloud-secret-manager, unmodified, over REST."""

import uuid

import google_crc32c
import pytest
from google.api_core import exceptions
from google.cloud import secretmanager_v1

from tests.local.conftest import LocalCloud

PARENT = "projects/slipway-local"


def client(cloud: LocalCloud, role: str = "owner") -> secretmanager_v1.SecretManagerServiceClient:
    return secretmanager_v1.SecretManagerServiceClient(
        transport="rest", client_options={"api_endpoint": cloud.url}, credentials=cloud.credentials(role)
    )


def test_a_secret_from_create_to_delete(cloud: LocalCloud) -> None:
    owner, name = client(cloud), f"token-{uuid.uuid4().hex[:8]}"
    automatic = secretmanager_v1.Replication(automatic=secretmanager_v1.Replication.Automatic())
    secret = secretmanager_v1.Secret(replication=automatic)
    made = owner.create_secret(parent=PARENT, secret_id=name, secret=secret)
    value = b"hf_official"
    payload = secretmanager_v1.SecretPayload(data=value, data_crc32c=google_crc32c.value(value))
    version = owner.add_secret_version(parent=made.name, payload=payload)
    assert version.state.name == "ENABLED"
    latest = owner.access_secret_version(name=f"{PARENT}/secrets/{name}/versions/latest")
    assert (latest.payload.data, latest.payload.data_crc32c) == (value, google_crc32c.value(value))
    assert [item.name for item in owner.list_secret_versions(parent=made.name)] == [version.name]
    assert made.name in [item.name for item in owner.list_secrets(parent=PARENT)]
    with pytest.raises(exceptions.Forbidden, match=r"Permission .* denied for resource"):
        client(cloud, "previewer").access_secret_version(name=version.name)
    policy = owner.get_iam_policy(request={"resource": made.name})
    policy.bindings.add(role="roles/secretmanager.secretAccessor", members=["user:ada@slipway.example"])
    owner.set_iam_policy(request={"resource": made.name, "policy": policy})
    assert client(cloud, "submitter").access_secret_version(name=version.name).payload.data == value
    owner.destroy_secret_version(name=version.name)
    with pytest.raises(exceptions.BadRequest, match="DESTROYED"):
        owner.access_secret_version(name=version.name)
    owner.delete_secret(name=made.name)
    with pytest.raises(exceptions.NotFound):
        owner.get_secret(name=made.name)
    assert value.decode() not in (cloud.state / "cloud.log").read_text()
