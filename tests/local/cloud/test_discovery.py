"""What Google's own documents say of methods: which query parameters each takes, and what their bodies hold. (N17)"""

from typing import Any

import pytest

from local.cloud import bodies, discovery
from local.cloud.wire import ApiError
from tests.local.conftest import LocalCloud

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
    found = discovery.method_of(verb, path)
    assert (found.id if found else None) == name


@pytest.mark.parametrize(
    ("verb", "path", "names"),
    [
        (
            "GET",
            f"{VERTEX}/customJobs",
            ["pageSize", "page_token", "filter", "readMask", "$alt", "prettyPrint", "$.xgafv"],
        ),
        ("GET", f"{VERTEX}/models", ["orderBy"]),
        ("POST", f"{VERTEX}/persistentResources", ["persistent_resource_id"]),
        ("GET", "/v3/projects/p/timeSeries", ["interval.end_time", "aggregation.perSeriesAligner"]),
        ("PUT", "/upload/storage/v1/b/x/o", ["uploadType", "upload_id", "ifGenerationMatch"]),
        ("GET", "/slipway/status", ["anything"]),
    ],
)
def test_what_a_method_takes_passes(verb: str, path: str, names: list[str]) -> None:
    discovery.check_query(verb, path, [(name, "") for name in names])


def test_a_field_in_snake_case_is_the_same_field(cloud: LocalCloud) -> None:
    """Not one that is taken and ignored: a program that reads pages so would get the first one for ever."""
    for name in ("snake-one", "snake-two"):
        secret = {"replication": {"automatic": {}}, "labels": {"kind": "snake"}}
        cloud.rest("POST", f"/v1/projects/slipway-local/secrets?secret_id={name}", secret)
    path = "/v1/projects/slipway-local/secrets?filter=labels.kind%3Dsnake&page_size=1"
    first = cloud.rest("GET", path)
    second = cloud.rest("GET", f"{path}&page_token={first['nextPageToken']}")
    found = [item["name"].rpartition("/")[2] for page in (first, second) for item in page["secrets"]]
    assert sorted(found) == ["snake-one", "snake-two"] and "nextPageToken" not in second


def test_a_body_loses_its_nulls_but_for_those_that_are_values() -> None:
    entry = {"textPayload": None, "jsonPayload": {"a": None}, "labels": {"a": "b"}}
    body = {"entries": [entry], "labels": None}
    kept = {"entries": [{"jsonPayload": {"a": None}, "labels": {"a": "b"}}]}
    assert bodies.parsed("logging.v2", "WriteLogEntriesRequest", body) == kept


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"severity": "LOUD"}, "'entries[0].severity'"),
        ({"timestamp": "yesterday"}, "'entries[0].timestamp'"),
        ({"sourceLocation": {"line": "9" * 30}}, "'entries[0].sourceLocation.line' (TYPE_INT64)"),
        (None, "'entries[0]'"),
    ],
)
def test_a_value_of_another_form_is_named_with_its_path(entry: Any, words: str) -> None:
    with pytest.raises(ApiError) as refused:
        bodies.parsed("logging.v2", "WriteLogEntriesRequest", {"entries": [entry]})
    assert refused.value.code == 400 and words in refused.value.message
