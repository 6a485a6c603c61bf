"""What Google's own documents say of methods: which query parameters each takes, and what their bodies hold. (N17)"""

import pytest

from vertex_local import bodies, discovery
from vertex_local.addressing import Target, target
from vertex_local.router import Router
from vertex_local.wire import Call, Reply, Route

VERTEX = "/v1/projects/p/locations/us-central1"


@pytest.mark.parametrize(
    ("verb", "path", "name"),
    [
        ("GET", f"{VERTEX}/customJobs/1", "aiplatform.projects.locations.customJobs.get"),
        ("POST", f"{VERTEX}/customJobs/1:cancel", "aiplatform.projects.locations.customJobs.cancel"),
        ("GET", f"/ui{VERTEX}/operations/1", "aiplatform.projects.locations.operations.get"),
        ("POST", "/upload/storage/v1/b/x/o", "storage.objects.insert"),
        ("GET", "/v1/projects/p/services/storage.googleapis.com", "serviceusage.services.get"),
        ("GET", "/v1/nothing/like/it", None),
    ],
)
def test_a_method_is_known_by_its_path(verb: str, path: str, name: str | None) -> None:
    method = discovery.method_of(verb, path)
    assert (method.id if method else None) == name


def test_a_body_loses_its_nulls_but_for_those_that_are_values() -> None:
    entry = {"textPayload": None, "jsonPayload": {"a": None}, "labels": {"a": "b"}}
    body = {"entries": [entry], "labels": None}
    kept = {"entries": [{"jsonPayload": {"a": None}, "labels": {"a": "b"}}]}
    assert bodies.parsed("logging.v2", "WriteLogEntriesRequest", body) == kept


# --- From paths to handlers.


JOB = "/{version:v1|v1beta1}/projects/{project}/locations/{location}/customJobs/{job}"
TEMPLATES = [
    ("GET", JOB),
    ("DELETE", JOB),
    ("POST", JOB + ":cancel"),
    ("GET", JOB.removesuffix("/{job}")),
    ("GET", "/storage/v1/b/{bucket:any}/o/{object:any}"),
    ("GET", "/storage/v1/b/{bucket:any}/o"),
    ("GET", "/ui/{rest:path}"),
    ("GET", "/ui/projects/{project}/operations/{operation}"),
]


def handler(name: str):  # type: ignore[no-untyped-def]
    def answer(_: Call) -> Reply:
        return Reply(body=name)

    answer.__name__ = name
    return answer


ROUTER = Router([Route(method, template, handler(f"{method} {template}")) for method, template in TEMPLATES])


@pytest.mark.parametrize(
    ("method", "path", "template", "params"),
    [
        ("GET", "/v1/projects/p/locations/l/customJobs/7", JOB, {"version": "v1", "project": "p", "job": "7"}),
        ("POST", "/v1beta1/projects/p/locations/l/customJobs/7:cancel", JOB + ":cancel", {"job": "7"}),
        ("GET", "/v1/projects/p/locations/l/customJobs", JOB.removesuffix("/{job}"), {"location": "l"}),
        ("GET", "/storage/v1/b/x/o/a%2Fb%3Ac", "/storage/v1/b/{bucket:any}/o/{object:any}", {"object": "a/b:c"}),
        ("GET", "/storage/v1/b/x/o/q:r", "/storage/v1/b/{bucket:any}/o/{object:any}", {"object": "q:r"}),
        ("GET", "/ui/projects/1/operations/2", "/ui/projects/{project}/operations/{operation}", {"operation": "2"}),
        ("GET", "/ui/projects/1/other/2", "/ui/{rest:path}", {"rest": "projects/1/other/2"}),
    ],
)
def test_the_most_literal_template_wins(method: str, path: str, template: str, params: dict[str, str]) -> None:
    route = ROUTER.find(method, path)
    assert route is not None
    assert route[0].__name__ == f"{method} {template}" and route[1].items() >= params.items()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/v1/projects/p/locations/l/customJobs/7"),
        ("POST", "/v1/projects/p/locations/l/customJobs/7:resume"),
        ("GET", "/v1/projects/p/locations/l/customJobs/7:cancel"),
        ("GET", "/v2/projects/p/locations/l/customJobs/7"),
        ("GET", "/v1/projects/p/locations//customJobs/7"),
        ("GET", "/storage/v1/b/x/o/a/b"),
    ],
)
def test_what_no_template_covers_is_not_served(method: str, path: str) -> None:
    assert ROUTER.find(method, path) is None


# --- The project, buckets or account of a request, by its address alone. # N4


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
        ("/storage/v1/b/one/o/projects%2Flocal-project", {}, b"", Target(buckets=("one",))),
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
