"""Clusters that are created, adopted or left, and what of them the file does not say."""

from collections.abc import Iterable
from typing import Any

from slipway.deploying.engine.preview import EngineStep
from slipway.model.catalog.model import Catalog
from tests.review.case import BUSY, LARGE, QUIET, Case, Job, World, blocks, h100, notes, stack, template, warns
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
        (warns("cluster-orphaned", "theirs"),),
        may=("submission-rejected", "submission-changed"),
        world=NEAR,
        given=(ADOPTED,),
    ),
    Case(
        "A name goes from an adopted cluster to one that the stack makes",
        (stack("      id: team-a\n", ""),),
        (warns("cluster-orphaned", "theirs"), notes("cluster-created", "theirs")),
        may=("takes-effect-later",),
        world=NEAR,
        given=(ADOPTED,),
    ),
    Case(
        "The engine makes a cluster whose request can't be read",
        finds=(blocks("cluster-updated", "h100"),),
        steps=makes(labels="x"),
    ),
    Case(
        "The engine would update a living cluster, which the service can't do",
        finds=(blocks("cluster-rejected | cluster-updated", "h100", "tune-27b-x1"),),
        steps=edited_alive(labels={"team": "b"}),
        world=BUSY,
    ),
    Case(
        "The change is taken back while the generation before still lives",
        TO_NIGHT_LABELS,
        (warns("cluster-replaced", "h100", "tune-27b-x1"),),
        may=("cluster-replaced",),
        world=World(
            jobs=(Job("old-27b", user="ben", parameters={"model": "27b"}, earlier=True), LARGE), earlier=TO_NIGHT_LABELS
        ),
    ),
    Case(
        "A stack is deployed for the first time",
        finds=(
            notes("cluster-created", "h100"),
            notes("cluster-created", "cpu", "n1-standard-8"),
            notes("idle-cost", "stack"),
            notes("access-gained", "workspace", "ml@acme.example"),
        ),
        world=World(first=True),
        may=("cluster-replaced",),
    ),
    Case(
        "A cluster has failed since, and is made again",
        (QUIET,),
        (),
        may=("cluster-replaced", "cluster-deleted", "cluster-created"),
        world=World(states={"h100": "ERROR"}, jobs=(LARGE,)),
        given=(h100(OTHER_MACHINES),),
    ),
    Case(
        "The CPU machines are to reach a file server",
        (stack("      retireWithin: 7d\n", f"      retireWithin: 7d\n      {TRAINING_NETWORK}\n"),),
        (warns("cluster-replaced", "cpu"), warns("submission-changed", "digits"), warns("submission-changed", "tune")),
        may=ANEW,
    ),
    Case(
        "Larger disks fit what a cluster may become, and not the one that runs",
        (template("lora", 'Disk("pd-ssd", 500)', 'Disk("pd-ssd", 1000)'),),
        (blocks("stack-warning", "h100"), notes("submission-changed", "lora", "1000")),
        may=("submission-changed",),
        given=(h100(f"alternatives: [{{ pools: {{ {LARGE_DISKS} }} }}]"),),
        world=BUSY,
    ),
    Case(
        "A cluster is made anew, and behind another region stand machines that no template asks for",
        (stack("replicas: { min: 2, max: 4 }", "replicas: { min: 2, max: 6 }"),),
        (warns("cluster-replaced", "h100"),),
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
    ),
    Case(
        "A season begins in time to ask for the quota that it takes",
        (QUIET,),
        (notes("cluster-created", "h100"),),
        may=(*MONEY, *OFFERS, "cluster-replaced", "quota-short-at-most"),
        given=(h100("from: 2026-11-20"), stack("mode: enforce", "mode: request")),
        world=World(limits={"nvidia_h100_gpus": 24}, deployed=3),
    ),
    Case(
        "Another team's cluster is lent, and jobs can use it",
        (stack("  slipway:quota:", f"{VISION_CLUSTER}  slipway:quota:"),),
        (warns("cluster-orphaned", "vision"),),
        world=World(theirs=("team-b-cpu",)),
    ),
)
