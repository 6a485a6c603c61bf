"""Clusters and pools: jobs that run on them, and machines that are given back, newly acquired or duplicated."""

from tests.review.case import BUSY, ENCRYPTED, LARGE, Case, Edit, Job, World, h100, hurts, stack, stops, tells, template
from tests.review.engine import CLUSTER, deletes, deletes_cluster

H100, WORKERS = "replicas: { min: 2, max: 4 }", "replicas: { min: 4, max: 16 }"
A100 = "workers: { machine: a2-highgpu-8g, replicas: { min: 2, max: 6 } }"
LABELS = "labels: { team: platform, cost-center: research }"
ANEW = ("capacity-found-anew", "generations-overlap", "cluster-new-generation")
H100_ENTRY = """    h100:
      pools:
        workers: { machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas: { min: 2, max: 4 } }
      replacement: rollover
      retireWithin: 2w
      labels: { team: platform, cost-center: research }
"""
DISK = (
    "        workers: { machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas: { min: 2, max: 4 } }\n"
)
SPARE = "        spare: { machine: a2-highgpu-1g, replicas: { min: 1, max: 2 } }\n"
HEAD = "        head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 2 }\n"
EXTRA = (
    "    extra:\n      pools:\n"
    "        workers: { machine: n1-standard-8, disk: { sizeGb: 200 }, replicas: { min: 1, max: 2 } }\n"
    "      labels: { team: platform }\n"
)
NOT_ON_THE_POOL = template("lora", '("pool", "reservation", "spot")', '("reservation", "spot")')
TO_NIGHT_LABELS = (stack(LABELS, "labels: { team: night }"),)

CASES = (
    Case(
        "A pool's maximum is raised, which Vertex AI can't do in place: a second cluster beside the busy one",
        (stack(H100, "replicas: { min: 2, max: 6 }"),),
        (
            hurts("cluster-new-generation", "cluster h100", "max"),
            hurts("capacity-found-anew", "h100"),
            hurts("generations-overlap", "h100", "$202.28/h"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1", "ada", "3 h 12 min"),
            tells("image-cache-empty", "h100"),
            tells("capacity-raised", "h100/workers", "2–4 a3-highgpu-8g` → `2–6 a3-highgpu-8g"),
            tells("most-cost", "stack", "→"),
        ),
        world=BUSY,
    ),
    Case(
        "A typing error in a cost label is corrected, and the cluster of sixteen H100 is made anew for it",
        (stack(LABELS, "labels: { team: platform, cost-center: research-1 }"),),
        (
            stops("cluster-new-generation", "cluster h100", "cost-center"),
            hurts("capacity-found-anew", "h100"),
            hurts("generations-overlap", "h100"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1"),
        ),
        world=BUSY,
        accident="a tag that forces replacement",
    ),
    Case(
        "A key of one's own for a living cluster",
        (ENCRYPTED,),
        (
            hurts("cluster-new-generation", "cluster h100", "kmsKey"),
            hurts("key-unchecked", "cluster h100", "service agent"),
            hurts("generations-overlap", "h100"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1"),
        ),
        may=(*ANEW, "encryption-changed"),
        world=BUSY,
    ),
    Case(
        "The H100 cluster leaves the stack file while a job runs on it",
        (Edit("stacks/Pulumi.prod.yaml", H100_ENTRY, ""), NOT_ON_THE_POOL),
        (
            stops("cluster-retires", "cluster h100", "a3-highgpu-8g"),
            tells("jobs-finish-on-old | cluster-retires", "h100", "tune-27b-x1", "ada"),
            hurts("offer-gone", "lora", "27b"),
            tells("idle-cost", "stack", "→"),
        ),
        may=("run-cost",),
        world=BUSY,
        accident="a cluster dropped from a list",
    ),
    Case(
        "The H100 cluster leaves the stack file while nobody uses it: its machines go at once and may not come again",
        (Edit("stacks/Pulumi.prod.yaml", H100_ENTRY, ""), NOT_ON_THE_POOL),
        (stops("cluster-retires | cluster-deleted", "h100", "not come again"), hurts("offer-gone", "lora", "27b")),
        may=("run-cost",),
        accident="capacity given back that could not be had again",
    ),
    Case(
        "A cluster gets another name in the file, as if that were all",
        (stack("    h100:\n", "    gpu:\n"),),
        (
            stops("cluster-retires", "cluster h100", "a3-highgpu-8g"),
            tells("jobs-finish-on-old | cluster-retires", "h100", "tune-27b-x1"),
            tells("cluster-created", "cluster gpu"),
            hurts("capacity-found-anew", "cluster gpu", "2 `a3-highgpu-8g`", "h100"),
            tells("offer-gone", "lora pool h100", "go to pool `gpu` instead of `h100`"),
        ),
        world=BUSY,
        accident="a resource renamed in the code",
    ),
    Case(
        "A minimum of H100 is halved to save money, and they will not come back",
        (stack(H100, "replicas: { min: 1, max: 4 }"),),
        (
            stops("capacity-given-back", "h100/workers", "1 `a3-highgpu-8g`", "not come again", "workers.replicas.min"),
            hurts("cluster-new-generation", "h100", "min"),
            tells("idle-cost", "stack", "→"),
        ),
        may=ANEW,
        world=BUSY,
        accident="a minimum lowered so that capacity is gone",
    ),
    Case(
        "A minimum falls below what a template's usual submission takes",
        (stack(WORKERS, "replicas: { min: 1, max: 16 }"),),
        (
            hurts("minimum-below-default", "cpu/workers", "`digits` and `tune`", "from 1 to 4", "that growth costs $"),
            hurts("capacity-given-back", "cpu/workers", "3 `n1-standard-8`"),
            hurts("cluster-new-generation", "cpu", "min"),
        ),
        may=ANEW,
    ),
    Case(
        "A cluster takes no account of jobs' own any more, as which all jobs run",
        (
            stack(
                "displayName: cpu of research\n",
                "displayName: cpu of research\n      serviceAccount: { custom: false }\n",
            ),
            template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")'),
            template("tune", "timeout_s=3600,", 'timeout_s=3600,\n    capacity_types=("on-demand",),'),
        ),
        (
            hurts("pool-unused", "cpu/workers", "no template both fits it", "disks and account"),
            hurts("cluster-new-generation", "cpu", "custom"),
            hurts("offer-gone", "digits pool cpu", "they cost $0.99/h on Spot"),
        ),
        may=(*ANEW, "pool-unused", "offer-gone", "offer-added", "run-cost"),
    ),
    Case(
        "A maximum falls below what a template's parameter still allows",
        (stack(WORKERS, "replicas: { min: 4, max: 8 }"),),
        (
            hurts("capacity-lower-maximum", "cpu/workers", "don't fit", "all jobs together get 8 there, 16 before"),
            tells("most-cost", "stack", "→"),
        ),
        may=(*ANEW, "bounds-narrowed", "offer-unavailable"),
    ),
    Case(
        "A fixed pool loses one of its two machines while a job has both of its pools",
        (stack("sizeGb: 100 }, replicas: 2 }", "sizeGb: 100 }, replicas: 1 }"),),
        (
            hurts("capacity-given-back", "cpu/head", "1 `n1-standard-4`"),
            tells("jobs-finish-on-old", "cpu", "digits-night", "nightly"),
        ),
        may=ANEW,
        world=BUSY,
    ),
    Case(
        "The pool of schedulers is dropped that a template needs",
        (
            stack(
                "        head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 2 }\n",
                "",
            ),
        ),
        (stops("preview-failed", "", "digits", "scheduler"), hurts("pool-gone", "cpu/head")),
        may=ANEW,
        world=BUSY,
        accident="a node group removed that others selected",
    ),
    Case(
        "A pool's disk is left to the default, and no longer equals the template's",
        (stack("machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }", "machine: a3-highgpu-8g"),),
        (stops("preview-failed", "", "lora", "disk"),),
        may=ANEW,
    ),
    Case(
        "Trials ask for machines that no pool has, and no value of theirs is at fault",
        (template("tune", '"n1-standard-8"', '"n1-highmem-8"'),),
        (stops("preview-failed", "", "tune", "add a pool like it to a cluster"),),
        may=("machines-changed",),
        never=("with the values of",),
        world=World(jobs=(Job("tune-depth", "tune"),)),
        accident="an instance type changed in a template alone",
    ),
    Case(
        "The change is taken back while the generation before still lives",
        TO_NIGHT_LABELS,
        (
            tells("cluster-returns", "h100", "h100-3c742f1"),
            tells("jobs-finish-on-old", "h100", "finish on the newer cluster", "tune-27b-x1"),
        ),
        may=("generations-overlap", "cluster-new-generation"),
        world=World(
            jobs=(Job("old-27b", user="ben", parameters={"model": "27b"}, earlier=True), LARGE),
            earlier=TO_NIGHT_LABELS,
        ),
    ),
    Case(
        "A busy pool's maximum is raised, and A100 may come where there are no H100 for it",
        (
            stack(H100, "replicas: { min: 2, max: 6 }"),
            h100(f"alternatives: [{{ pools: {{ {A100} }} }}]"),
        ),
        (
            hurts("cluster-new-generation", "cluster h100", "max"),
            stops(
                "cluster-may-become",
                "h100",
                "a2-highgpu-8g",
                "no template asks for",
                "goes with its 2",
            ),
        ),
        may=ANEW,
        world=BUSY,
    ),
    Case(
        "A season that has already ended is written down",
        (h100("until: 2026-11-20"),),
        (
            stops("cluster-retires", "h100"),
            tells("cluster-retires", "h100", "until", "2026-11-20"),
            tells("jobs-finish-on-old | cluster-retires", "h100", "tune-27b-x1"),
            hurts("offer-unavailable", "lora", "h100"),
        ),
        may=("season-changed", "run-cost"),
        world=BUSY,
    ),
    Case(
        "A cluster is to be given up when nobody used it for three days",
        (h100("idleLimit: 3d"),),
        (hurts("season-changed | cluster-protection", "h100", "idleLimit"),),
        world=BUSY,
    ),
    Case(
        "The engine would delete the cluster under a running job, whatever the program says",
        names=(
            stops("jobs-cancelled", "h100", "tune-27b-x1", "ada", "3 h 12 min"),
            stops("cluster-deleted", "h100"),
        ),
        steps=deletes_cluster("h100"),
        world=BUSY,
        accident="a replacement that destroyed a running cluster",
    ),
    Case(
        "The engine would delete the cluster of the small machines, with a search on it",
        names=(stops("jobs-cancelled", "cpu", "digits-night", "nightly"), stops("cluster-deleted", "cpu")),
        steps=deletes_cluster("cpu"),
        world=BUSY,
        accident="a cluster destroyed by a stale plan",
    ),
    Case(
        "A cluster of another project goes, whose jobs nobody looked at",
        names=(stops("cluster-deleted", "cluster h100-prod", "acme-prod"),),
        steps=deletes(CLUSTER, "h100-prod", {"name": "h100-prod", "project": "acme-prod", "location": "us-central1"}),
    ),
    Case(
        "A cluster goes in a region that no table has, so that nobody looked there",
        names=(stops("cluster-deleted", "cluster h100-far", "mars-east1"),),
        steps=deletes(CLUSTER, "h100-far", {"name": "h100-far", "location": "mars-east1"}),
    ),
    Case(
        "A pool of A100 goes that no template fits any more",
        (stack(SPARE, ""),),
        (
            stops("pool-gone", "h100/spare", "1 `a2-highgpu-1g`, which may not come again", "1–2 a2-highgpu-1g"),
            hurts("cluster-new-generation", "cluster h100", "pools"),
        ),
        may=ANEW,
        given=(stack(DISK, DISK + SPARE),),
        accident="a pool tidied away that could not be had again",
    ),
    Case(
        "A pool of small machines goes with the templates that it was for",
        (stack(HEAD, ""), template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")')),
        (
            hurts("pool-gone", "cpu/head", "nobody can submit", "gives back 2 `n1-standard-4`"),
            hurts("offer-gone", "digits", "pool"),
        ),
        may=(*ANEW, "run-cost", "pool-unused"),
    ),
    Case(
        "A maximum is raised, and nobody could read what lives and what runs on it",
        (stack(H100, "replicas: { min: 2, max: 6 }"),),
        (
            hurts("cluster-new-generation", "cluster h100", "max"),
            hurts("generations-overlap", "h100", "$202.28/h"),
        ),
        may=("capacity-found-anew", "image-cache-empty"),
        world=World(jobs=BUSY.jobs, unread=True),
        accident="a preview that saw nothing, taken for nothing",
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
    ),
    Case(
        "A cluster of small machines leaves the stack file, and another one like it stays",
        (stack(EXTRA, ""),),
        (hurts("cluster-deleted", "cluster extra", "is idle and is deleted at once", "that saves"),),
        may=("idle-cost", "most-cost"),
        given=(stack("    cpu:\n", f"{EXTRA}{EXTRA.replace('extra', 'other')}    cpu:\n"),),
        never=("can't be renamed",),
    ),
    Case(
        "A cluster of small machines is called otherwise, while a job runs on it",
        (stack("    cpu:\n      displayName: cpu of research", "    batch:\n      displayName: batch of research"),),
        (hurts("cluster-retires", "cluster cpu", "has ended", "`batch`", "another cluster"),),
        may=(),
        world=BUSY,
    ),
    Case(
        "The engine would delete the cluster that a second one is to be made beside",
        (stack(H100, "replicas: { min: 2, max: 6 }"),),
        (
            stops("jobs-cancelled", "h100", "tune-27b-x1", "merge it when they have ended", "may not come again"),
            stops("cluster-deleted", "h100"),
            hurts("cluster-new-generation", "h100", "is deleted once the new one is there, with what runs on it"),
        ),
        may=("capacity-found-anew", "generations-overlap"),
        steps=deletes_cluster("h100"),
        world=BUSY,
        never=("both are paid", "until a later deployment"),
        accident="a replacement that destroyed a running cluster",
    ),
    Case(
        "A cluster that is in no catalog is deleted",
        names=(hurts("cluster-deleted", "cluster mine", "nobody could submit to it"),),
        steps=deletes(CLUSTER, "mine", {"name": "mine", "project": "acme-ml", "location": "us-central1"}),
        world=World(theirs=("mine",)),
    ),
    Case(
        "The engine would delete an older cluster that is kept for its job",
        names=(
            stops("jobs-cancelled", "h100-31e4236", "night-27b", "what is not saved"),
            stops("cluster-deleted", "h100-31e4236", "the program still declares it"),
        ),
        steps=deletes(CLUSTER, "h100-31e4236", {"name": "h100-31e4236", "location": "us-central1"}),
        world=World(
            jobs=(LARGE, Job("night-27b", parameters={"model": "27b"}, earlier=True)),
            earlier=(stack("max: 4", "max: 3"),),
        ),
        accident="a cluster destroyed by a stale plan",
        never=("the stack still asks for it", "`h100` is deleted"),
    ),
    Case(
        "A cluster gets another name, and keeps fewer machines",
        (stack(H100_ENTRY, H100_ENTRY.replace("    h100:", "    gpu:").replace("min: 2", "min: 1")),),
        (
            stops("cluster-deleted", "cluster h100", "a3-highgpu-8g"),
            tells("cluster-created", "cluster gpu"),
            hurts("capacity-found-anew", "cluster gpu", "1 `a3-highgpu-8g`", "not handed on"),
        ),
        may=("offer-gone", "idle-cost", "most-cost"),
        never=("nothing is saved",),
        accident="a resource renamed, and so deleted and made anew",
    ),
    Case(
        "A cluster on which a job runs takes machines whose price nobody knows",
        (
            stack(
                "machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas",
                "machine: a3-megagpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas",
            ),
            NOT_ON_THE_POOL,
        ),
        (
            stops("capacity-given-back", "h100/workers", "2 `a3-highgpu-8g`", "may not come again"),
            hurts("generations-overlap", "h100", "the old one is paid too, $202.28/h"),
        ),
        may=(*ANEW, "offer-gone", "pool-unused", "idle-cost", "most-cost", "run-cost"),
        world=World(jobs=(LARGE,)),
        never=("more, until",),
    ),
    Case(
        "A cluster that failed is to keep fewer machines",
        (stack(H100, "replicas: { min: 1, max: 4 }"),),
        (tells("cluster-new-generation", "cluster h100", "failed"),),
        may=("idle-cost", "capacity-found-anew", "minimum-below-default", "cluster-created"),
        world=World(states={"h100": "ERROR"}),
        never=("gives back",),
    ),
)
