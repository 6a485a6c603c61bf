"""Changes of a cluster by an update, and whether that takes a new one."""

from collections.abc import Mapping
from typing import Any

import pytest

from local.plugin.provider import Difference, Provider
from local.plugin.values import UNKNOWN, Asset

CLUSTER = "gcp:vertex/aiPersistentResource:AiPersistentResource"

_POOL: Mapping[str, Any] = {
    "id": "workers",
    "machineSpec": {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1},
    "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
    "autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": "4"},
    "replicaCount": "1",
}
_COUNT = "resourcePools[0].machineSpec.acceleratorCount"
_INPUTS: Mapping[str, Any] = {
    "name": "h100",
    "location": "us-central1",
    "project": "p1",
    "displayName": "h100",
    "labels": {"slipway-stack": "dev"},
    "network": "projects/1/global/networks/n",
    "reservedIpRanges": ["r"],
    "encryptionSpec": {"kmsKeyName": "k"},
    "pscInterfaceConfig": {"networkAttachment": "a"},
    "resourceRuntimeSpec": {"serviceAccountSpec": {"enableCustomServiceAccount": True}},
    "resourcePools": [_POOL],
    "__defaults": [],
}
_STATE: Mapping[str, Any] = {
    **{name: value for name, value in _INPUTS.items() if name != "__defaults"},
    "resourcePools": [{**_POOL, "usedReplicaCount": "1"}],
    "pulumiLabels": {"slipway-stack": "dev"},
    "effectiveLabels": {"slipway-stack": "dev", "added-by": "others"},
    "deletionPolicy": "DELETE",
    "state": "RUNNING",
}


def _pool(**changes: Any) -> dict[str, Any]:
    return {**_INPUTS, "resourcePools": [{**_POOL, **changes}]}


def _without(name: str) -> dict[str, Any]:
    return {key: value for key, value in _INPUTS.items() if key != name}


def _seen(diff: Difference) -> dict[str, str]:
    return {change.path: f"{change.kind}{' replace' if change.replace else ''}" for change in diff.changes}


@pytest.mark.parametrize(
    ("edited", "path"),
    [
        (_pool(replicaCount="3"), "resourcePools[0].replicaCount"),
        ({**_INPUTS, "displayName": "other"}, "displayName"),
        ({**_INPUTS, "deletionPolicy": "PREVENT"}, "deletionPolicy"),
    ],
)
def test_a_cluster_is_updated_in_place_for_these_alone(provider: Provider, edited: Any, path: str) -> None:
    diff = provider.difference(CLUSTER, _STATE, edited)
    assert _seen(diff) == {path: "update"}
    assert diff.replaces == []
    assert not diff.delete_first


@pytest.mark.parametrize(
    ("edited", "path", "kind"),
    [
        ({**_INPUTS, "name": "other"}, "name", "update"),
        ({**_INPUTS, "location": "us-east1"}, "location", "update"),
        ({**_INPUTS, "network": UNKNOWN}, "network", "update"),
        (_without("network"), "network", "delete"),
        ({**_INPUTS, "reservedIpRanges": ["r", "s"]}, "reservedIpRanges[1]", "add"),
        ({**_INPUTS, "encryptionSpec": {"kmsKeyName": "other"}}, "encryptionSpec.kmsKeyName", "update"),
        (
            {**_INPUTS, "pscInterfaceConfig": {"networkAttachment": "b"}},
            "pscInterfaceConfig.networkAttachment",
            "update",
        ),
        (_without("resourceRuntimeSpec"), "resourceRuntimeSpec", "delete"),
        (_pool(id="others"), "resourcePools[0].id", "update"),
        (_pool(autoscalingSpec=None), "resourcePools[0].autoscalingSpec", "delete"),
        (_pool(machineSpec={**_POOL["machineSpec"], "acceleratorCount": 2}), _COUNT, "update"),
        ({**_INPUTS, "resourcePools": [_POOL, {**_POOL, "id": "more"}]}, "resourcePools[1]", "add"),
    ],
)
def test_a_cluster_is_replaced_for_everything_else(provider: Provider, edited: Any, path: str, kind: str) -> None:
    diff = provider.difference(CLUSTER, _STATE, edited)
    assert _seen(diff) == {path: f"{kind} replace"}
    assert diff.replaces == [path.split(".")[0].split("[")[0]]


def test_taking_a_pool_away_replaces_the_cluster(provider: Provider) -> None:
    state = {**_STATE, "resourcePools": [_POOL, {**_POOL, "id": "more"}]}
    assert _seen(provider.difference(CLUSTER, state, _INPUTS)) == {"resourcePools[1]": "delete replace"}


def test_any_label_replaces_a_cluster_through_its_effective_labels(provider: Provider) -> None:
    diff = provider.difference(CLUSTER, _STATE, {**_INPUTS, "labels": {"slipway-stack": "dev", "x": "y"}})
    assert _seen(diff) == {"labels.x": "add", "pulumiLabels.x": "add", "effectiveLabels.x": "add replace"}
    assert diff.replaces == ["effectiveLabels"]


def test_a_label_that_others_put_there_is_left_alone(provider: Provider) -> None:
    diff = provider.difference(CLUSTER, _STATE, _without("labels"))
    assert _seen(diff) == {
        "labels": "delete",
        "pulumiLabels": "delete",
        'effectiveLabels["slipway-stack"]': "delete replace",
    }


def test_what_the_cloud_chose_does_not_change(provider: Provider) -> None:
    assert provider.difference(CLUSTER, _STATE, _pool(id=None)).changes == ()
    asked = {name: _BUCKET[name] for name in ("name", "location", "storageClass", "forceDestroy", "__defaults")}
    assert provider.difference(BUCKET, _BUCKET, asked).changes == ()


def test_an_explicit_name_deletes_first_even_when_it_changes_and_a_made_one_creates_first(provider: Provider) -> None:
    assert provider.difference(CLUSTER, _STATE, {**_INPUTS, "name": "other"}).delete_first
    assert not provider.difference(CLUSTER, _STATE, {**_INPUTS, "network": "x", "__defaults": ["name"]}).delete_first


# --- What an update would change of the other types, and whether that takes a new resource.


BUCKET = "gcp:storage/bucket:Bucket"
OBJECT = "gcp:storage/bucketObject:BucketObject"
ACCOUNT = "gcp:serviceaccount/account:Account"
QUOTA = "gcp:cloudquota/sQuotaPreference:SQuotaPreference"


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
        ({"enableObjectRetention": True}, ["enableObjectRetention"]),
        ({"hierarchicalNamespace": {"enabled": True}}, ["hierarchicalNamespace"]),
        ({"labels": {"a": "b"}}, []),
        ({"versioning": {"enabled": False}}, []),
        ({"softDeletePolicy": {"retentionDurationSeconds": 0}}, []),
        ({"lifecycleRules": [{"action": {"type": "Delete"}, "condition": {"age": 1}}]}, []),
    ],
)
def test_a_bucket_is_replaced_for_few_properties_and_patched_for_the_rest(
    provider: Provider, edit: dict[str, Any], replaces: list[str] | None
) -> None:
    diff = provider.difference(BUCKET, _BUCKET, {**_BUCKET, **edit})
    assert bool(diff.changes) is (replaces is not None)
    assert diff.replaces == (replaces or [])


def test_a_default_that_an_import_left_out_of_its_inputs_is_no_change(provider: Provider) -> None:
    inputs = {"name": "b", "location": "US-CENTRAL1", "__defaults": []}
    assert provider.difference(BUCKET, _BUCKET, inputs).changes == ()


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
    diff = provider.difference(OBJECT, _OBJECT_STATE, _object(content="{1}"))
    assert _seen(diff) == dict.fromkeys(("content", "crc32c", "detectMd5hash", "generation", "md5hash"), "update")


def test_an_object_that_somebody_else_overwrote_is_written_again(provider: Provider) -> None:
    state = {**_OBJECT_STATE, "md5hash": "other", "detectMd5hash": "other"}
    diff = provider.difference(OBJECT, state, _object())
    assert _seen(diff) == dict.fromkeys(("crc32c", "detectMd5hash", "generation", "md5hash"), "update")


@pytest.mark.parametrize(("name", "value"), [("name", "n"), ("contentType", "text/csv"), ("metadata", {"a": "b"})])
def test_an_object_is_replaced_for_its_metadata(provider: Provider, name: str, value: Any) -> None:
    assert provider.difference(OBJECT, _OBJECT_STATE, _object(**{name: value})).replaces == [name]


@pytest.mark.parametrize(
    ("edit", "replaced"),
    [
        ({"metadata": {"a": "b"}}, "metadata"),
        ({"source": Asset("h2", text="{1}")}, "source"),
        ({"name": "other.json"}, "name"),
    ],
)
def test_an_object_with_a_name_of_the_programs_is_deleted_before_the_new_one_is_made(
    provider: Provider, edit: dict[str, Any], replaced: str
) -> None:
    """Were it made first, the delete by name would hit the new one."""
    state = {**_OBJECT_STATE, "source": Asset("h1", text="{}"), "content": None}
    inputs = {"bucket": "b", "name": "catalog.json", "source": Asset("h1", text="{}"), "__defaults": []}
    diff = provider.difference(OBJECT, state, {**inputs, **edit})
    assert diff.replaces == [replaced]
    assert diff.delete_first
    assert not provider.difference(OBJECT, state, {**inputs, **edit, "__defaults": ["name"]}).delete_first


def test_the_same_bytes_from_another_place_are_no_change(provider: Provider) -> None:
    state = {**_OBJECT_STATE, "source": Asset("h1", text="{}"), "content": None}
    for source in (Asset("h1", text="{}"), Asset("h1")):  # the engine asks for differences with the hash alone
        inputs = {"bucket": "b", "name": "catalog.json", "source": source, "__defaults": []}
        assert provider.difference(OBJECT, state, inputs).changes == ()


@pytest.mark.parametrize(
    ("token", "state", "inputs", "replaces"),
    [
        (ACCOUNT, {"accountId": "a", "project": "p1"}, {"accountId": "b"}, ["accountId"]),
        (ACCOUNT, {"accountId": "a", "project": "p1"}, {"accountId": "a", "displayName": "x"}, []),
        (QUOTA, {"name": "q", "parent": "projects/p1"}, {"name": "q", "parent": "projects/p2"}, ["parent"]),
    ],
)
def test_accounts_and_preferences(
    provider: Provider, token: str, state: dict[str, Any], inputs: dict[str, Any], replaces: list[str]
) -> None:
    diff = provider.difference(token, {"deletionPolicy": "DELETE", **state}, inputs)
    assert diff.changes
    assert diff.replaces == replaces


_OWNERS = [
    ("gcp:projects/iAMMember:IAMMember", "project"),
    ("gcp:storage/bucketIAMMember:BucketIAMMember", "bucket"),
    ("gcp:serviceaccount/iAMMember:IAMMember", "serviceAccountId"),
]


@pytest.mark.parametrize(("token", "owner"), _OWNERS)
def test_an_iam_member_is_replaced_for_all_it_is(provider: Provider, token: str, owner: str) -> None:
    inputs = {owner: "o", "role": "roles/viewer", "member": "user:a@x.example"}
    condition = {"title": "t", "expression": "true"}
    edits = {owner: "other", "role": "roles/editor", "member": "user:b@x.example", "condition": condition}
    for name, value in edits.items():
        assert provider.difference(token, inputs, {**inputs, name: value}).replaces == [name]
    assert provider.difference(token, inputs, {**inputs, "member": "user:A@x.example"}).changes == ()


def test_a_projects_member_is_deleted_before_the_new_one_is_added_and_an_account_whose_id_was_given(
    provider: Provider,
) -> None:
    """Others' members are added first, as are accounts that the provider named."""
    firsts = {
        token: provider.difference(token, inputs, {**inputs, "role": "roles/editor"}).delete_first
        for token, owner in _OWNERS
        if (inputs := {owner: "o", "role": "roles/viewer", "member": "user:a@x.example", "__defaults": []})
    }
    assert [token for token, first in firsts.items() if first] == ["gcp:projects/iAMMember:IAMMember"]
    account = {"accountId": "trainer", "project": "p1", "deletionPolicy": "DELETE"}
    for defaults, first in (([], True), (["accountId"], False)):
        edited = {"accountId": "trainer", "project": "p2", "__defaults": defaults}
        assert provider.difference(ACCOUNT, account, edited).delete_first is first
