"""A bucket of the local cloud, and what stands between a replica and that cloud."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from .between import Between, between

if TYPE_CHECKING:
    from tests.local.conftest import LocalCloud

PROJECT = "local-project"


@dataclass(frozen=True)
class Bucket:
    cloud: LocalCloud
    name: str

    def objects(self, folder: str) -> list[Any]:
        page = self.cloud.rest("GET", f"/storage/v1/b/{self.name}/o?prefix={quote(folder, safe='')}")
        return list(page.get("items", []))

    def contents(self, folder: str) -> dict[str, bytes]:
        """Return what lies in a folder, by its path there."""
        get, url = self.cloud.session().get, f"{self.cloud.url}/storage/v1/b/{self.name}/o"
        return {
            name.removeprefix(folder): get(f"{url}/{quote(name, safe='')}?alt=media", timeout=30).content
            for name in (one["name"] for one in self.objects(folder))
        }

    def post(self, name: str, content: bytes, more: str = "") -> int:
        """Return the status with which an object is taken."""
        url = f"{self.cloud.url}/upload/storage/v1/b/{self.name}/o?uploadType=media&name={quote(name, safe='')}{more}"
        return self.cloud.session().post(url, data=content, timeout=30).status_code

    def put(self, name: str, content: bytes) -> str:
        """Return the address of a new object."""
        assert self.post(name, content) == 200
        return f"gs://{self.name}/{name}"


@pytest.fixture(scope="session")
def bucket(cloud: LocalCloud) -> Bucket:
    cloud.rest("POST", f"/storage/v1/b?project={PROJECT}", {"name": "packages-work", "location": "US-CENTRAL1"})
    return Bucket(cloud, "packages-work")


@pytest.fixture
def server(cloud: LocalCloud) -> Iterator[Between]:
    with between(cloud.url, cloud.token()) as made:
        yield made
