"""Official Storage clients against the local cloud."""

import uuid
from collections.abc import Iterator

import google.cloud.storage as storage
import pytest

from vertex_local.testing.local_cloud import LocalCloud


def client(cloud: LocalCloud, role: str = "owner") -> storage.Client:
    """Return the official client with explicit credentials."""
    return storage.Client(
        project="local-project",
        credentials=cloud.credentials(role),
        client_options={"api_endpoint": cloud.url},
    )


@pytest.fixture
def bucket(cloud: LocalCloud) -> Iterator[storage.Bucket]:
    """Yield a bucket of the test's own, with uniform access."""
    made = client(cloud).bucket(f"test-{uuid.uuid4().hex[:12]}")
    made.iam_configuration.uniform_bucket_level_access_enabled = True
    made.create(location="us-central1")
    yield made
    made.delete(force=True)
