"""The stand-in of the gcp provider against the official one: the same states, and the same previews by situation.

`recorded/provider.json` was taken from pulumi-gcp of 2026-08 (google-beta 7.45, stamped 10.2.0) on the local cloud on
2026-11-20: what `pulumi stack export` had of each resource type after a create and after an import, and the steps of
previews. Long texts in it are cut. # N4
"""

import copy
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.checkouts.checkout import Checkout
from tests.checkouts.fixtures import NewCheckout
from tests.local.conftest import LocalCloud

pytestmark = pytest.mark.journey

RECORDED = json.loads((Path(__file__).parent / "recorded" / "provider.json").read_text())
SECRET = "4dabf18193072939515e22adb298388d"
# What the laptop's stack had when the recordings were made.
POOLS: dict[str, dict[str, Any]] = {
    "head": {"machine": "n1-standard-4", "disk": {"type": "pd-ssd", "sizeGb": 100}, "replicas": 1},
    "workers": {
        "machine": "n1-standard-8",
        "disk": {"type": "pd-ssd", "sizeGb": 100},
        "replicas": {"min": 2, "max": 4},
    },
}
STACK = "local"  # the recording's
OBJECT = "gcp:storage/bucketObject:BucketObject"
NO_HASH = "different hash"
"""A default that stands for itself, and no hash of anything."""
# What differs from one deployment to the next, or was cut in the recording.
PASSING = {
    "etag",
    "uniqueId",
    "createTime",
    "startTime",
    "updateTime",
    "effectiveTime",
    "timeCreated",
    "updated",
    "generation",
    "crc32c",
    "md5hash",
    "md5hexhash",
    "detectMd5hash",
    "mediaLink",
    "hash",
    "content",
    "replicaCount",  # the autoscaler's
    "usedReplicaCount",
}
# What the program asks of the engine since the recording was made.
MOVES = ["resourcePools[*].replicaCount", "labels", "effectiveLabels", "pulumiLabels", "displayName"]
SINCE = {
    f"{OBJECT} content": {"ignoreChanges": ["cacheControl", "contentType"]},
    "gcp:vertex/aiPersistentResource:AiPersistentResource": {"ignoreChanges": MOVES},
}
LATER_RULES = (["history/"], ["board/"], ["history/", "board/"], ["sessions/"])
"""Prefixes of a bucket's lifecycle rules that the program has asked for since, after the others."""
KEPT_BY_THE_ENGINE = ("ignoreChanges", "customTimeouts", "retainOnDelete", "importID")


def plain(value: Any) -> Any:
    """A value without what passes: ids of packages and secrets' texts have one form, passing values only their type."""
    if isinstance(value, Mapping):
        if SECRET in value and ("plaintext" in value or "ciphertext" in value):
            return "(secret)"
        return {name: passing(inner) if name in PASSING else plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return re.sub(r"\w+(-\w+)*-[0-9a-f]{12}", "package", value) if isinstance(value, str) else value


def passing(value: Any) -> Any:
    return "(secret)" if isinstance(value, Mapping) and SECRET in value else type(value).__name__


def sample(resource: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: resource[name] for name in KEPT_BY_THE_ENGINE if name in resource}
    inputs = plain(resource["inputs"])
    if resource["inputs"].get("detectMd5hash") == NO_HASH:
        inputs["detectMd5hash"] = NO_HASH
    return {"id": plain(resource["id"]), **kept, "inputs": inputs, "outputs": plain(resource["outputs"])}


def samples(checkout: Checkout) -> dict[str, Any]:
    """The state's resources under the names that the recording has for them."""
    recording = {}
    for resource in checkout.resources():
        kind, name = resource["type"], resource["urn"].rsplit("::", 1)[-1]
        if not kind.startswith("gcp:"):
            continue
        if kind == "gcp:storage/bucket:Bucket":
            kind, resource = f"{kind} {name}", without_later_rules(resource)
        if kind == OBJECT:
            kind = f"{kind} {'content' if name == 'catalog' else 'source'}"
        recording[f"{kind} = {plain(resource['id'])}"] = sample(resource)
    return recording


def without_later_rules(bucket: Mapping[str, Any]) -> dict[str, Any]:
    resource = copy.deepcopy(dict(bucket))
    for part in (resource["inputs"], resource["outputs"]):
        rules = part.get("lifecycleRules", [])
        part["lifecycleRules"] = [rule for rule in rules if rule["condition"].get("matchesPrefixes") not in LATER_RULES]
    of_rules = resource["outputs"]["__pulumi_raw_state_delta"]["obj"]["ps"]["lifecycleRules"]["arr"]["el"]
    for number in range(len(resource["outputs"]["lifecycleRules"]), len(of_rules)):
        del of_rules[str(number)]
    return resource


def same_states(checkout: Checkout, way: str, *kinds: str) -> None:
    """Hold the state's resources of the given kinds to the recording."""
    recording = samples(checkout)
    recorded = {
        f"{kind} = {plain(value['id'])}": {**sample(value), **SINCE.get(kind, {})}
        for kind, value in RECORDED[way].items()
        if kind in kinds
    }
    assert {kind: recording.get(kind) for kind in recorded} == recorded, way


def steps_of(preview: Any) -> list[Any]:
    """The steps as the recording has them, packages aside: there, too, each is created with its template."""
    made = [
        {
            "detailedDiff": step.get("detailedDiff") or {},
            "diffReasons": step.get("diffReasons") or [],
            "name": step["urn"].rsplit("::", 1)[-1],
            "op": step["op"],
            "type": step["urn"].split("::")[2].split("$")[-1],
        }
        for step in preview.get("steps", [])
        if step["op"] not in ("same", "refresh")
    ]
    return sorted((step for step in made if not is_package(step) and step["type"].startswith("gcp:")), key=json.dumps)


def is_package(step: Mapping[str, Any]) -> bool:
    return bool(step["type"] == OBJECT and step["name"] != "catalog")


def recorded_steps(situation: str, ids: Mapping[str, str]) -> list[Any]:
    previews = RECORDED["previews"]
    steps = [{**step, "name": ids.get(step["name"], step["name"])} for step in previews[situation]]
    # Since the recording was made, the catalog has submitters, and a refused preview goes on to its end.
    if situation in ("a submitter added", "a cluster removed while a job runs"):
        steps += [step for step in previews["labels edited, idle"] if step["name"] == "catalog"]
    return sorted((step for step in steps if not is_package(step)), key=json.dumps)


def cluster(checkout: Checkout) -> str:
    return str(checkout.outputs()["clusters"]["cpu"])


def test_states_and_previews_are_those_of_the_official_provider(
    tmp_path: Path, cloud: LocalCloud, new_checkout: NewCheckout
) -> None:
    checkout = new_checkout(tmp_path / "one", cloud, STACK)
    ids: dict[str, str] = {}

    def stack(max_workers: int = 4, **changed: Any) -> None:
        pools = {**POOLS, "workers": {**POOLS["workers"], "replicas": {"min": 2, "max": max_workers}}}
        checkout.write(persistentResources={"cpu": {"pools": pools, **changed.pop("cpu", {})}}, **changed)

    def holds(situation: str, name: Callable[[list[Any]], Mapping[str, str]] = lambda _: {}, recover: str = "") -> None:
        steps = steps_of(checkout.pulumi("preview", "--json", SLIPWAY_RECOVER=recover).json)
        ids.update(name(steps))
        assert steps == recorded_steps(situation, ids), situation

    def created(recorded: str) -> Callable[[list[Any]], Mapping[str, str]]:
        return lambda item: {recorded: next(step["name"] for step in item if step["op"] == "create")}

    stack()
    checkout.up()
    # The bucket for work had outlived an earlier stack when the recording was made: it is in "imported". So is the
    # cluster, which the provider takes over once it is made; for one that it makes itself: tests/local/plugin.
    taken_over = (" work", ":AiPersistentResource")
    created_here = [kind for kind in RECORDED["created"] if not kind.endswith(taken_over)]
    same_states(checkout, "created", *created_here)

    stack(workspace={"submitters": ["group:ml-engineers@company.example", "user:bob@company.example"]})
    holds("a submitter added")
    stack()

    urns = [resource["urn"] for resource in checkout.resources() if resource["type"].endswith(":AiPersistentResource")]
    command = ("pulumi", "state", "delete", *urns, "--target-dependents", "--yes", "--stack", STACK)
    assert checkout.run(*command, role="deployer").code == 0
    holds("the cluster deleted from the state")

    checkout.keep_resources([])
    holds("a fresh state, everything imported", recover=f"slipway/{STACK}")
    recovered = checkout.pulumi("up", SLIPWAY_RECOVER=f"slipway/{STACK}")
    assert recovered.code == 0, recovered.said
    same_states(checkout, "imported", *RECORDED["imported"])

    # The recording's cluster of that moment was the next one.
    stack(cpu={"labels": {"team": "vision"}})
    holds("labels edited, idle", lambda item: {**created("cpu-ca770e9")(item), "cpu-fa9e9e2": cluster(checkout)})

    job = checkout.submit("-p", "seconds=600")
    # Accepted is busy: whether its image is ready by now does not matter here.
    checkout.write(persistentResources={})
    holds("a cluster removed while a job runs")
    stack(max_workers=5)
    holds("a new generation beside a busy cluster", created("cpu-fa9e9e2"))
    checkout.up()
    stack()
    holds("the edit again while the old one retires")

    assert cluster(checkout) == ids["cpu-fa9e9e2"]

    checkout.end(job)
    stack(max_workers=5)
    holds("the old one idle: deleted")
    assert set(RECORDED["previews"]) == SITUATIONS


SITUATIONS = {
    "a cluster removed while a job runs",
    "a fresh state, everything imported",
    "a new generation beside a busy cluster",
    "a submitter added",
    "labels edited, idle",
    "the cluster deleted from the state",
    "the edit again while the old one retires",
    "the old one idle: deleted",
}
