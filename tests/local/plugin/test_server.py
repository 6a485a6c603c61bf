"""The provider's gRPC service, spoken to as the engine does."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2

from local.plugin import VERSION
from local.plugin.engine_log import EngineLog
from local.plugin.pace import Pace
from local.plugin.protos import engine, engine_services, messages, services
from local.plugin.server import Service
from local.plugin.values import UNKNOWN, decode, encode
from tests.local.plugin.conftest import Recorder

_URN = "urn:pulumi:dev::trial::slipway:index:Workspace$gcp:storage/bucket:Bucket::work"


@pytest.fixture
def said() -> list[Any]:
    """Return what the engine's log has got."""
    return []


@pytest.fixture
def log(said: list[Any]) -> Iterator[EngineLog]:
    class Engine(engine_services.EngineServicer):  # type: ignore[misc]
        def Log(self, request: Any, context: Any) -> Any:  # noqa: N802
            said.append(request)
            return empty_pb2.Empty()

    server = grpc.server(ThreadPoolExecutor(4))
    engine_services.add_EngineServicer_to_server(Engine(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield EngineLog(f"127.0.0.1:{port}")
    server.stop(None)


@pytest.fixture
def unconfigured(recorder: Recorder, log: EngineLog) -> Iterator[Any]:
    server = grpc.server(ThreadPoolExecutor(4))
    services.add_ResourceProviderServicer_to_server(Service(Pace(), recorder.environment(), log), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield services.ResourceProviderStub(channel)
    server.stop(None)


@pytest.fixture
def provider(unconfigured: Any) -> Any:
    answer = unconfigured.Configure(messages.ConfigureRequest(args=encode({"project": "p1"})))
    assert answer.acceptSecrets
    assert answer.supportsPreview
    return unconfigured


def _urn(token: str) -> str:
    return _URN.replace("gcp:storage/bucket:Bucket", token)


def _checked(provider: Any, given: Any) -> Any:
    return provider.Check(messages.CheckRequest(urn=_URN, news=given, randomSeed=b"seed")).inputs


def test_it_tells_its_types_to_programs_that_are_not_in_python(unconfigured: Any) -> None:
    schema = json.loads(unconfigured.GetSchema(messages.GetSchemaRequest()).schema)
    assert (schema["name"], schema["version"]) == ("gcp", VERSION)
    bucket = schema["resources"]["gcp:storage/bucket:Bucket"]
    assert bucket["requiredInputs"] == ["location"]
    assert bucket["inputProperties"]["name"] == {"type": "string"} and "url" not in bucket["inputProperties"]
    assert bucket["properties"]["url"] == {"type": "string"}
    rule = schema["types"][bucket["properties"]["lifecycleRules"]["items"]["$ref"].removeprefix("#/types/")]
    assert rule["required"] == ["action", "condition"]
    named = {ref.group(1) for ref in re.finditer(r'"#/types/([^"]+)"', json.dumps(schema))}
    assert named == schema["types"].keys()


def test_it_says_what_it_is(unconfigured: Any) -> None:
    assert unconfigured.GetPluginInfo(empty_pb2.Empty()).version == "10.2.0"
    agreed = unconfigured.Handshake(messages.ProviderHandshakeRequest(engine_address="127.0.0.1:1"))
    assert agreed.accept_secrets
    assert not agreed.accept_outputs


def test_inputs_come_back_completed_with_their_secrets(provider: Any) -> None:
    inputs = decode(_checked(provider, encode({"location": "us", "labels": {"a": "b"}}, {"labels"})))
    assert inputs.values["name"].startswith("work-")
    assert "labels" in inputs.secrets


def test_wrong_inputs_are_failures_with_their_paths(provider: Any) -> None:
    answer = provider.Check(messages.CheckRequest(urn=_URN, news=encode({"versioning": {}})))
    assert [failure.property for failure in answer.failures] == ["versioning.enabled", "location"]


def test_a_preview_leaves_open_what_the_cloud_fills_in_and_keeps_labels_secret(provider: Any) -> None:
    inputs = _checked(provider, encode({"location": "us", "labels": {"a": "b"}}))
    answer = provider.Create(messages.CreateRequest(urn=_URN, properties=inputs, preview=True))
    planned = decode(answer.properties)
    assert answer.id == ""
    assert planned.values["url"] is UNKNOWN
    assert planned.values["project"] == "p1"
    assert planned.secrets == {"effectiveLabels", "pulumiLabels"}


def test_a_difference_names_paths_and_kinds(provider: Any) -> None:
    old = encode(
        {"name": "w", "location": "US", "project": "p1", "deletionPolicy": "DELETE", "storageClass": "STANDARD"}
    )
    news = encode({"name": "w", "location": "EU", "requesterPays": True, "__defaults": []})
    answer = provider.Diff(messages.DiffRequest(urn=_URN, id="w", olds=old, news=news))
    kinds = messages.PropertyDiff
    assert {path: value.kind for path, value in answer.detailedDiff.items()} == {
        "location": kinds.UPDATE_REPLACE,
        "requesterPays": kinds.ADD,
    }
    assert answer.replaces == ["location"]
    assert answer.deleteBeforeReplace
    assert answer.changes == messages.DiffResponse.DIFF_SOME


def test_what_is_gone_reads_without_an_id(provider: Any, recorder: Recorder) -> None:
    recorder.refuse("GET /storage/v1/b/work", 404, "not found")
    state = encode({"name": "work"})
    assert provider.Read(messages.ReadRequest(id="work", urn=_URN, properties=state, inputs=state)).id == ""


def test_an_error_has_the_official_plugins_form_and_googles_text(provider: Any, recorder: Recorder) -> None:
    recorder.refuse("POST /storage/v1/b", 403, "no permission", "PERMISSION_DENIED")
    with pytest.raises(grpc.RpcError) as failed:
        provider.Create(
            messages.CreateRequest(urn=_URN, properties=encode({"name": "work", "location": "us"}), timeout=60)
        )
    assert failed.value.details() == ("1 error occurred:\n\t* googleapi: Error 403: no permission\n\n")


def test_an_error_is_in_the_engines_log_as_well_as_the_official_plugin_has_it(log: EngineLog, said: list[Any]) -> None:
    """gcp-provider.md, side by side: errors come twice."""
    log.error(_URN, "Error creating bucket work: googleapi: Error 403: no permission")
    assert [sentence.urn for sentence in said] == [_URN]
    assert said[0].severity == engine.LogSeverity.ERROR
    assert said[0].message == (
        "sdk-v2/provider2.go:571: sdk.helper_schema: Error creating bucket work: googleapi: Error 403: no permission: "
        "provider=google-beta@10.2.0"
    )


def test_a_first_ctrl_c_ends_nothing_that_is_under_way(provider: Any, recorder: Recorder) -> None:
    """gcp-provider.md, side by side: what is refused is tried again until its time-out, a second Ctrl-C ends all."""
    recorder.refuse("POST /storage/v1/b", 429, "later")
    recorder.answer("POST /storage/v1/b", {})
    recorder.answer("GET /storage/v1/b/work", {"name": "work", "location": "US"})
    properties = encode({"name": "work", "location": "us"})
    making = provider.Create.future(messages.CreateRequest(urn=_URN, properties=properties))
    while not recorder.asked:
        pass
    provider.Cancel(empty_pb2.Empty())
    assert making.result(timeout=60).id == "work"


def test_other_types_are_taken_as_declared_and_said_once(provider: Any, recorder: Recorder, said: list[Any]) -> None:
    """Their inputs are their outputs, secrets and what is not known yet among them. Nothing is sent anywhere."""
    urn = _urn("gcp:bigquery/dataset:Dataset")
    given = encode({"datasetId": "events", "labels": {"team": "ml"}, "description": UNKNOWN}, {"labels"})
    for _ in range(2):
        assert provider.Check(messages.CheckRequest(urn=urn, news=given)).inputs == given
    (sentence,) = said
    assert (sentence.urn, sentence.severity) == (urn, engine.LogSeverity.INFO)
    assert "no gcp:bigquery/dataset:Dataset: it is taken as declared and nothing is made" in sentence.message
    assert provider.Create(messages.CreateRequest(urn=urn, properties=given, preview=True)).id == ""
    made = provider.Create(messages.CreateRequest(urn=urn, properties=given))
    assert (made.id, decode(made.properties)) == (
        "work",
        decode(encode({**decode(given).values, "name": "work"}, {"labels"})),
    )
    named = provider.Create(messages.CreateRequest(urn=urn, properties=encode({"name": "ours"})))
    assert (named.id, decode(named.properties).values) == ("ours", {"name": "ours"})
    read = provider.Read(messages.ReadRequest(urn=urn, id="work", properties=made.properties, inputs=given))
    assert (read.id, read.properties, read.inputs) == ("work", made.properties, given)
    news = encode({"datasetId": "clicks", "labels": {"team": "ml"}, "location": "US"}, {"labels"})
    differs = provider.Diff(messages.DiffRequest(urn=urn, id="work", old_inputs=given, olds=made.properties, news=news))
    kinds = messages.PropertyDiff
    assert {path: value.kind for path, value in differs.detailedDiff.items()} == {
        "datasetId": kinds.UPDATE_REPLACE,
        "description": kinds.DELETE,
        "location": kinds.ADD_REPLACE,
    }
    assert list(differs.replaces) == ["datasetId", "location"], "nothing at Google is renamed or moves"
    changed = provider.Update(messages.UpdateRequest(urn=urn, id="work", olds=made.properties, news=news))
    assert decode(changed.properties).values["datasetId"] == "clicks"
    provider.Delete(messages.DeleteRequest(urn=urn, id="work", properties=changed.properties))
    assert recorder.asked == []


def test_what_a_cluster_or_a_job_names_has_the_id_that_the_real_provider_gives(provider: Any) -> None:
    def id_of(token: str, **given: Any) -> str:
        made = provider.Create(messages.CreateRequest(urn=_urn(token), properties=encode(given)))
        return str(made.id)

    network = id_of("gcp:compute/network:Network", project="acme", name="training")
    assert network == "projects/acme/global/networks/training"
    ring = id_of("gcp:kms/keyRing:KeyRing", project="acme", location="us-central1", name="ml")
    assert ring == "projects/acme/locations/us-central1/keyRings/ml"
    key = id_of("gcp:kms/cryptoKey:CryptoKey", keyRing=ring, name="training")
    assert key == f"{ring}/cryptoKeys/training"
    secret = id_of("gcp:secretmanager/secret:Secret", secretId="room")
    assert secret == "projects/p1/secrets/room", "the provider's own project, where the program names none"


def test_an_import_of_another_type_agrees_with_its_program(provider: Any) -> None:
    urn = _urn("gcp:bigquery/dataset:Dataset")
    read = provider.Read(messages.ReadRequest(urn=urn, id="events"))
    asked = messages.DiffRequest(
        urn=urn, id=read.id, old_inputs=read.inputs, olds=read.properties, news=encode({"datasetId": "events"})
    )
    assert provider.Diff(asked).changes == messages.DiffResponse.DIFF_NONE


def test_functions_are_refused_by_name(provider: Any) -> None:
    with pytest.raises(grpc.RpcError, match="does not know the function gcp:storage/getBucket:getBucket"):
        provider.Invoke(messages.InvokeRequest(tok="gcp:storage/getBucket:getBucket"))


def test_an_endpoint_elsewhere_is_a_failure_of_its_key(unconfigured: Any) -> None:
    news = encode({"storageCustomEndpoint": "https://storage.googleapis.com/storage/v1/"})
    (failure,) = unconfigured.CheckConfig(messages.CheckRequest(urn=_urn("pulumi:providers:gcp"), news=news)).failures
    assert failure.property == "storageCustomEndpoint"
    with pytest.raises(grpc.RpcError, match="not an address on this machine"):
        unconfigured.Configure(messages.ConfigureRequest(args=news))


def test_a_changed_configuration_updates_the_provider_and_replaces_nothing(unconfigured: Any) -> None:
    old, new = encode({"project": "p1"}), encode({"project": "p1", "region": "us"})
    answer = unconfigured.DiffConfig(messages.DiffRequest(old_inputs=old, news=new))
    assert (list(answer.diffs), list(answer.replaces)) == (["region"], [])
    same = unconfigured.DiffConfig(messages.DiffRequest(old_inputs=old, news=old))
    assert same.changes == messages.DiffResponse.DIFF_NONE


def test_it_has_to_be_configured_first(unconfigured: Any) -> None:
    with pytest.raises(grpc.RpcError, match="has not been configured"):
        unconfigured.Check(messages.CheckRequest(urn=_URN, news=encode({})))
