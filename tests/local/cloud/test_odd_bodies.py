"""Bodies that once were answered with a 500, or broke what was asked for afterwards. (N17)"""

import json
from typing import Any

import pytest

from local.cloud.log_store import Window
from local.cloud.wire import ApiError
from tests.local.cloud.calling import JOBS, PARENT, Calling

WRITE, LIST = "/v2/entries:write", "/v2/entries:list"
PROJECT = "/v1/projects/slipway-local"
SURROGATE = "\ud800"


def written(**changes: Any) -> dict[str, Any]:
    return {"logName": "projects/slipway-local/logs/l", "entries": [{"textPayload": "x", **changes}]}


def sent(calling: Calling, path: str, raw: bytes) -> ApiError:
    with pytest.raises(ApiError) as refused:
        calling.call("POST", path, raw=raw)
    return refused.value


def test_a_whole_number_that_no_double_holds_is_refused(calling: Calling) -> None:
    artifact = b'{"metadata": {"steps": -%s}}' % (b"9" * 400)
    error = sent(calling, f"/v1/{PARENT}/metadataStores/default/artifacts", artifact)
    assert error.code == 400 and "range of a double" in error.message


@pytest.mark.parametrize("severity", ["LOUD", "info", ""])
def test_a_severity_that_is_none_is_refused(calling: Calling, severity: str) -> None:
    error = calling.refused("POST", WRITE, written(severity=severity))
    assert (error.code, "'entries[0].severity'" in error.message) == (400, True)


def test_an_entry_from_before_with_such_a_severity_breaks_no_filter(calling: Calling) -> None:
    calling.call("POST", WRITE, written(severity="ERROR"))
    (_, entry), *_ = calling.world.logs.read(Window(), None, False)
    calling.world.logs.append([{**entry, "severity": "LOUD"}], 10)
    asked = {"resourceNames": ["projects/slipway-local"], "filter": "severity>=ERROR"}
    assert [found["severity"] for found in calling.call("POST", LIST, asked)["entries"]] == ["ERROR"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (JOBS, {"displayName": SURROGATE}),
        (f"/v1/{PARENT}/models:upload", {"model": {"displayName": "m", "labels": {SURROGATE: "a"}}}),
        (f"{PROJECT}/secrets?secretId=s", {"replication": {"automatic": {}}, "annotations": {"a": SURROGATE}}),
        ("/storage/v1/b?project=slipway-local", {"name": "odd", "labels": {"a": SURROGATE}}),
        (f"{PROJECT}/serviceAccounts", {"accountId": "somebody", "serviceAccount": {"displayName": SURROGATE}}),
        (WRITE, written(textPayload=f"a{SURROGATE}")),
        (f"{PROJECT}:setIamPolicy", {"policy": {"bindings": [{"role": SURROGATE}]}}),
        (f"{PROJECT}/locations/global/quotaPreferences", {"justification": SURROGATE}),
    ],
)
def test_half_a_character_is_refused_everywhere(calling: Calling, path: str, body: Any) -> None:
    error = sent(calling, path, json.dumps(body).encode())
    assert (error.code, error.status) == (400, "INVALID_ARGUMENT")
    assert "surrogate" in error.message


@pytest.mark.parametrize(
    "raw", [b'{"displayName": NaN}', b'{"displayName": 1e400}', b'"\xed\xa0\x80"', b"\xff", b"{", b"[1]"]
)
def test_what_is_not_json_is_refused(calling: Calling, raw: bytes) -> None:
    assert sent(calling, JOBS, raw).message.startswith("Invalid JSON payload received.")


def test_a_pair_of_surrogates_is_a_character(calling: Calling) -> None:
    calling.call("POST", WRITE, raw=json.dumps(written(textPayload="😀")).encode())
    (_, entry), *_ = calling.world.logs.read(Window(), None, False)
    assert entry["textPayload"] == "😀"


@pytest.mark.parametrize("permissions", [None, [None], "all"])
def test_permissions_to_test_are_a_list_or_none_are(calling: Calling, permissions: Any) -> None:
    path, body = f"{PROJECT}:testIamPermissions", {"permissions": permissions}
    if permissions is None:
        assert calling.call("POST", path, body) == {}
    else:
        assert calling.refused("POST", path, body).code == 400


def test_a_null_is_a_field_that_is_not_set_but_for_a_patch_which_removes_it(calling: Calling) -> None:
    labels = {"a": "b", "c": "d"}
    body = {"name": "odd", "labels": labels, "lifecycle": None, "versioning": None}
    assert "lifecycle" not in calling.call("POST", "/storage/v1/b?project=slipway-local", body)
    changed = calling.call("PATCH", "/storage/v1/b/odd", {"labels": {"a": None}})
    assert changed["labels"] == {"c": "d"}
    error = calling.refused("POST", "/storage/v1/b/odd/o/x/compose", {"sourceObjects": None})
    assert error.code == 400


@pytest.mark.parametrize("data", ["ü", "a", "====", None])
def test_a_payload_that_is_not_base64_is_refused(calling: Calling, data: Any) -> None:
    calling.call("POST", f"{PROJECT}/secrets?secretId=s", {"replication": {"automatic": {}}})
    error = calling.refused("POST", f"{PROJECT}/secrets/s:addVersion", {"payload": {"data": data}})
    assert error.code == 400


@pytest.mark.parametrize("token", ["9" * 30, "x", "-1"])
@pytest.mark.parametrize("path", [JOBS, f"/v1/{PARENT}/persistentResources", f"/v1/{PARENT}/models"])
def test_a_page_token_of_nobody_s_is_refused(calling: Calling, path: str, token: str) -> None:
    assert calling.refused("GET", f"{path}?pageToken={token}").message == "Invalid page token."


def test_a_time_beyond_all_years_is_no_time(calling: Calling) -> None:
    far = "9999-12-31T23:59:59-14:00"
    assert "not a time" in calling.refused("GET", f'{JOBS}?filter=create_time<"{far}"').message
    assert "not a time" in calling.refused("GET", f'{PROJECT}/secrets?filter=create_time<"{far}"').message
    assert calling.refused("POST", WRITE, written(timestamp=far)).code == 400
