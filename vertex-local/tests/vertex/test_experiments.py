"""Contexts of experiments and runs. What the methods answer else: `contracts/answered_metadata.txt`. (W8)"""

from vertex_local import identities
from vertex_local.testing.calling import PARENT, Calling

CONTEXTS = f"/v1/{PARENT}/metadataStores/default/contexts"


def context(calling: Calling, name: str, schema: str = "") -> str:
    return str(calling.call("POST", f"{CONTEXTS}?contextId={name}", {"schemaTitle": schema})["name"])


def test_a_context_has_ten_parents_at_most(calling: Calling) -> None:
    child = context(calling, "child")
    parents = [context(calling, f"parent-{number}") for number in range(11)]
    for parent in parents[:10]:
        calling.call("POST", f"/v1/{parent}:addContextChildren", {"childContexts": [child]})
    error = calling.refused("POST", f"/v1/{parents[10]}:addContextChildren", {"childContexts": [child]})
    assert "10 parents" in str(error)


def test_the_longest_names_still_make_an_id(calling: Calling) -> None:
    spec = {"serviceAccount": identities.DEPLOYER, "experiment": context(calling, "e" * 100, "system.Experiment")}
    made = calling.job(displayName="T" * 128, spec=spec)
    # With the SDK's suffix for the run's tensorboard artifact an id may have 128 characters.
    assert len(made["jobSpec"]["experimentRun"].rpartition("/")[2]) == 121
