"""Metadata stores, contexts, executions, artifacts, and what connects them."""

from typing import Any

import pytest

from vertex_local import identities
from vertex_local.nodes.environment import Place, variables
from vertex_local.testing.calling import NUMBERED, PARENT, Calling

STORES = f"/v1/{PARENT}/metadataStores"
STORE = f"{STORES}/default"


def node(calling: Calling, noun: str, name: str, **body: Any) -> str:
    one = noun.removesuffix("s")
    return str(calling.call("POST", f"{STORE}/{noun}?{one}Id={name}", body)["name"])


def listed(calling: Calling, noun: str, text: str) -> list[str]:
    found = calling.call("GET", f"{STORE}/{noun}?filter={text}").get(noun, [])
    return [item["name"].rpartition("/")[2] for item in found]


def test_the_default_store_is_there_for_whoever_uses_it_first(calling: Calling) -> None:
    assert calling.refused("GET", STORE).code == 404
    name = node(calling, "contexts", "exp")
    assert name == f"{NUMBERED}/metadataStores/default/contexts/exp"
    assert calling.call("GET", STORE)["name"] == f"{NUMBERED}/metadataStores/default"
    assert calling.refused("POST", f"{STORES}/other/contexts?contextId=exp", {}).code == 404


def test_a_store_is_made_and_removed_with_all_in_it(calling: Calling) -> None:
    made = calling.call("POST", f"{STORES}?metadataStoreId=mine", {"description": "of the tests"})
    assert made["done"] and made["response"]["name"].endswith("/metadataStores/mine")
    assert calling.refused("POST", f"{STORES}?metadataStoreId=mine", {}).code == 409
    assert "Invalid metadata store id" in str(calling.refused("POST", f"{STORES}?metadataStoreId=A.b", {}))
    calling.call("POST", f"{STORES}/mine/artifacts?artifactId=a", {"uri": "gs://b/a"})
    assert calling.call("DELETE", f"{STORES}/mine")["done"]
    assert calling.refused("GET", f"{STORES}/mine/artifacts/a").code == 404


@pytest.mark.parametrize("noun", ["contexts", "executions", "artifacts"])
def test_nodes_are_made_once_found_changed_and_removed(calling: Calling, noun: str) -> None:
    of_schema = {"schemaTitle": "system.Run", "schemaVersion": "0.0.1"}
    name = node(calling, noun, "n-1", displayName="one", metadata={"a": 1, "b": {"c": "d"}}, **of_schema)
    assert calling.refused("POST", f"{STORE}/{noun}?{noun[:-1]}Id=n-1", {}).code == 409
    found = calling.call("GET", f"/v1/{name}")
    assert found["metadata"] == {"a": 1.0, "b": {"c": "d"}}
    changed = calling.call("PATCH", f"/v1/{name}", {**found, "displayName": "two", "schemaTitle": "system.Model"})
    # What a schema says of a node stays.
    assert (changed["displayName"], changed["schemaTitle"]) == ("two", "system.Run")
    assert "etag does not match" in str(calling.refused("DELETE", f"/v1/{name}?etag=old"))
    assert calling.call("DELETE", f"/v1/{name}")["done"]
    assert calling.refused("GET", f"/v1/{name}").code == 404


def test_a_change_on_an_old_etag_is_refused_with_both_etags(calling: Calling) -> None:
    name = node(calling, "contexts", "run")
    old = calling.call("GET", f"/v1/{name}")
    new = calling.call("PATCH", f"/v1/{name}", {**old, "displayName": "a"})
    error = calling.refused("PATCH", f"/v1/{name}", {**old, "displayName": "b"})
    assert (error.code, error.status) == (409, "ABORTED")
    text = f"Specified Context `etag`: `{old['etag']}` does not match server `etag`: `{new['etag']}`"
    assert str(error) == text and old["etag"] < new["etag"]


def test_a_mask_changes_what_it_names(calling: Calling) -> None:
    name = node(calling, "executions", "e", displayName="one", description="kept", state="NEW")
    body = {"state": "COMPLETE", "displayName": "not asked"}
    found = calling.call("PATCH", f"/v1/{name}?updateMask=state", body)
    assert (found["state"], found["displayName"], found["description"]) == ("COMPLETE", "one", "kept")
    assert "can't be changed" in str(calling.refused("PATCH", f"/v1/{name}?updateMask=createTime", {}))
    made = calling.call("PATCH", f"{STORE}/executions/new?allowMissing=true", {"displayName": "made"})
    assert made["displayName"] == "made"


def test_contexts_are_found_by_their_parents_and_children(calling: Calling) -> None:
    parent = node(calling, "contexts", "exp", schemaTitle="system.Experiment")
    for run in ("r1", "r2"):
        child = node(calling, "contexts", run, schemaTitle="system.ExperimentRun")
        # The SDK names the project by its id or by its number.
        named = child.replace("projects/100000000001", "projects/local-project")
        calling.call("POST", f"/v1/{parent}:addContextChildren", {"childContexts": [named]})
    assert listed(calling, "contexts", f'schema_title="system.ExperimentRun" AND parent_contexts:"{parent}"') == [
        "r1",
        "r2",
    ]
    assert listed(calling, "contexts", f'child_contexts:"{child}"') == ["exp"]
    missing = calling.refused("GET", f'{STORE}/contexts?filter=child_contexts:"{child}0"')
    assert missing.code == 404 and f"The Context {child}0 " in missing.message
    calling.call("POST", f"/v1/{parent}:removeContextChildren", {"childContexts": [child]})
    assert listed(calling, "contexts", f'parent_contexts:"{parent}"') == ["r1"]


def test_adding_a_child_leaves_its_etag_to_those_who_hold_it(calling: Calling) -> None:
    parent, child = node(calling, "contexts", "exp"), node(calling, "contexts", "run")
    before = calling.call("GET", f"/v1/{child}")
    calling.call("POST", f"/v1/{parent}:addContextChildren", {"childContexts": [child]})
    after = calling.call("GET", f"/v1/{child}")
    assert after["etag"] == before["etag"] and after["parentContexts"] == [parent]


def test_a_context_is_never_its_own_ancestor(calling: Calling) -> None:
    a, b, c = (node(calling, "contexts", name) for name in "abc")
    calling.call("POST", f"/v1/{a}:addContextChildren", {"childContexts": [b]})
    calling.call("POST", f"/v1/{b}:addContextChildren", {"childContexts": [c]})
    for child in (a, c):
        error = calling.refused("POST", f"/v1/{c}:addContextChildren", {"childContexts": [a if child == a else c]})
        assert "would make a cycle" in str(error)


def test_a_context_has_ten_parents_at_most(calling: Calling) -> None:
    child = node(calling, "contexts", "run")
    parents = [node(calling, "contexts", f"p{number}") for number in range(11)]
    for parent in parents[:10]:
        calling.call("POST", f"/v1/{parent}:addContextChildren", {"childContexts": [child]})
    error = calling.refused("POST", f"/v1/{parents[10]}:addContextChildren", {"childContexts": [child]})
    assert "10 parents" in str(error)


def test_events_and_members_are_given_back_as_stored(calling: Calling) -> None:
    context = node(calling, "contexts", "run")
    data, model = (node(calling, "artifacts", name, uri=f"gs://b/{name}") for name in ("data", "model"))
    train, serve = node(calling, "executions", "train"), node(calling, "executions", "serve")
    members = {"artifacts": [data, model], "executions": [train]}
    calling.call("POST", f"/v1/{context}:addContextArtifactsAndExecutions", members)
    events = [{"artifact": data, "type": "INPUT"}, {"artifact": model, "type": "OUTPUT"}]
    calling.call("POST", f"/v1/{train}:addExecutionEvents", {"events": events})
    calling.call("POST", f"/v1/{serve}:addExecutionEvents", {"events": [{"artifact": model, "type": "INPUT"}]})

    assert listed(calling, "artifacts", f'in_context("{context}")') == ["data", "model"]
    assert listed(calling, "executions", f'in_context("{context}")') == ["train"]
    graph = calling.call("GET", f"/v1/{train}:queryExecutionInputsAndOutputs")
    assert {(item["artifact"], item["type"]) for item in graph["events"]} == {(data, "INPUT"), (model, "OUTPUT")}
    assert [item["name"] for item in graph["artifacts"]] == [data, model]
    assert [item["name"] for item in graph["executions"]] == [train]


def test_a_removed_node_is_connected_to_nothing(calling: Calling) -> None:
    context, data = node(calling, "contexts", "run"), node(calling, "artifacts", "data")
    calling.call("POST", f"/v1/{context}:addContextArtifactsAndExecutions", {"artifacts": [data]})
    calling.call("DELETE", f"/v1/{data}")
    node(calling, "artifacts", "data")
    assert listed(calling, "artifacts", f'in_context("{context}")') == []


def test_lists_come_in_pages_and_in_order(calling: Calling) -> None:
    for name in ("b", "c", "a"):
        node(calling, "contexts", name, displayName=name)
    first = calling.call("GET", f"{STORE}/contexts?pageSize=2&orderBy=display_name desc")
    assert [item["displayName"] for item in first["contexts"]] == ["c", "b"]
    second = calling.call(
        "GET", f"{STORE}/contexts?pageSize=2&orderBy=display_name desc&pageToken={first['nextPageToken']}"
    )
    assert [item["displayName"] for item in second["contexts"]] == ["a"] and "nextPageToken" not in second
    assert calling.refused("GET", f"{STORE}/contexts?pageToken=x").code == 400


def test_schemas_are_kept(calling: Calling) -> None:
    body = {"schema": "title: mine.Model\ntype: object\n", "schemaType": "ARTIFACT_TYPE", "schemaVersion": "0.0.1"}
    made = calling.call("POST", f"{STORE}/metadataSchemas?metadataSchemaId=mine", body)
    assert calling.call("GET", f"/v1/{made['name']}")["schema"] == body["schema"]
    assert listed(calling, "metadataSchemas", 'schema_title="mine*"') == ["mine"]
    twice = calling.refused("POST", f"{STORE}/metadataSchemas?metadataSchemaId=again", body)
    assert (twice.code, "mine.Model" in twice.message) == (409, True)
    assert calling.refused("POST", f"{STORE}/metadataSchemas?metadataSchemaId=mine", body).code == 409
    assert "schema is required" in str(calling.refused("POST", f"{STORE}/metadataSchemas?metadataSchemaId=b", {}))
    odd = calling.refused("POST", f"{STORE}/metadataSchemas?metadataSchemaId=A.b", body)
    assert odd.message == 'Invalid metadata schema id "A.b".'


def test_a_node_has_a_schema_that_the_service_knows_or_somebody_registered(calling: Calling) -> None:
    """Also before the default store is made, as the SDK's first experiment finds it."""
    assert listed(calling, "metadataSchemas", 'schema_title="system.ResolverExecution"') == [
        "system-resolver-execution-v0-0-1"
    ]
    experiment = calling.call("GET", f"{STORE}/metadataSchemas/google-vertex-tensorboard-run-v0-0-1")
    assert (experiment["schemaType"], experiment["schemaVersion"]) == ("ARTIFACT_TYPE", "0.0.1")
    for title, version in (("mine.Model", "0.0.1"), ("system.Model", "9.9.9")):
        unknown = {"schemaTitle": title, "schemaVersion": version}
        error = calling.refused("POST", f"{STORE}/artifacts", unknown)
        assert (error.code, title in error.message) == (400, True)
        assert calling.refused("PATCH", f"{STORE}/artifacts/a?allowMissing=true", unknown).code == 400
    mine = {"schema": "title: mine.Model\ntype: object\n", "schemaVersion": "0.0.1"}
    calling.call("POST", f"{STORE}/metadataSchemas", mine)
    assert node(calling, "artifacts", "a", schemaTitle="mine.Model", schemaVersion="0.0.1")
    assert calling.refused("GET", f"{STORE}/artifacts/b").code == 404


# --- A job belongs to an experiment and a run (W8).


CONTEXTS = f"/v1/{PARENT}/metadataStores/default/contexts"
ACCOUNT = {"serviceAccount": identities.DEPLOYER}
EXPERIMENT = f"{NUMBERED}/metadataStores/default/contexts/exp"


@pytest.fixture
def experiment(calling: Calling) -> str:
    body = {"schemaTitle": "system.Experiment", "displayName": "exp"}
    return str(calling.call("POST", f"{CONTEXTS}?contextId=exp", body)["name"])


def job(calling: Calling, title: str = "My Train!", **spec: Any) -> dict[str, Any]:
    return calling.job(displayName=title, spec={**ACCOUNT, **spec})


def test_a_job_with_an_experiment_and_no_run_gets_one(calling: Calling, experiment: str) -> None:
    made = job(calling, experiment=experiment)
    run = calling.call("GET", f"/v1/{made['jobSpec']['experimentRun']}")
    number = made["name"].rpartition("/")[2].lstrip("7").lstrip("0")
    assert run["name"] == f"{EXPERIMENT}-my-train-{number}"
    assert (run["displayName"], run["parentContexts"]) == (f"my-train-{number}", [experiment])
    assert run["metadata"]["_state"] == "RUNNING"
    assert run["metadata"]["_custom_jobs"][0]["custom_job_resource_name"] == made["name"]


def test_a_job_joins_the_run_it_names_and_the_run_s_maker_goes_on(calling: Calling, experiment: str) -> None:
    body = {"schemaTitle": "system.ExperimentRun", "metadata": {"_params": {"lr": 0.1}}}
    run = calling.call("POST", f"{CONTEXTS}?contextId=exp-mine", body)
    short = run["name"].replace("100000000001", "local-project")
    assert job(calling, experiment=experiment, experimentRun=short)["jobSpec"]["experimentRun"] == run["name"]
    found = calling.call("PATCH", f"/v1/{run['name']}", {**run, "metadata": {"_params": {"lr": 0.2}}})
    assert found["metadata"]["_params"] == {"lr": 0.2}


def test_the_longest_names_still_make_an_id(calling: Calling) -> None:
    experiment = "e" * 100
    name = calling.call("POST", f"{CONTEXTS}?contextId={experiment}", {"schemaTitle": "system.Experiment"})["name"]
    run = job(calling, "T" * 128, experiment=name)["jobSpec"]["experimentRun"].rpartition("/")[2]
    # With the SDK's suffix for the run's tensorboard artifact an id may have 128 characters.
    assert len(run) == 121


def test_user_code_is_told_its_experiment_and_run() -> None:
    place = Place(0, 0, "127.2.0.1", 2222, 7777)
    spec = {"experiment": EXPERIMENT, "experimentRun": f"{EXPERIMENT}-run"}
    found = variables([place], place, project="100000000001", job_id="7", region="us-central1", spec=spec)
    assert (found["AIP_EXPERIMENT_NAME"], found["AIP_EXPERIMENT_RUN_NAME"]) == (EXPERIMENT, f"{EXPERIMENT}-run")
    found = variables([place], place, project="100000000001", job_id="7", region="us-central1", spec={})
    assert not [name for name in found if name.startswith("AIP_EXPERIMENT")]
