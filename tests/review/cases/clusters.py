"""Clusters that are created, adopted or left, and what of them the file does not say."""

from collections.abc import Iterable
from typing import Any

from slipway.deploying.engine.preview import EngineStep
from slipway.model.catalog.model import Catalog
from tests.review.case import BUSY, LARGE, QUIET, Case, Job, World, h100, hurts, stack, stops, tells, template
from tests.review.edits import (
    ANCHOR,
    ANEW,
    MONEY,
    NEAR,
    OFFERS,
    OTHER_MACHINES,
    THEIRS,
    TO_NIGHT_LABELS,
    TRAINING_NETWORK,
    makes,
    requested,
)
from tests.review.engine import CLUSTER, Steps
from tests.slipway.reviewing.builders import step

ADOPTED = stack(ANCHOR, THEIRS + ANCHOR)
GONE = ("deleted", "may not come again", "given back")
EIGHT = {"machineType": "a3-highgpu-8g", "acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 8}


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


LARGE_DISKS = "workers: { machine: a3-highgpu-8g, disk: { sizeGb: 1000 }, replicas: { min: 2, max: 4 } }"
VISION_CLUSTER = """    vision:
      id: team-b-cpu
      pools:
        workers: { machine: n1-standard-8, replicas: { min: 1, max: 4 } }
"""

CASES = (
    Case(
        "The entry of an adopted cluster goes: it is kept, and nobody finds it any more",
        (stack(THEIRS, ""),),
        (hurts("cluster-left", "theirs", "team-a", "no deployment deletes it"),),
        may=("offer-gone",),
        world=NEAR,
        given=(ADOPTED,),
        never=GONE,
        accident="a state without an entry, taken for an order to delete",
    ),
    Case(
        "A name goes from an adopted cluster to one that the stack makes",
        (stack("      id: team-a\n", ""),),
        (
            hurts("cluster-left", "theirs", "team-a", "no deployment deletes it"),
            tells("cluster-created", "theirs", "is made"),
        ),
        may=("cluster-protection",),
        world=NEAR,
        given=(ADOPTED,),
    ),
    Case(
        "The engine makes a cluster whose request can't be read",
        names=(stops("cluster-unsaid", "cluster h100-", "not made as its stack file says"),),
        steps=makes(labels="x"),
    ),
    Case(
        "The engine would update a living cluster, which the service can't do",
        names=(stops("cluster-unsaid", "cluster h100-", "while it lives", "tune-27b-x1", "`labels`"),),
        steps=edited_alive(labels={"team": "b"}),
        world=BUSY,
        accident="an update in place that ended what ran",
    ),
    Case(
        "The change is taken back while the generation before still lives",
        TO_NIGHT_LABELS,
        (
            tells("cluster-returns", "h100", "h100-3c742f1"),
            tells("jobs-finish-on-old", "h100", "may finish where they run", "tune-27b-x1"),
        ),
        may=("generations-overlap", "cluster-new-generation"),
        world=World(
            jobs=(Job("old-27b", user="ben", parameters={"model": "27b"}, earlier=True), LARGE), earlier=TO_NIGHT_LABELS
        ),
    ),
    Case(
        "A stack is deployed for the first time",
        names=(
            tells("cluster-created", "cluster h100", "is made"),
            tells("cluster-created", "cluster cpu", "workers", "4–16 n1-standard-8"),
            tells("idle-cost", "stack", "`$0.00/h` → `$20"),
            tells("template-added", "template lora"),
            tells("submitter-added", "group:ml@acme.example"),
        ),
        world=World(first=True),
        may=("capacity-found-anew",),
        never=("until the new one is there",),
    ),
    Case(
        "A cluster has failed since, and is made again",
        (QUIET,),
        (
            tells(
                "cluster-created",
                "h100",
                "its 2 `a3-highgpu-8g` must be found",
                "can't be used any more; with nothing running",
            ),
            tells("cluster-may-become", "h100", "if its own machines can't be had", "no template asks a pool for"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1", "stay on the one that failed"),
        ),
        may=("capacity-found-anew", "cluster-cleared", "cluster-created"),
        world=World(states={"h100": "ERROR"}, jobs=(LARGE,)),
        given=(h100(OTHER_MACHINES),),
        never=("createWithin", "may finish", "the next time"),
        accident="machines that were gone in the night",
    ),
    Case(
        "The CPU machines are to reach a file server",
        (stack("      retireWithin: 7d\n", f"      retireWithin: 7d\n      {TRAINING_NETWORK}\n"),),
        (
            hurts(
                "key-unchecked",
                "cluster cpu",
                "unless network `training` is peered",
                "`up` publishes all else and fails",
            ),
            hurts("network-changed", "digits", "training"),
            hurts("network-changed", "tune", "training"),
        ),
        may=ANEW,
        accident="a network that nobody had peered",
    ),
    Case(
        "Larger disks fit what a cluster may become, and not the one that runs",
        (template("lora", 'Disk("pd-ssd", 500)', 'Disk("pd-ssd", 1000)'),),
        (
            hurts("offer-unavailable", "lora pool h100", "they fit no pool"),
            stops("pool-unused", "h100/workers"),
            tells("machines-changed", "lora", "1000 GB"),
        ),
        may=("run-cost",),
        given=(h100(f"alternatives: [{{ pools: {{ {LARGE_DISKS} }} }}]"),),
        world=BUSY,
        accident="a pool that was paid for nobody",
    ),
    Case(
        "A cluster is made anew, and behind another region stand machines that no template asks for",
        (stack("replicas: { min: 2, max: 4 }", "replicas: { min: 2, max: 6 }"),),
        (stops("cluster-may-become", "h100", "of `a2-highgpu-8g` or in us-east4", "no template asks a pool for"),),
        given=(
            stack("regions: [us-central1]", "regions: [us-central1, us-east4]"),
            h100(
                "alternatives:",
                "  - region: us-east4",
                "  - pools: { workers: { machine: a2-highgpu-8g, replicas: 2 } }",
            ),
        ),
        may=ANEW,
        world=BUSY,
        accident="a fallback that came up and that nobody could use",
    ),
    Case(
        "A season begins in time to ask for the quota that it takes",
        (QUIET,),
        (tells("cluster-created", "h100"),),
        may=(*MONEY, *OFFERS, "capacity-found-anew", "quota-short-at-most"),
        given=(h100("from: 2026-11-20"), stack("mode: enforce", "mode: request")),
        world=World(limits={"nvidia_h100_gpus": 24}, deployed=3),
    ),
    Case(
        "Another team's cluster is lent, and jobs can use it",
        (stack("  slipway:quota:", f"{VISION_CLUSTER}  slipway:quota:"),),
        (
            hurts("cluster-adopted", "vision", "its owner pays", "ask its owner"),
            tells("offer-added", "tune", "can use pool `vision`"),
        ),
        world=World(theirs=("team-b-cpu",)),
        accident="a borrowed cluster on its owner's bill",
    ),
)
