"""Inputs and states against the recording of the official provider, type by type. (The whole way: tests.end_to_end.)"""

import json
from pathlib import Path
from typing import Any

import pytest

from local.plugin.checking import DEFAULTS, check
from local.plugin.provider import kinds
from local.plugin.reading import imported
from local.plugin.schema import Schema
from local.plugin.values import Asset, is_empty
from local.plugin.written import DELTA, META, written

RECORDED = json.loads(
    (Path(__file__).parents[2] / "end_to_end" / "recorded" / "provider.json").read_text(encoding="utf-8")
)
SIGNATURE, ASSET = "4dabf18193072939515e22adb298388d", "c44067f5952c0a294b673a41bacd8c17"
CREATED = [name for name in RECORDED["created"] if not name.endswith(" work")]  # that one was imported
IMPORTED = [
    name for name, value in RECORDED["imported"].items() if "importID" in value and not name.endswith(" catalog")
]


def schema_of(name: str) -> Schema:
    return kinds()[name.split(" ")[0]].schema


def opened(value: Any) -> Any:
    """A recorded value as the stand-in has it; what only the recorder could decrypt becomes a map."""
    if isinstance(value, list):
        return [opened(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if value.get(SIGNATURE) == ASSET:
        return Asset(value["hash"], path=value["path"])
    if "ciphertext" in value:
        return {}
    if "plaintext" in value:
        return "the content" if "…" in value["plaintext"] else json.loads(value["plaintext"])
    return {name: opened(inner) for name, inner in value.items()}


def stripped(value: Any) -> Any:
    """A state as the types read it: without what is empty, but for nulls that a create leaves in a rule."""
    if isinstance(value, dict):
        kept = {name: stripped(inner) for name, inner in value.items()}
        return {
            name: inner
            for name, inner in kept.items()
            if inner is None or not is_empty(inner) or isinstance(inner, dict)
        }
    return [stripped(inner) for inner in value] if isinstance(value, list) else value


def known(outputs: Any) -> dict[str, Any]:
    mine = {name: output for name, output in outputs.items() if name not in ("id", META, DELTA) and output is not None}
    return dict(stripped(mine))


@pytest.mark.parametrize("name", CREATED)
def test_the_state_after_a_create(name: str) -> None:
    inner = RECORDED["created"][name]
    outputs, timeout = opened(inner["outputs"]), inner.get("customTimeouts", {}).get("create", 0)
    assert written(schema_of(name), inner["id"], known(outputs), {}, create_timeout=timeout) == outputs


@pytest.mark.parametrize("name", IMPORTED)
def test_the_state_after_an_import(name: str) -> None:
    inner = RECORDED["imported"][name]
    outputs = opened(inner["outputs"])
    assert written(schema_of(name), inner["id"], known(outputs), {}, read=True) == outputs


@pytest.mark.parametrize("name", CREATED)
def test_the_inputs_of_what_a_program_declares(name: str) -> None:
    inputs = opened(RECORDED["created"][name]["inputs"])
    given = {key: value for key, value in inputs.items() if key not in inputs[DEFAULTS]}
    checked = check(schema_of(name), given, {}, "name", b"")
    assert (checked.inputs, checked.failures) == (inputs, ())


@pytest.mark.parametrize("name", IMPORTED)
def test_the_inputs_that_an_import_finds(name: str) -> None:
    resource = RECORDED["imported"][name]
    assert imported(schema_of(name), opened(resource["outputs"])) == opened(resource["inputs"])


@pytest.mark.parametrize("name", CREATED)
def test_a_read_keeps_what_the_state_notes_and_leaves_no_collection_null(name: str) -> None:
    """gcp-provider.md, seen again: `labels` and `metadata` are null after a create, and `{}` after a refresh."""
    outputs = opened(RECORDED["created"][name]["outputs"])
    before = {name: value for name, value in outputs.items() if value is not None}
    recording = written(schema_of(name), outputs["id"], known(outputs), before, read=True)
    fields = schema_of(name).fields
    empty: dict[str, Any] = {"list": [], "map": {}}
    nulls = {key: empty[fields[key].kind] for key in fields if fields[key].kind in empty and outputs[key] is None}
    assert {key: value for key, value in recording.items() if key != DELTA} == {
        key: value for key, value in {**outputs, **nulls}.items() if key != DELTA
    }


def test_the_first_update_after_an_import_drops_the_version_that_it_noted() -> None:
    outputs = opened(RECORDED["imported"]["gcp:serviceaccount/account:Account"]["outputs"])
    kind = schema_of("gcp:serviceaccount/account:Account")
    assert "schema_version" in outputs[META]
    assert "schema_version" not in written(kind, outputs["id"], known(outputs), outputs)[META]
