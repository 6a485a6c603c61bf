from typing import Any

import pytest

from local.plugin.checking import DEFAULTS, Checked, check
from local.plugin.planning import plan
from local.plugin.provider import kinds
from local.plugin.resources.bucket_object import BucketObject
from local.plugin.resources.persistent_resource import PersistentResource
from local.plugin.resources.service_account import ServiceAccount
from local.plugin.settings import Settings
from local.plugin.values import UNKNOWN, Asset, Properties

_CLUSTER = PersistentResource.schema
_POOLS = [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1}]


def _check(given: Properties, old: Properties | None = None, logical: str = "h100", seed: bytes = b"seed") -> Checked:
    return check(_CLUSTER, given, old or {}, logical, seed)


def test_a_name_left_out_is_made_from_the_logical_name() -> None:
    checked = _check({"resourcePools": _POOLS})
    name = checked.inputs["name"]
    assert name.startswith("h100-")
    assert len(name) == len("h100-d4964d7")
    assert set(name[5:]) <= set("0123456789abcdef")
    assert checked.inputs[DEFAULTS] == ["name"]


def test_the_made_name_follows_the_seed_so_that_preview_and_update_agree() -> None:
    first, second = (_check({"resourcePools": _POOLS}).inputs["name"] for _ in range(2))
    other = _check({"resourcePools": _POOLS}, seed=b"another").inputs["name"]
    assert first == second != other


def test_a_made_name_is_kept() -> None:
    assert _check({"resourcePools": _POOLS}, {"name": "h100-0000000", DEFAULTS: ["name"]}).inputs["name"] == (
        "h100-0000000"
    )


def test_a_long_logical_name_is_cut_to_what_the_cloud_takes() -> None:
    assert len(_check({"resourcePools": _POOLS}, logical="x" * 100).inputs["name"]) == 63


def test_numbers_and_strings_are_fitted_to_the_schema() -> None:
    pool = {"machineSpec": {"machineType": "a2-highgpu-1g", "acceleratorCount": "1"}, "replicaCount": 2}
    (checked,) = _check({"resourcePools": [pool]}).inputs["resourcePools"]
    assert (checked["replicaCount"], checked["machineSpec"]["acceleratorCount"]) == ("2", 1)


def test_what_is_wrong_is_said_with_its_path() -> None:
    pool = {"machineSpec": {"machineType": ["n1"], "gpus": 1}, "diskSpec": {"bootDiskSizeGb": "big"}}
    failures = {
        failure.property: failure.reason for failure in _check({"resourcePools": [pool], "colour": "red"}).failures
    }
    assert "Invalid or unknown key" in failures["colour"]
    assert "Invalid or unknown key" in failures["resourcePools[0].machineSpec.gpus"]
    assert failures["resourcePools[0].machineSpec.machineType"].startswith("expected a string")
    assert failures["resourcePools[0].diskSpec.bootDiskSizeGb"].startswith("expected a whole number")


def test_a_choice_is_held_to() -> None:
    (failure,) = _check({"resourcePools": _POOLS, "deletionPolicy": "KEEP"}).failures
    assert failure.property == "deletionPolicy"


ACCOUNT = "projects/p1/serviceAccounts/trainer@p1.iam.gserviceaccount.com"
MEMBER = {"project": "p1", "role": "roles/viewer", "member": "user:ada@x.example"}


@pytest.mark.parametrize(
    ("token", "given", "wrong", "why"),
    [
        ("gcp:serviceaccount/account:Account", {"accountId": "trainer"}, {"accountId": "X!"}, "doesn't match regexp"),
        ("gcp:serviceaccount/account:Account", {"accountId": "trainer"}, {"accountId": "short"}, '("short")'),
        ("gcp:serviceaccount/account:Account", {"accountId": "trainer"}, {"description": "d" * 257}, "(0 - 256)"),
        ("gcp:projects/iAMMember:IAMMember", MEMBER, {"member": "ada@x.example"}, "IAM members must have one of"),
        (
            "gcp:projects/iAMMember:IAMMember",
            MEMBER,
            {"member": "deleted:user:a@x.example?uid=1"},
            "deleted principals",
        ),
        (
            "gcp:serviceaccount/iAMMember:IAMMember",
            {"serviceAccountId": ACCOUNT, "role": "roles/viewer", "member": "allUsers"},
            {"serviceAccountId": "trainer@p1.iam.gserviceaccount.com"},
            '"service_account_id" ("trainer@p1.iam',
        ),
        ("gcp:storage/bucket:Bucket", {"location": "us", "name": "a.b-c"}, {"name": "My_Data"}, "naming-buckets"),
        ("gcp:storage/bucket:Bucket", {"location": "us", "name": "a.b-c"}, {"name": "a..b"}, "validation failed"),
        ("gcp:storage/bucket:Bucket", {"location": "us", "name": "a.b-c"}, {"name": "ourgoogle"}, 'contain "google"'),
        (
            "gcp:storage/bucket:Bucket",
            {"location": "us", "name": "abc", "publicAccessPrevention": "inherited"},
            {"publicAccessPrevention": "on"},
            "one of",
        ),
    ],
)
def test_a_value_that_the_official_provider_refuses_is_refused_in_preview(
    token: str, given: dict[str, Any], wrong: dict[str, Any], why: str
) -> None:
    """Not by the cloud, when the resource that it replaces is deleted already."""
    schema = kinds()[token].schema
    assert check(schema, given, {}, "x", b"").failures == ()
    (failure,) = check(schema, {**given, **wrong}, {}, "x", b"").failures
    assert [failure.property] == list(wrong)
    assert why in failure.reason


def test_what_is_not_known_yet_passes() -> None:
    checked = _check({"resourcePools": UNKNOWN, "network": UNKNOWN})
    assert checked.failures == ()
    assert checked.inputs["network"] is UNKNOWN


def test_outputs_given_as_inputs_are_dropped() -> None:
    assert "state" not in _check({"resourcePools": _POOLS, "state": "RUNNING"}).inputs


def test_an_object_has_exactly_one_source_of_its_bytes() -> None:
    kind = BucketObject()
    assert [failure.property for failure in kind.check({"bucket": "b"})] == ["content"]
    assert [failure.property for failure in kind.check({"content": "x", "source": Asset(text="x")})] == ["content"]
    assert kind.check({"content": "x"}) == kind.check({"source": Asset(text="x")}) == []


def test_what_the_plugin_can_not_do_is_refused_by_name() -> None:
    (failure,) = BucketObject().check({"content": "x", "customerEncryption": {"encryptionKey": "k"}})
    assert failure.property == "customerEncryption" and failure.reason.startswith("the local gcp plugin ")


_SCHEMA = PersistentResource.schema
_ON = Settings(endpoints={}, token="t", project="p1")
_OFF = Settings(endpoints={}, token="t", project="p1", attribution=False)
_INPUTS: dict[str, Any] = {"name": "h100", "resourcePools": [{"machineSpec": {"machineType": "m"}}]}


def _labels(planned: dict[str, Any]) -> tuple[Any, Any, Any]:
    return planned.get("labels"), planned["pulumiLabels"], planned["effectiveLabels"]


def test_the_attribution_label_is_added_to_what_is_new_or_has_it_unless_switched_off() -> None:
    given = {**_INPUTS, "labels": {"a": "b"}}
    ours = {"a": "b", "goog-pulumi-provisioned": "true"}
    assert _labels(plan(_SCHEMA, None, given, _ON)) == ({"a": "b"}, ours, ours)
    assert _labels(plan(_SCHEMA, None, given, _OFF)) == ({"a": "b"}, {"a": "b"}, {"a": "b"})
    for lives in ({"goog-pulumi-provisioned": "true"}, {}):
        imported = {"effectiveLabels": lives, "pulumiLabels": {}}
        assert _labels(plan(_SCHEMA, imported, _INPUTS, _ON)) == (None, lives, lives)


def test_labels_that_are_not_known_yet_leave_all_three_unknown() -> None:
    assert _labels(plan(_SCHEMA, None, {**_INPUTS, "labels": UNKNOWN}, _OFF)) == (UNKNOWN, UNKNOWN, UNKNOWN)


def test_the_address_of_a_new_service_account_is_known_before_it_is_made() -> None:
    planned = plan(ServiceAccount.schema, None, {"accountId": "trainer"}, _OFF)
    assert ServiceAccount().drift({}, planned) == {
        "email": "trainer@p1.iam.gserviceaccount.com",
        "member": "serviceAccount:trainer@p1.iam.gserviceaccount.com",
    }
    assert ServiceAccount().drift({"accountId": "trainer"}, planned) == {}
