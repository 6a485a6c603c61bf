"""Clusters that somebody else made, and those that the engine makes or edits otherwise than the file says. # N13"""

from collections.abc import Iterable
from typing import Any

from slipway.deploying.engine.preview import EngineStep
from slipway.model.catalog.model import Catalog
from tests.builders.clusters import asked_for
from tests.review.case import BUSY, Case, World, hurts, silent, stack, stops, tells
from tests.review.cases.clusters import H100_ENTRY, NOT_ON_THE_POOL
from tests.review.engine import CLUSTER, Steps, creates, does
from tests.slipway.reviewing.builders import step

ANCHOR = "\n  slipway:quota: { mode"
THEIRS = """    theirs:
      id: team-a
      pools:
        workers: { machine: n1-standard-8, replicas: { min: 1, max: 4 } }
"""
H100_ADOPTED = THEIRS.replace("theirs", "h100")
ADOPTED = stack(ANCHOR, THEIRS + ANCHOR)
NEAR = World(theirs=("team-a", "team-b"))
GONE = ("deleted", "may not come again", "given back")
EIGHT = {"machineType": "a3-highgpu-8g", "acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 8}


def requested(catalog: Catalog, **inputs: Any) -> dict[str, Any]:
    """Return the request of the H100 cluster, as its stack file says but for `inputs`."""
    place = {"project": catalog.project, "location": catalog.region}
    return asked_for(catalog.clusters["h100"], **{**place, **inputs})


def makes(op: str = "create", **inputs: Any) -> Steps:
    def steps(catalog: Catalog) -> Iterable[EngineStep]:
        yield step(op, CLUSTER, catalog.clusters["h100"].id, new=requested(catalog, **inputs))

    return steps


def edited_alive(**edits: Any) -> Steps:
    def steps(catalog: Catalog) -> Iterable[EngineStep]:
        id_, lives = catalog.clusters["h100"].id, requested(catalog)
        yield step("update", CLUSTER, id_, old=lives, new={**lives, **edits}, diffs=edits)

    return steps


def pool(**fields: Any) -> dict[str, Any]:
    return {
        "id": "workers",
        "machineSpec": EIGHT,
        "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 500},
        **fields,
    }


CASES = (
    Case(
        "A cluster of another team is adopted: nothing of it changes, and nothing more is paid",
        (ADOPTED,),
        (
            hurts(
                "cluster-adopted",
                "theirs",
                "team-a",
                "no deployment changes or deletes",
                "owner pays",
                "wait behind",
                "fail",
            ),
        ),
        world=NEAR,
        never=("is made", "With nothing running", "With every pool"),
    ),
    Case(
        "The entry of an adopted cluster goes: it is kept, and nobody finds it any more",
        (stack(THEIRS, ""),),
        (hurts("cluster-left", "theirs", "team-a", "is kept, as it was adopted"),),
        may=("offer-gone",),
        world=NEAR,
        given=(ADOPTED,),
        never=GONE,
        accident="a state without an entry, taken for an order to delete",
    ),
    Case(
        "An adopted cluster's name stands for another one from now on",
        (stack("id: team-a", "id: team-b"),),
        (
            hurts("cluster-adopted", "theirs", "team-b", "switch to it from `team-a`"),
            hurts("cluster-left", "theirs", "team-a", "is kept"),
        ),
        world=NEAR,
        given=(ADOPTED,),
        never=GONE,
    ),
    Case(
        "A name goes from an adopted cluster to one that the stack makes",
        (stack("      id: team-a\n", ""),),
        (hurts("cluster-left", "theirs", "team-a", "is kept"), tells("cluster-created", "theirs", "is made")),
        may=("cluster-protection",),
        world=NEAR,
        given=(ADOPTED,),
    ),
    Case(
        "Sixteen H100 of the stack's own give way to another team's cluster under their name",
        (stack(H100_ENTRY, H100_ADOPTED), NOT_ON_THE_POOL),
        (
            hurts("cluster-adopted", "h100", "team-a"),
            stops("cluster-deleted | cluster-retires", "h100", "may not come again"),
        ),
        may=("offer-unavailable", "no-offer-left", "offer-gone", "template-gone", "offer-added"),
        world=NEAR,
        accident="a name handed to something smaller",
    ),
    Case(
        "An id is mistyped: no cluster has it",
        (stack(ANCHOR, THEIRS.replace("team-a", "team-c") + ANCHOR),),
        (stops("preview-failed", "", "there is no cluster team-c in us-central1"),),
        world=NEAR,
    ),
    silent("The engine makes a cluster as its stack file says", steps=makes(), world=BUSY),
    Case(
        "The engine makes a cluster of fifty H100 machines that is in no stack file",
        names=(stops("cluster-unsaid", "cluster mine", "nobody can submit to it"),),
        steps=creates(CLUSTER, "mine", {"name": "mine", "resourcePools": [pool(replicaCount="50")]}),
        accident="machines hidden in a component",
    ),
    Case(
        "The engine adopts a cluster of which nobody can tell how large it is",
        names=(stops("cluster-unsaid", "cluster mine", "made or adopted"),),
        steps=does(step("import", CLUSTER, "mine", new={"name": "mine", "resourcePools": [{"replicaCount": "many"}]})),
    ),
    Case(
        "The engine makes a cluster that may grow ten times as large as its stack file says",
        names=(stops("cluster-unsaid", "cluster h100-", "as its stack file says"),),
        steps=makes(resourcePools=[pool(autoscalingSpec={"minReplicaCount": "2", "maxReplicaCount": "40"})]),
        accident="a limit that the program multiplied",
    ),
    Case(
        "The engine makes a cluster in another project and network than its stack file says",
        names=(stops("cluster-unsaid", "cluster h100-", "as its stack file says"),),
        steps=makes(project="victim", network="projects/1/global/networks/x"),
        accident="a stack pointed at another project",
    ),
    Case(
        "The engine makes a cluster whose request can't be read",
        names=(stops("cluster-unsaid", "cluster h100-", "not made as its stack file says"),),
        steps=makes(labels="x"),
    ),
    silent(
        "The engine takes over a cluster that somebody renamed by hand, and leaves its labels",
        steps=makes("import", displayName="renamed by hand", labels={"goog-managed": "y"}),
    ),
    Case(
        "The engine would have another team's cluster as the stack's own",
        names=(stops("cluster-unsaid", "cluster team-a", "something else"),),
        steps=does(step("import", CLUSTER, "team-a", new={"name": "team-a"})),
        world=NEAR,
        given=(ADOPTED,),
        accident="an import that ended in a deletion",
    ),
    Case(
        "The engine would update a living cluster, which the service can't do",
        names=(stops("cluster-unsaid", "cluster h100-", "while it lives", "tune-27b-x1", "`labels`"),),
        steps=edited_alive(labels={"team": "b"}),
        world=BUSY,
        accident="an update in place that ended what ran",
    ),
)
