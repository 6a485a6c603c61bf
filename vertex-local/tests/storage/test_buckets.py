"""Buckets, by the official client and by plain REST. (N4)"""

import uuid

import google.cloud.storage as storage
import pytest
import requests
from google.api_core import exceptions

from tests.storage.conftest import client
from vertex_local.testing.calling import Calling
from vertex_local.testing.local_cloud import LocalCloud

BUCKETS = "/storage/v1/b?project=local-project"


def name() -> str:
    return f"test-{uuid.uuid4().hex[:12]}"


def test_a_new_bucket_has_the_defaults_of_the_service(cloud: LocalCloud) -> None:
    made = cloud.rest("POST", BUCKETS, {"name": name(), "location": "us-central1"})
    assert made["location"] == "US-CENTRAL1" and made["locationType"] == "region"
    assert made["storageClass"] == "STANDARD" and made["projectNumber"] == "100000000001"
    assert made["metageneration"] == "1" and made["etag"] == "CAE="
    assert made["timeCreated"] == made["updated"] == made["softDeletePolicy"]["effectiveTime"]
    assert made["softDeletePolicy"]["retentionDurationSeconds"] == "604800"
    assert made["iamConfiguration"] == {
        "bucketPolicyOnly": {"enabled": False},
        "uniformBucketLevelAccess": {"enabled": False},
        "publicAccessPrevention": "inherited",
    }
    assert "token" not in str(made) and cloud.token() not in str(made)


def test_every_field_of_the_document_is_kept_as_sent(cloud: LocalCloud) -> None:
    """The fault of other emulators: a field that is forgotten shows as a change in every preview."""
    sent = {
        "name": name(),
        "location": "EU",
        "storageClass": "NEARLINE",
        "labels": {"made-for": "dev"},
        "versioning": {"enabled": True},
        "lifecycle": {
            "rule": [{"action": {"type": "Delete"}, "condition": {"age": 30, "matchesPrefix": ["packages/"]}}]
        },
        "cors": [{"origin": ["https://acme.example"], "method": ["GET"], "maxAgeSeconds": 60}],
        "retentionPolicy": {"retentionPeriod": "60"},
        "encryption": {"defaultKmsKeyName": "projects/p/locations/eu/keyRings/r/cryptoKeys/k"},
        "logging": {"logBucket": "logs", "logObjectPrefix": "x"},
        "website": {"mainPageSuffix": "index.html"},
        "softDeletePolicy": {"retentionDurationSeconds": "0"},
        "rpo": "DEFAULT",
        "iamConfiguration": {"uniformBucketLevelAccess": {"enabled": True}, "publicAccessPrevention": "enforced"},
    }
    cloud.rest("POST", BUCKETS, sent)
    got = cloud.rest("GET", f"/storage/v1/b/{sent['name']}")
    for key, value in sent.items():
        if isinstance(value, dict):
            assert {**got[key], **value} == got[key] or key == "iamConfiguration", key
        else:
            assert got[key] == value or key == "location", key
    uniform = got["iamConfiguration"]["uniformBucketLevelAccess"]
    assert uniform["enabled"] and uniform["lockedTime"] and got["iamConfiguration"]["bucketPolicyOnly"] == uniform
    assert got["locationType"] == "multi-region"


def test_a_patch_merges_and_null_removes(cloud: LocalCloud) -> None:
    bucket = name()
    cloud.rest("POST", BUCKETS, {"name": bucket, "labels": {"a": "1", "b": "2"}, "versioning": {"enabled": True}})
    patched = cloud.rest("PATCH", f"/storage/v1/b/{bucket}", {"labels": {"a": None, "c": "3"}, "versioning": None})
    assert patched["labels"] == {"b": "2", "c": "3"} and "versioning" not in patched
    assert patched["metageneration"] == "2" and patched["etag"] == "CAI="
    assert "labels" not in cloud.rest("PATCH", f"/storage/v1/b/{bucket}", {"labels": {"b": None, "c": None}})


def test_a_patch_of_nothing_changes_nothing_and_policies_of_time_keep_theirs(cloud: LocalCloud) -> None:
    bucket = name()
    retained = {"retentionPeriod": "3600"}
    made = cloud.rest("POST", BUCKETS, {"name": bucket, "labels": {"a": "1"}, "retentionPolicy": retained})
    path = f"/storage/v1/b/{bucket}"
    assert cloud.rest("PATCH", path, {})["metageneration"] == "1"
    assert "labels" not in cloud.rest("PATCH", path, {"labels": {}})
    longer = cloud.rest("PATCH", path, {"retentionPolicy": {"retentionPeriod": "7200", "isLocked": True}})
    since = made["retentionPolicy"]["effectiveTime"]
    assert longer["retentionPolicy"] == {"retentionPeriod": "7200", "effectiveTime": since}
    for policy, seconds in (({"retentionDurationSeconds": "0"}, "0"), (None, "604800")):
        kept = cloud.rest("PATCH", path, {"softDeletePolicy": policy})["softDeletePolicy"]
        assert kept["retentionDurationSeconds"] == seconds


def test_names_are_taken_once_and_a_full_bucket_stays(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    with pytest.raises(exceptions.Conflict, match="already own it"):
        client(cloud).create_bucket(bucket.name)
    bucket.blob("x").upload_from_string("x")
    with pytest.raises(exceptions.Conflict, match="not empty"):
        client(cloud).bucket(bucket.name).delete()


def test_a_missing_bucket_is_said_in_the_services_words(cloud: LocalCloud) -> None:
    with pytest.raises(exceptions.NotFound, match="The specified bucket does not exist"):
        client(cloud).get_bucket("no-such-bucket")
    assert not client(cloud).bucket("no-such-bucket").exists()


def test_metageneration_guards_a_change(bucket: storage.Bucket) -> None:
    bucket.labels = {"a": "b"}
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.patch(if_metageneration_match=7)
    bucket.patch(if_metageneration_match=1)
    assert bucket.metageneration == 2


def test_buckets_are_listed_by_prefix_and_page(cloud: LocalCloud) -> None:
    prefix = name()
    for number in range(3):
        cloud.rest("POST", BUCKETS, {"name": f"{prefix}-{number}"})
    listed = client(cloud).list_buckets(prefix=prefix, page_size=2)
    assert [[found.name for found in page] for page in listed.pages] == [
        [f"{prefix}-0", f"{prefix}-1"],
        [f"{prefix}-2"],
    ]


def test_a_buckets_policy_conflicts_on_an_old_etag_and_refuses_conditions(
    cloud: LocalCloud, bucket: storage.Bucket
) -> None:
    policy = bucket.get_iam_policy(requested_policy_version=3)
    policy.bindings.append({"role": "roles/storage.objectViewer", "members": {"user:ada@company.example"}})
    again = bucket.get_iam_policy(requested_policy_version=3)
    bucket.set_iam_policy(policy)
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.set_iam_policy(again)
    assert any(row["role"] == "roles/storage.objectViewer" for row in bucket.get_iam_policy().bindings)
    condition = {"title": "t", "expression": "true"}
    body = {"bindings": [{"role": "roles/storage.admin", "members": ["user:a@b.c"], "condition": condition}]}
    with pytest.raises(requests.HTTPError, match="501"):
        cloud.rest("PUT", f"/storage/v1/b/{bucket.name}/iam", body)


def test_what_is_not_implemented_says_so(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    for method, path in (("GET", "/acl"), ("GET", "/notificationConfigs"), ("POST", "/lockRetentionPolicy")):
        with pytest.raises(requests.HTTPError) as failure:
            cloud.rest(method, f"/storage/v1/b/{bucket.name}{path}")
        answer = failure.value.response
        assert answer.status_code == 501 and "does not implement" in answer.json()["error"]["message"]


def test_a_null_is_a_field_that_is_not_set_but_for_a_patch_which_removes_it(calling: Calling) -> None:
    labels = {"a": "b", "c": "d"}
    body = {"name": "odd", "labels": labels, "lifecycle": None, "versioning": None}
    assert "lifecycle" not in calling.call("POST", "/storage/v1/b?project=local-project", body)
    changed = calling.call("PATCH", "/storage/v1/b/odd", {"labels": {"a": None}})
    assert changed["labels"] == {"c": "d"}
    error = calling.refused("POST", "/storage/v1/b/odd/o/x/compose", {"sourceObjects": None})
    assert error.code == 400
