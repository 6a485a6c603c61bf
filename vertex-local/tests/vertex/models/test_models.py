"""The model registry as its methods show it: models, versions, aliases (B5)."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from vertex_local.testing.calling import NUMBERED, PARENT, Calling

MODELS = f"/v1/{PARENT}/models"
SERVING = "us-docker.pkg.dev/mine/serving/image:1"
Upload = Callable[..., dict[str, Any]]


def model(**changes: Any) -> dict[str, Any]:
    return {"displayName": "digits", "containerSpec": {"imageUri": SERVING}} | changes


@pytest.fixture
def upload(calling: Calling) -> Upload:
    """Uploads a model; the operation's response."""

    def uploaded(parent: str = "", model_id: str = "", **changes: Any) -> dict[str, Any]:
        calling.clock.advance(1)
        body = {"model": model(**changes), "parentModel": parent, "modelId": model_id}
        operation = calling.call("POST", f"{MODELS}:upload", body)
        assert operation["done"]
        assert calling.call("GET", f"/v1/{operation['name']}") == operation
        found: dict[str, Any] = operation["response"]
        return found

    return uploaded


def aliases(calling: Calling, model_id: str) -> dict[str, list[str]]:
    listed = calling.call("GET", f"{MODELS}/{model_id}:listVersions")["models"]
    return {item["versionId"]: item.get("versionAliases", []) for item in listed}


def test_a_model_is_kept_whole_and_gets_its_version_and_name(calling: Calling, upload: Upload) -> None:
    container = {"imageUri": SERVING, "args": ["--port=8080"], "env": [{"name": "A", "value": "1"}]}
    made = upload(containerSpec=container, labels={"team": "ml"}, description="d", trainingPipeline="mine", name="mine")
    assert made == {
        "@type": "type.googleapis.com/google.cloud.aiplatform.v1.UploadModelResponse",
        "model": f"{NUMBERED}/models/8000000000000000001",
        "modelVersionId": "1",
    }
    found = calling.call("GET", f"/v1/{made['model']}")
    assert (found["name"], found["versionId"], found["versionAliases"]) == (made["model"], "1", ["default"])
    assert (found["containerSpec"], found["labels"], found["description"]) == (container, {"team": "ml"}, "d")
    assert found["createTime"] == found["versionCreateTime"]
    assert "trainingPipeline" not in found, "only the service says so"
    assert found["supportedDeploymentResourcesTypes"] == ["DEDICATED_RESOURCES"]


def test_default_has_its_place_among_the_aliases_that_were_sent(calling: Calling, upload: Upload) -> None:
    """The SDK sends it last, and Google's own test of versions compares the list. # N17"""
    upload(model_id="digits", versionAliases=["zeta", "alpha", "zeta", "default"])
    upload(parent="digits", versionAliases=["two", "golden"])
    assert aliases(calling, "digits") == {"1": ["zeta", "alpha", "default"], "2": ["two", "golden"]}
    calling.call("POST", f"{MODELS}/digits@2:mergeVersionAliases", {"versionAliases": ["zeta", "beta", "-two"]})
    assert aliases(calling, "digits") == {"1": ["alpha", "default"], "2": ["golden", "zeta", "beta"]}


def test_versions_are_found_by_id_and_alias(calling: Calling, upload: Upload) -> None:
    name = upload(model_id="digits", versionAliases=["old"])["model"]
    upload(parent=f"{PARENT}/models/digits", displayName="digits two", versionAliases=["golden"])
    assert aliases(calling, "digits") == {"1": ["default", "old"], "2": ["golden"]}
    for reference, version in (("", "1"), ("@2", "2"), ("@golden", "2"), ("@default", "1"), ("@1", "1")):
        found = calling.call("GET", f"/v1/{name}{reference}")
        assert (found["versionId"], found["name"]) == (version, name)
    assert calling.refused("GET", f"/v1/{name}@3").code == 404
    missing = calling.refused("GET", f"/v1/{name}@none")
    assert missing.code == 404 and f"{name}@none" in missing.message
    odd = calling.refused("GET", f"{MODELS}/digits:listVersions?orderBy=size")
    assert odd.status == "INVALID_ARGUMENT" and "size" in odd.message and "create_time, update_time" in odd.message
    listed = calling.call("GET", f"{MODELS}/digits:listVersions?orderBy=create_time%20desc&pageSize=1")
    assert [item["name"] for item in listed["models"]] == [f"{name}@2"]
    rest = calling.call(
        "GET", f"{MODELS}/digits:listVersions?orderBy=create_time%20desc&pageToken={listed['nextPageToken']}"
    )
    assert [item["name"] for item in rest["models"]] == [f"{name}@1"]


def test_an_alias_is_of_one_version_at_a_time(calling: Calling, upload: Upload) -> None:
    upload(model_id="digits", versionAliases=["golden"])
    upload(parent="models/digits", versionAliases=["default", "golden"])
    assert aliases(calling, "digits") == {"1": [], "2": ["default", "golden"]}
    merged = calling.call(
        "POST", f"{MODELS}/digits@1:mergeVersionAliases", {"versionAliases": ["golden", "default", "first"]}
    )
    assert sorted(merged["versionAliases"]) == ["default", "first", "golden"]
    calling.call("POST", f"{MODELS}/digits@1:mergeVersionAliases", {"versionAliases": ["-golden"]})
    assert aliases(calling, "digits") == {"1": ["default", "first"], "2": []}
    error = calling.refused("POST", f"{MODELS}/digits:mergeVersionAliases", {"versionAliases": ["-default"]})
    assert "can't be removed" in error.message


def test_lists_show_the_default_version_and_are_filtered(calling: Calling, upload: Upload) -> None:
    upload(model_id="digits", displayName="one", labels={"kind": "forest"})
    upload(parent="models/digits", displayName="two", versionAliases=["default"])
    upload(model_id="other", displayName="three")

    def names(text: str) -> list[str]:
        return [item["displayName"] for item in calling.call("GET", f"{MODELS}?filter={quote(text)}")["models"]]

    assert names("") == ["three", "two"]
    assert names("model=digits") == ["two"]
    assert names('displayName="three" OR model!="other"') == ["three", "two"]
    assert names("labels.kind=forest") == [], "a label of a version that is not the default"
    assert "not supported" in calling.refused("GET", f"{MODELS}?filter=state%3Dx").message


def test_what_people_may_change_is_changed_with_a_mask(calling: Calling, upload: Upload) -> None:
    name = upload(labels={"a": "b"})["model"]
    before = calling.call("GET", f"/v1/{name}")
    patch = {"displayName": "new", "labels": {"c": "d"}, "description": "not in the mask"}
    changed = calling.call("PATCH", f"/v1/{name}?updateMask=displayName,labels", patch)
    assert (changed["displayName"], changed["labels"], "description" in changed) == ("new", {"c": "d"}, False)
    assert changed["etag"] != before["etag"]
    stale = calling.refused(
        "PATCH", f"/v1/{name}?updateMask=display_name", {"displayName": "x", "etag": before["etag"]}
    )
    assert (stale.code, stale.status) == (409, "ABORTED")
    for mask in ("", "artifactUri"):
        assert calling.refused("PATCH", f"/v1/{name}?updateMask={mask}", {}).code == 400
    assert "required" in calling.refused("PATCH", f"/v1/{name}?updateMask=displayName", {}).message


def test_a_version_is_deleted_but_not_the_default_nor_the_last(calling: Calling, upload: Upload) -> None:
    name = upload(model_id="digits")["model"]
    assert "delete the Model instead" in calling.refused("DELETE", f"/v1/{name}@1:deleteVersion").message
    upload(parent=name)
    assert "another one the default" in calling.refused("DELETE", f"/v1/{name}@1:deleteVersion").message
    assert "name of a model version" in calling.refused("DELETE", f"/v1/{name}:deleteVersion").message
    assert calling.call("DELETE", f"/v1/{name}@2:deleteVersion")["done"]
    upload(parent=name)
    assert list(aliases(calling, "digits")) == ["1", "3"], "a version's id is not given again"
    assert calling.call("DELETE", f"/v1/{name}")["done"]
    assert calling.refused("GET", f"/v1/{name}").code == 404
    assert calling.refused("GET", f"/v1/{name}@3").code == 404
    assert calling.call("GET", MODELS) == {"models": []}
    assert upload(model_id="digits")["modelVersionId"] == "1"


@pytest.mark.parametrize(
    ("files", "image", "words"),
    [
        ([], SERVING, 'There are no files under "gs://b/m" to copy.'),
        (["b/mm/model.joblib"], SERVING, "There are no files"),
        (["b/m/anything"], SERVING, ""),
        (
            ["b/m/model.joblib", "b/m/classes.json"],
            "europe-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-6:latest",
            "",
        ),
        (
            ["b/m/model.joblib", "b/m/model.pkl"],
            "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-6:latest",
            "one of",
        ),
        (["b/m/model.joblib"], "us-docker.pkg.dev/vertex-ai/prediction/tf2-cpu.2-15:latest", "[saved_model.pb, saved_"),
        (["b/m/model.bst"], "us-docker.pkg.dev/vertex-ai/prediction/xgboost-cpu.2-1:latest", ""),
    ],
)
def test_a_model_s_files_are_looked_at(calling: Calling, files: list[str], image: str, words: str) -> None:
    for name in files:
        calling.world.store.put("object", name, {"resource": {}, "blob": ""})
    body = {"model": model(artifactUri="gs://b/m/", containerSpec={"imageUri": image})}
    operation = calling.call("POST", f"{MODELS}:upload", body)
    if words:
        assert words in operation["error"]["message"]
        assert calling.call("GET", MODELS) == {"models": []}
    else:
        assert calling.call("GET", f"/v1/{operation['response']['model']}")["artifactUri"] == "gs://b/m"
