"""What an update would change of the other types, and whether that takes a new resource."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from local.plugin.provider import Difference, Provider
from local.plugin.values import Asset

BUCKET = "gcp:storage/bucket:Bucket"
OBJECT = "gcp:storage/bucketObject:BucketObject"
ACCOUNT = "gcp:serviceaccount/account:Account"
QUOTA = "gcp:cloudquota/sQuotaPreference:SQuotaPreference"


def _seen(found: Difference) -> dict[str, str]:
    return {one.path: f"{one.kind}{' replace' if one.replace else ''}" for one in found.changes}


_BUCKET: Mapping[str, Any] = {
    "name": "b",
    "location": "US-CENTRAL1",
    "project": "p1",
    "storageClass": "STANDARD",
    "forceDestroy": False,
    "deletionPolicy": "DELETE",
    "uniformBucketLevelAccess": True,
    "versioning": {"enabled": True},
    "softDeletePolicy": {"retentionDurationSeconds": 604800},
    "effectiveLabels": {},
    "pulumiLabels": {},
    "__defaults": [],
}


@pytest.mark.parametrize(
    ("edit", "replaces"),
    [
        ({"location": "us-central1"}, None),
        ({"name": "c"}, ["name"]),
        ({"location": "EU"}, ["location"]),
        ({"project": "p2"}, ["project"]),
        ({"enableObjectRetention": True}, ["enableObjectRetention"]),
        ({"hierarchicalNamespace": {"enabled": True}}, ["hierarchicalNamespace"]),
        ({"storageClass": "NEARLINE"}, []),
        ({"forceDestroy": True}, []),
        ({"labels": {"a": "b"}}, []),
        ({"uniformBucketLevelAccess": False}, []),
        ({"versioning": {"enabled": False}}, []),
        ({"softDeletePolicy": {"retentionDurationSeconds": 0}}, []),
        ({"lifecycleRules": [{"action": {"type": "Delete"}, "condition": {"age": 1}}]}, []),
    ],
)
def test_a_bucket_is_replaced_for_five_properties_and_patched_for_the_rest(
    provider: Provider, edit: dict[str, Any], replaces: list[str] | None
) -> None:
    found = provider.difference(BUCKET, _BUCKET, {**_BUCKET, **edit})
    assert bool(found.changes) is (replaces is not None)
    assert found.replaces == (replaces or [])


def test_what_a_bucket_got_from_the_cloud_is_no_change(provider: Provider) -> None:
    asked = {name: _BUCKET[name] for name in ("name", "location", "storageClass", "forceDestroy", "__defaults")}
    assert provider.difference(BUCKET, _BUCKET, asked).changes == ()


def _object(**changes: Any) -> dict[str, Any]:
    return {"bucket": "b", "name": "catalog.json", "content": "{}", "__defaults": [], **changes}


_OBJECT_STATE: Mapping[str, Any] = {
    **_object(),
    "contentType": "text/plain; charset=utf-8",
    "storageClass": "STANDARD",
    "md5hash": "mZFLkyvTelC5g8XnyQrpOw==",
    "crc32c": "yZRlqg==",
    "generation": 17,
    "detectMd5hash": "mZFLkyvTelC5g8XnyQrpOw==",
    "deletionPolicy": "DELETE",
}


def test_content_is_overwritten_in_place(provider: Provider) -> None:
    found = provider.difference(OBJECT, _OBJECT_STATE, _object(content="{1}"))
    assert _seen(found) == dict.fromkeys(("content", "crc32c", "detectMd5hash", "generation", "md5hash"), "update")


def test_an_object_that_somebody_else_overwrote_is_written_again(provider: Provider) -> None:
    state = {**_OBJECT_STATE, "md5hash": "other", "detectMd5hash": "other"}
    found = provider.difference(OBJECT, state, _object())
    assert _seen(found) == dict.fromkeys(("crc32c", "detectMd5hash", "generation", "md5hash"), "update")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bucket", "c"),
        ("name", "n"),
        ("contentType", "text/csv"),
        ("cacheControl", "no-store"),
        ("contentEncoding", "gzip"),
        ("contentDisposition", "inline"),
        ("contentLanguage", "en"),
        ("metadata", {"a": "b"}),
        ("kmsKeyName", "k"),
        ("storageClass", "NEARLINE"),
    ],
)
def test_an_object_is_replaced_for_its_metadata(provider: Provider, name: str, value: Any) -> None:
    assert provider.difference(OBJECT, _OBJECT_STATE, _object(**{name: value})).replaces == [name]


def test_a_changed_source_makes_the_new_object_before_it_deletes_the_old(provider: Provider) -> None:
    state = {**_OBJECT_STATE, "source": Asset("h1", text="{}"), "content": None}
    inputs = {"bucket": "b", "name": "catalog.json", "source": Asset("h2", text="{1}"), "__defaults": []}
    found = provider.difference(OBJECT, state, inputs)
    assert found.replaces == ["source"]
    assert not found.delete_first


def test_the_same_bytes_from_another_place_are_no_change(provider: Provider) -> None:
    state = {**_OBJECT_STATE, "source": Asset("h1", text="{}"), "content": None}
    for source in (Asset("h1", text="{}"), Asset("h1")):  # the engine asks for differences with the hash alone
        inputs = {"bucket": "b", "name": "catalog.json", "source": source, "__defaults": []}
        assert provider.difference(OBJECT, state, inputs).changes == ()


@pytest.mark.parametrize(
    ("token", "state", "inputs", "replaces"),
    [
        (ACCOUNT, {"accountId": "a", "project": "p1"}, {"accountId": "b"}, ["accountId"]),
        (ACCOUNT, {"accountId": "a", "project": "p1"}, {"accountId": "a", "project": "p2"}, ["project"]),
        (ACCOUNT, {"accountId": "a", "project": "p1"}, {"accountId": "a", "displayName": "x"}, []),
        (QUOTA, {"name": "q", "parent": "projects/p1"}, {"name": "q", "parent": "projects/p2"}, ["parent"]),
        (
            QUOTA,
            {"name": "q", "quotaConfig": {"preferredValue": "8", "grantedValue": "4"}},
            {"name": "q", "quotaConfig": {"preferredValue": "16"}},
            [],
        ),
    ],
)
def test_accounts_and_preferences(
    provider: Provider, token: str, state: dict[str, Any], inputs: dict[str, Any], replaces: list[str]
) -> None:
    found = provider.difference(token, {"deletionPolicy": "DELETE", **state}, inputs)
    assert found.changes
    assert found.replaces == replaces


@pytest.mark.parametrize(
    ("token", "owner"),
    [
        ("gcp:projects/iAMMember:IAMMember", "project"),
        ("gcp:storage/bucketIAMMember:BucketIAMMember", "bucket"),
        ("gcp:serviceaccount/iAMMember:IAMMember", "serviceAccountId"),
    ],
)
def test_an_iam_member_is_replaced_for_all_it_is(provider: Provider, token: str, owner: str) -> None:
    inputs = {owner: "o", "role": "roles/viewer", "member": "user:a@x.example"}
    edits: list[Callable[[], dict[str, Any]]] = [
        lambda: {owner: "other"},
        lambda: {"role": "roles/editor"},
        lambda: {"member": "user:b@x.example"},
        lambda: {"condition": {"title": "t", "expression": "true"}},
    ]
    for edit in edits:
        assert provider.difference(token, inputs, {**inputs, **edit()}).replaces == list(edit())
    assert provider.difference(token, inputs, {**inputs, "member": "user:A@x.example"}).changes == ()
