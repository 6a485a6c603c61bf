"""Quota preferences against the recording of the official provider: 30 situations, each from the one before. # Z2

`recorded/quota_preferences.json` was taken on 2026-11-22 from pulumi-gcp on google-beta 7.45.0, bridge v3.137.0. The
cloud's answers are the recorded ones, so that requests, steps, states and errors have to be the same.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.local.plugin.conftest import Recorder
from tests.local.plugin.programs import Program

pytestmark = pytest.mark.journey

_RECORDED = Path(__file__).parents[2] / "end_to_end" / "recorded" / "quota_preferences.json"
_SITUATIONS = json.loads(_RECORDED.read_text(encoding="utf-8"))["situations"]
_PROGRAM = """
import json
for one in json.load(open("declared.json")):
    opts = pulumi.ResourceOptions(**one["opts"])
    gcp.cloudquota.SQuotaPreference(one["logical"], **one["args"], opts=opts)
"""
_KEPT = ("type", "id", "inputs", "outputs", "initErrors", "importID")
_DELTA = "__pulumi_raw_state_delta"


def test_it_does_what_the_official_provider_was_recorded_to_do(
    program: Program, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = recorder.take
    monkeypatch.setattr(recorder, "take", lambda line: take(_plain(line)))
    program.write(_PROGRAM)
    program.variables["GOOGLE_CLOUD_QUOTAS_CUSTOM_ENDPOINT"] = f"{recorder.url}/v1/"
    for recorded in _SITUATIONS:
        recorder.asked.clear()
        recorder.replies.clear()
        for one in recorded["requests"]:
            recorder.answer(_plain(f"{one['method']} {one['path']}"), one["answer"], one["status"])
        (program.folder / "declared.json").write_text(json.dumps(recorded["declared"]))
        played = _play(program, recorded["verb"], recorder)
        assert played == _expected(recorded), recorded["situation"]


def _play(program: Program, verb: str, recorder: Recorder) -> dict[str, Any]:
    log = program.folder / "events.json"
    log.unlink(missing_ok=True)
    flags = ("--event-log", str(log), *(() if verb == "preview" else ("--yes", "--skip-preview")))
    done = program.try_(verb, *flags, PULUMI_DEBUG_COMMANDS="true")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    state = [one for one in program.state().resources if one["type"].startswith("gcp:")]
    played = {
        "exit": 0 if done.returncode == 0 else 1,
        "steps": list(_steps(events)),
        "diagnostics": [f"error: {one['message'].strip()}" for one in _diagnostics(events)],
        "requests": [
            {"line": one.line, "query": one.query, "body": json.loads(one.raw or "null")} for one in recorder.asked
        ],
        "state": None if verb == "preview" else [_resource(one) for one in state],
    }
    return dict(_plain(played))


def _steps(events: list[Any]) -> Iterator[dict[str, Any]]:
    for event in events:
        step = event.get("resourcePreEvent", {}).get("metadata", {})
        if step.get("type", "").startswith("gcp:"):
            detail = step.get("detailedDiff")
            kinds = {path: one["diffKind"] for path, one in detail.items()} if detail else None
            yield {"op": step["op"], "diffs": step.get("diffs"), "kinds": kinds}


def _diagnostics(events: list[Any]) -> Iterator[Any]:
    found = (event["diagnosticEvent"] for event in events if "diagnosticEvent" in event)
    return (one for one in found if one["severity"] == "error")


def _resource(one: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: one[name] for name in _KEPT if name in one}
    return {**kept, "outputs": {name: value for name, value in one["outputs"].items() if name != _DELTA}}


def _expected(recorded: Mapping[str, Any]) -> dict[str, Any]:
    steps = [
        {
            "op": one["op"],
            "diffs": one["diffs"],
            "kinds": one["detailedDiff"] and {path: each["diffKind"] for path, each in one["detailedDiff"].items()},
        }
        for one in recorded["steps"]
    ]
    requests = [
        {
            "line": f"{one['method']} {one['path']}",
            "query": {name: unquote(value) for name, value in one["query"].items()},
            "body": one["body"],
        }
        for one in recorded["requests"]
    ]
    same = {name: recorded[name] for name in ("exit", "diagnostics")}
    return dict(_plain({**same, "steps": steps, "requests": requests, "state": recorded["state"]}))


def _plain(value: Any) -> Any:
    """Without the digits of a name that was made up, and without the names of project and stack."""
    if isinstance(value, str):
        return re.sub(r"urn:pulumi:\w+::\w+::", "urn:pulumi:", re.sub(r"auto-[0-9a-f]{7}", "auto-1234567", value))
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value
