"""Packages are uploaded again before the catalog is written, unless a bucket or an account is still missing. # N33"""

from types import SimpleNamespace
from typing import Any

import pytest

from slipway.authoring.packages.source_package import SourcePackage
from slipway.authoring.template.worker_pool import Image
from slipway.base.errors import ResourceError
from slipway.deploying.deployment import package_restoration
from slipway.deploying.deployment.package_restoration import restore_for_catalog
from slipway.deploying.deployment.restoration import Restoration
from slipway.google.live import Unknown
from slipway.model.origin import Program

TAR, LAUNCHER = (SourcePackage(name, "0123", name.encode()) for name in ("nap-1.tar.gz", "nap-2.pyz"))
PACKAGES: Any = {"nap": {Image("a"): TAR}, "again": {Image("a"): TAR, Image("b"): LAUNCHER}}
WORK, TRAINER = "acme-work", "trainer@acme-dev.iam.gserviceaccount.com"


def guard(**answers: Any) -> Any:
    """Return a guard of which a reader gives these answers; a resource without one exists."""

    def answer(name: str) -> Any:
        return answers.get(name.partition("@")[0].replace("acme-", ""), {name: {}})

    reader = SimpleNamespace(bucket=answer, service_account=answer)
    place = ("acme-dev", "us-central1")
    return SimpleNamespace(environ={}, place=place, reader=lambda _: reader, origin=Program("dev", "ml"))


@pytest.fixture
def created(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bytes, str]]:
    objects: list[tuple[str, bytes, str]] = []

    def create(at: Any, content: bytes, media: str, *, again: bool) -> bool:
        assert again
        objects.append((str(at), content, media))
        return True

    connection = SimpleNamespace(storage=SimpleNamespace(create=create))
    monkeypatch.setattr(package_restoration, "connect", lambda _: connection)
    return objects


def test_the_missing_packages_are_uploaded_once_each(created: list[tuple[str, bytes, str]]) -> None:
    restore_for_catalog(Restoration("acme-catalog", packages=(TAR.path,)), PACKAGES, guard())
    restore_for_catalog(Restoration("acme-catalog", packages=(LAUNCHER.path,), buckets=(WORK,)), PACKAGES, guard())
    assert created == [
        ("gs://acme-catalog/packages/nap-1.tar.gz", b"nap-1.tar.gz", "application/gzip"),
        ("gs://acme-catalog/packages/nap-2.pyz", b"nap-2.pyz", "application/zip"),
    ]


@pytest.mark.parametrize(
    ("missing", "name"), [({"work": {}}, f"bucket gs://{WORK}"), ({"trainer": {}}, f"account {TRAINER}")]
)
def test_nothing_is_published_while_a_bucket_or_an_account_is_missing(
    created: list[tuple[str, bytes, str]], missing: dict[str, Any], name: str
) -> None:
    found = Restoration("acme-catalog", packages=(TAR.path,), buckets=(WORK,), accounts=(TRAINER,))
    with pytest.raises(ResourceError, match=f"{name} was deleted outside of Pulumi") as error:
        restore_for_catalog(found, PACKAGES, guard(**missing))
    assert "pulumi up --refresh --stack dev" in str(error.value) and created == []


def test_one_that_can_not_be_read_is_left_to_pulumi(created: list[tuple[str, bytes, str]]) -> None:
    unread = Unknown("denied", "storage", "a role")
    restore_for_catalog(Restoration("acme-catalog", buckets=(WORK,)), PACKAGES, guard(work=unread))
    assert created == []
