"""From paths to handlers."""

import pytest

from local.cloud.router import Router
from local.cloud.wire import Call, Reply, Route

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
    found = ROUTER.find(method, path)
    assert found is not None
    assert found[0].__name__ == f"{method} {template}" and found[1].items() >= params.items()


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
