"""The project, buckets or account of a request, by its address alone. # N4"""

import pytest

from local.cloud.addressing import Target, target

ENTRIES = b'{"resourceNames": ["projects/acme-ml-dev"], "filter": "projects/other"}'
BATCH = b"GET /storage/v1/b/one/o/a HTTP/1.1\n\n--x\nDELETE /storage/v1/b/two/o/projects%2Fb HTTP/1.1\n"


@pytest.mark.parametrize(
    ("path", "query", "body", "found"),
    [
        ("/v1/projects/acme-ml-dev/locations/us-central1/customJobs", {}, b"", Target("acme-ml-dev")),
        ("/v1beta1/projects/100000000002/locations/us-central1/customJobs/7:cancel", {}, b"", Target("100000000002")),
        ("/ui/v1/projects/acme-ml-dev/locations/us-central1/operations/1", {}, b"", Target("acme-ml-dev")),
        ("/ui/projects/acme-ml-dev/locations/us-central1/operations/1", {}, b"", Target("acme-ml-dev")),
        ("/v3/projects/acme-ml-dev:getIamPolicy", {}, b"", Target("acme-ml-dev")),
        ("/v1/projects/acme.example%3Aml-dev:getIamPolicy", {}, b"", Target("acme.example:ml-dev")),
        ("/v3/projects:search", {}, b"", Target()),
        ("/v1/projects", {}, b"", Target()),
        ("/v1/projects/-/serviceAccounts/a@b.iam.gserviceaccount.com:generateAccessToken", {}, b"", None),
        ("/storage/v1/b", {"project": "acme-ml-dev"}, b"", Target("acme-ml-dev")),
        ("/storage/v1/projects/acme-ml-dev/serviceAccount", {}, b"", Target("acme-ml-dev")),
        ("/storage/v1/b/one/o/projects%2Fslipway-local", {}, b"", Target(buckets=("one",))),
        ("/upload/storage/v1/b/one/o", {"uploadType": "media"}, b"", Target(buckets=("one",))),
        ("/storage/v1/b/one/o/a/rewriteTo/b/two/o/c", {}, b"", Target(buckets=("one", "two"))),
        ("/batch/storage/v1", {}, BATCH, Target(buckets=("one", "two"))),
        ("/one/v1/projects/an-object", {}, b"", Target(buckets=("one",))),
        ("/v2/entries:list", {}, ENTRIES, Target("acme-ml-dev")),
        ("/v2/entries:list", {}, b'{"projectIds": ["acme-ml-dev"]}', Target("acme-ml-dev")),
        ("/v2/entries:write", {}, b'{"entries": [{"logName": "projects/acme-ml-dev/logs/a"}]}', Target("acme-ml-dev")),
    ],
)
def test_a_request_names_its_project_bucket_or_account(
    path: str, query: dict[str, str], body: bytes, found: Target | None
) -> None:
    expected = found or Target(account="a@b.iam.gserviceaccount.com")
    seen = target(path, query, body)
    if expected == Target():
        assert not seen.project and not seen.account
    else:
        assert seen == expected
