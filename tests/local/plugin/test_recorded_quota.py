"""Quota preferences against the recording of the official provider: 30 situations, each from the one before. # Z2

`recorded/quota_preferences.json` was taken on 2026-11-22 from pulumi-gcp on google-beta 7.45.0, bridge v3.137.0. The
cloud's answers are the recorded ones, so that requests, steps, states and errors have to be the same. What the engine
does with a single resource is played here; the engine itself: tests.end_to_end.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import grpc
import pytest
from google.rpc import status_pb2

from local.plugin.pace import Pace
from local.plugin.protos import messages, services
from local.plugin.server import Service
from local.plugin.values import decode, encode
from tests.local.plugin.conftest import Recorder

_RECORDED = Path(__file__).parents[2] / "end_to_end" / "recorded" / "quota_preferences.json"
_SITUATIONS = json.loads(_RECORDED.read_text(encoding="utf-8"))["situations"]
_TYPE = "gcp:cloudquota/sQuotaPreference:SQuotaPreference"
_DELTA = "__pulumi_raw_state_delta"


class Engine:
    """Do as the engine does with one resource, which has the inputs checked and compared, and then does what follows
    from that."""

    def __init__(self, provider: Any) -> None:
        self.provider = provider
        self.steps: list[dict[str, Any]] = []
        self.said: list[str] = []
        self.state: dict[str, Any] | None = None

    def play(self, declared: Mapping[str, Any], verb: str) -> None:
        self.urn = f"urn:pulumi:qp::qp::{_TYPE}::{declared['logical']}"
        if verb == "destroy" and self.state:
            self.step("delete")
            outputs = encode(self.state["outputs"])
            self.provider.Delete(messages.DeleteRequest(urn=self.urn, id=self.state["id"], properties=outputs))
            self.state = None
        elif verb == "refresh" and self.state:
            self.step("refresh")
            self.state |= self.read(self.state["id"], self.state["outputs"], self.state["inputs"])
        else:
            self.run(declared["args"], declared["opts"], changes=verb == "up")
            if self.state and "import_" not in declared["opts"]:
                self.state.pop("importID", None)

    def run(self, args: Mapping[str, Any], opts: Mapping[str, Any], changes: bool) -> None:
        if "import_" in opts and not self.state:
            self.step("import")
            self.state = {**self.read(opts["import_"], {}, {}), "importID": opts["import_"]}
        before = self.state or {"id": "", "inputs": {}, "outputs": {}}
        given = before["inputs"] if "ignore_changes" in opts else _camel(args)
        request = messages.CheckRequest(
            urn=self.urn, news=encode(given), olds=encode(before["inputs"]), randomSeed=b"x"
        )
        inputs = decode(self.provider.Check(request).inputs).values
        news, olds = encode(inputs), encode(before["outputs"])
        if not self.state:
            self.step("create")
            create = messages.CreateRequest(urn=self.urn, properties=news)
            return self.change(inputs, lambda: self.provider.Create(create)) if changes else None
        known = {
            "urn": self.urn,
            "id": before["id"],
            "olds": olds,
            "news": news,
            "old_inputs": encode(before["inputs"]),
        }
        diff = self.provider.Diff(messages.DiffRequest(**known))
        names = messages.PropertyDiff.Kind.Name
        kinds = {path: names(value.kind).lower() for path, value in diff.detailedDiff.items()}
        self.step("update" if kinds else "same", sorted(diff.diffs) or None, kinds or None)
        if changes and kinds:
            self.change(inputs, lambda: self.provider.Update(messages.UpdateRequest(**known)))
        elif changes:
            self.state["inputs"] = inputs
        return None

    def change(self, inputs: Any, asked: Callable[[], Any]) -> None:
        """Create or update; what was half done is kept with its error, and with the inputs from before."""
        held = self.state or {}
        try:
            made = asked()
        except grpc.RpcError as error:
            said = f"error: {error.details()}"
            for name, value in error.trailing_metadata():
                if name == "grpc-status-details-bin":
                    half = messages.ErrorResourceInitFailed()
                    status_pb2.Status.FromString(value).details[0].Unpack(half)
                    outputs = decode(half.properties).values
                    self.state = {**held, "outputs": outputs, "initErrors": list(half.reasons)}
                    said = f"error: 1 error occurred:\n\t* {half.reasons[0]}"
            self.said.append(said)
        else:
            kept = {name: value for name, value in held.items() if name != "initErrors"}
            outputs = decode(made.properties).values
            self.state = {**kept, "id": getattr(made, "id", held.get("id")), "inputs": inputs, "outputs": outputs}

    def read(self, id: str, outputs: Any, inputs: Any) -> dict[str, Any]:
        asked = messages.ReadRequest(urn=self.urn, id=id, properties=encode(outputs), inputs=encode(inputs))
        answer = self.provider.Read(asked)
        return {"id": answer.id, "inputs": decode(answer.inputs).values, "outputs": decode(answer.properties).values}

    def step(self, op: str, diffs: Any = None, kinds: Any = None) -> None:
        self.steps.append({"op": op, "diffs": diffs, "kinds": kinds})


@contextmanager
def _served(recorder: Recorder) -> Iterator[Any]:
    variables = {**recorder.environment(), "GOOGLE_CLOUD_QUOTAS_CUSTOM_ENDPOINT": f"{recorder.url}/v1/"}
    server = grpc.server(ThreadPoolExecutor(4))
    services.add_ResourceProviderServicer_to_server(Service(Pace(), variables), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        provider = services.ResourceProviderStub(channel)
        config = {"project": "local-project", "addPulumiAttributionLabel": "false"}
        provider.Configure(messages.ConfigureRequest(args=encode(config)))
        yield provider
    server.stop(None)


def test_it_does_what_the_official_provider_was_recorded_to_do(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = recorder.take
    monkeypatch.setattr(recorder, "take", lambda line: take(_plain(line)))
    with _served(recorder) as provider:
        engine = Engine(provider)
        for recorded in _SITUATIONS:
            recorder.asked.clear()
            recorder.replies.clear()
            for request in recorded["requests"]:
                recorder.answer(_plain(f"{request['method']} {request['path']}"), request["answer"], request["status"])
            (declared,) = recorded["declared"]
            engine.steps, engine.said = [], []
            engine.play(declared, recorded["verb"])
            assert _plain(_played(engine, recorder)) == _plain(_expected(recorded, engine)), recorded["situation"]


def _played(engine: Engine, recorder: Recorder) -> dict[str, Any]:
    asked = [
        {"line": request.line, "query": request.query, "body": json.loads(request.raw or "null")}
        for request in recorder.asked
    ]
    return {"steps": engine.steps, "errors": engine.said, "requests": asked, "state": _kept(engine.state)}


def _expected(recorded: Mapping[str, Any], engine: Engine) -> dict[str, Any]:
    kinds = [
        {path: each["diffKind"] for path, each in (step["detailedDiff"] or {}).items()} for step in recorded["steps"]
    ]
    steps = [
        {"op": step["op"], "diffs": step["diffs"], "kinds": kind or None}
        for step, kind in zip(recorded["steps"], kinds, strict=True)
    ]
    requests = [
        {
            "line": f"{request['method']} {request['path']}",
            "query": {name: unquote(value) for name, value in request["query"].items()},
            "body": request["body"],
        }
        for request in recorded["requests"]
    ]
    # A preview's state was not recorded; the errors begin with what the provider logs and end with the engine's own.
    state = engine.state if recorded["verb"] == "preview" else next(iter(recorded["state"]), None)
    return {"steps": steps, "errors": recorded["diagnostics"][1:-1], "requests": requests, "state": _kept(state)}


def _kept(state: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if state is None:
        return None
    outputs = {name: value for name, value in state["outputs"].items() if name != _DELTA}
    return {name: value for name, value in {**state, "outputs": outputs}.items() if name != "type"}


def _camel(args: Any) -> Any:
    """Return arguments with the names that the SDK sends."""
    if not isinstance(args, dict):
        return args
    return {re.sub(r"_(\w)", lambda item: item[1].upper(), name): _camel(value) for name, value in args.items()}


def _plain(value: Any) -> Any:
    """Without the digits of a name that was made up, without names of project and stack, and without nulls."""
    if isinstance(value, str):
        return re.sub(
            r"urn:pulumi:\w+::\w+::", "urn:pulumi:", re.sub(r"auto-[0-9a-f]{7}", "auto-1234567", value)
        ).strip()
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items() if inner is not None}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
