"""Every parameter, enum and required field of Google's own definitions, as far as it is served. (N17)"""

import copy
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor

from tests.conftest import ROOT
from tests.fuzzing import GOOD
from tests.methods import examples
from vertex_local import discovery
from vertex_local.testing.calling import CLUSTERS, JOBS, PARENT, every_service
from vertex_local.vertex.messages import MESSAGES
from vertex_local.wire import ApiError

APIS = (
    *("storage.v1", "iam.v1", "cloudresourcemanager.v1", "cloudresourcemanager.v3", "logging.v2", "monitoring.v3"),
    *("serviceusage.v1", "secretmanager.v1", "aiplatform.v1", "aiplatform.v1beta1"),
)
KINDS = (
    *("CustomJob", "HyperparameterTuningJob", "TrainingPipeline", "PersistentResource", "Model", "Artifact"),
    *("Execution", "TensorboardTimeSeries", "AddExecutionEventsRequest"),
)
ODD = "?!"
_DEEP = 8
_ZERO = {".studySpec.parameters[0].doubleValueSpec.minValue"}
"""Required numbers whose zero is a value, which is not told from one that was not sent."""
CREATES: Mapping[str, tuple[str, Any]] = {
    "CustomJob": (JOBS, GOOD["CustomJob"]),
    "PersistentResource": (f"{CLUSTERS}?persistentResourceId=required", GOOD["PersistentResource"]),
    "HyperparameterTuningJob": (f"/v1/{PARENT}/hyperparameterTuningJobs", GOOD["HyperparameterTuningJob"]),
    "TrainingPipeline": (f"/v1/{PARENT}/trainingPipelines", GOOD["TrainingPipeline"]),
    "UploadModelRequest": (f"/v1/{PARENT}/models:upload", GOOD["UploadModelRequest"]),
    "Tensorboard": (f"/v1/{PARENT}/tensorboards", {"displayName": "b"}),
}


@pytest.mark.parametrize("api", APIS)
def test_a_parameter_has_the_form_that_the_document_says(api: str) -> None:
    seen = 0
    for _, verb, path in examples(api):
        method = discovery.method_of(verb, path)
        for name, schema in method.parameters.items() if method else ():
            if schema.get("type") == "string" and "enum" not in schema and not schema.get("format"):
                continue
            seen += 1
            with pytest.raises(ApiError) as refused:
                discovery.check_query(verb, path, [(name, ODD)])
            assert refused.value.code == 400 and f"'{name}'" in refused.value.message
            for value in schema.get("enum", ()):
                discovery.check_query(verb, path, [(name, value)])
            discovery.check_query(verb, path, [(name, "")])
    assert seen


def test_one_parameter_is_there_once_unless_it_is_a_list() -> None:
    path = "/v3/projects/p/timeSeries"
    twice = [("pageSize", "1"), ("page_size", "2")]
    with pytest.raises(ApiError, match="cannot start list"):
        discovery.check_query("GET", path, twice)
    discovery.check_query("GET", path, [("aggregation.groupByFields", "a"), ("aggregation.groupByFields", "b")])


def enums(descriptor: Descriptor, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all fields with an enum, some levels deep; the item of a list has the index None."""
    for field in descriptor.fields:
        at = (*above, field.json_name, *((None,) if field.is_repeated else ()))
        inner = field.message_type
        if field.enum_type is not None:
            yield at
        elif inner is not None and inner.full_name.startswith("google.cloud.") and len(above) < _DEEP:
            yield from () if inner.GetOptions().map_entry else enums(inner, at)


def nested(path: tuple[Any, ...], value: Any) -> Any:
    for step in reversed(path):
        value = [value] if step is None else {step: value}
    return value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", ["NO_SUCH_VALUE", 9_999])
def test_an_enum_takes_its_own_values_alone(kind: str, value: Any) -> None:
    paths = list(enums(MESSAGES.descriptor("v1", kind)))
    assert paths
    for path in paths:
        with pytest.raises(ApiError) as refused:
            MESSAGES.parse("v1", kind, nested(path, value))
        assert refused.value.code == 400, path


def without(schema: Mapping[str, Any], body: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """The body without each of the fields that are there and that the document calls required."""
    schemas = discovery.document("aiplatform.v1")["schemas"]
    schema = schemas[schema["$ref"]] if "$ref" in schema else schema
    if isinstance(body, list):
        for index, item in enumerate(body):
            for where, changed in without(schema["items"], item, f"{at}[{index}]"):
                yield where, [*body[:index], changed, *body[index + 1 :]]
    if not isinstance(body, dict):
        return
    for name, value in body.items():
        known = schema.get("properties", {}).get(name)
        if known is None:
            continue
        if known.get("description", "").startswith("Required"):
            yield f"{at}.{name}", {key: item for key, item in body.items() if key != name}
        for where, changed in without(known, value, f"{at}.{name}"):
            yield where, {**copy.deepcopy(body), name: changed}


@pytest.mark.parametrize("kind", CREATES)
def test_what_the_document_calls_required_is_required(kind: str, tmp_path: Path) -> None:
    path, body = CREATES[kind]
    with every_service(tmp_path / "state") as calling:
        removed = dict(without({"$ref": f"GoogleCloudAiplatformV1{kind}"}, body))
        assert removed
        for where in removed.keys() - _ZERO:
            error = calling.refused("POST", path, removed[where])
            assert error.code == 400, where
        assert calling.call("POST", path, body)


def test_what_says_something_by_being_there_is_kept() -> None:
    runtime = {"resourceRuntimeSpec": {"raySpec": {}, "serviceAccountSpec": {"enableCustomServiceAccount": False}}}
    told: Any = {"resourceRuntimeSpec": {"raySpec": {}, "serviceAccountSpec": {}}}
    assert MESSAGES.parse("v1", "PersistentResource", runtime) == told
    stopped: Any = {"studySpec": {"medianAutomatedStoppingSpec": {}}}
    assert MESSAGES.parse("v1", "HyperparameterTuningJob", stopped) == stopped
    forever = {"jobSpec": {"scheduling": {"maxWaitDuration": "0s"}}}
    assert MESSAGES.parse("v1", "CustomJob", forever) == forever


# --- The official message types, loaded when they are first needed.


AT_ONCE = """
import threading
from vertex_local.vertex.messages import MESSAGES

ready, found = threading.Barrier(8), []

def parse():
    ready.wait()
    found.append(MESSAGES.parse("v1", "CustomJob", {"display_name": "x"}))

threads = [threading.Thread(target=parse) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(found == [{"displayName": "x"}] * 8)
"""


def test_the_first_requests_may_come_all_at_once() -> None:  # N4: a restarted cloud meets those who waited for it
    done = subprocess.run([sys.executable, "-c", AT_ONCE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
