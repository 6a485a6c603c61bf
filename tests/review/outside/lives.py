"""Clusters' names, places, lifetimes and keys. Two a3-highgpu-8g with 500 GB each cost $202.28 an hour."""

from __future__ import annotations

from tests.review.case import Job, World, stack, template
from tests.review.outside.truth import OutsideCase, Source, halts, harms, tells

ROLLOVER = "      replacement: rollover\n"
TUNE = Job("tune-27b-x1", parameters={"model": "27b"})
SEARCH = Job("digits-k7", "digits", "grace", hours=0.5)
CPU = """    cpu:
      displayName: cpu of research
      pools:
        head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 2 }
        workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: { min: 4, max: 16 } }
      retireWithin: 7d
      labels: { team: platform }
"""
LAST = "      labels: { team: platform }\n"

CASES = (
    OutsideCase(
        "The CPU cluster gets another name",
        "clusters",
        (stack("    cpu:\n", "    research:\n"),),
        Source("Another name is another resource", "https://github.com/pulumi/pulumi-hugo/pull/3245", "2023-08-09"),
        (
            halts(
                "A cluster research is made, and cpu goes once grace's digits-k7 has ended; until then both are paid "
                "for.",
                "who pays for cpu",
                "$2.35 more an hour while both live, for a name",
            ),
        ),
        World(jobs=(SEARCH,)),
    ),
    OutsideCase(
        "The CPU cluster is given up while a search runs on it",
        "clusters",
        (
            stack(CPU, ""),
            template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")'),
            template("tune", "timeout_s=3600,", 'timeout_s=3600,\n    capacity_types=("spot", "on-demand"),'),
        ),
        Source(
            "GPU nodes go after a hackathon",
            "https://github.com/ministryofjustice/analytical-platform/issues/5307",
            "2024-09-10",
        ),
        (
            harms(
                "digits and tune take machines of their own, on Spot first: a digits job with four workers costs $0.99 "
                "an hour and no longer starts in seconds.",
                "everyone who submits digits or tune",
                "the pool",
            ),
            tells(
                "grace's digits-k7 is not cancelled; the cluster is deleted once it is idle.",
                "grace",
                "nothing",
            ),
            tells(
                "The stack costs $2.35 an hour less when idle, about $1,710 a month.",
                "who pays for cpu",
                "about $1,710 a month saved",
                "once the cluster is deleted",
            ),
        ),
        World(jobs=(SEARCH,)),
    ),
    OutsideCase(
        "The stack moves to another region",
        "clusters",
        (stack("gcp:region: us-central1", "gcp:region: us-east4"),),
        Source("Everything moves to us-east4", "https://github.com/openshift/release/pull/19489", "2021-06-21"),
        (
            halts(
                "The mandatory rule of regions allows us-central1 alone: the deployment is refused.",
                "who deploys",
                "a deployment that stops",
            ),
            halts(
                "acme-catalog and acme-work stand in us-central1, and a bucket's location can't be changed.",
                "everyone whose results are in acme-work",
                "their data, if the buckets were made anew",
            ),
            halts(
                "The reservation bought is in us-central1-a: jobs in us-east4 can't use it.",
                "everyone who submits lora with model 27b",
                "machines that are paid for already",
            ),
        ),
        World(jobs=(TUNE,)),
    ),
    OutsideCase(
        "The H100 cluster is deleted before its successor is made",
        "clusters",
        (
            stack(ROLLOVER, "      replacement: in-place\n"),
            stack("cost-center: research }", "cost-center: vision }"),
        ),
        Source(
            "All instances were cycled",
            "https://github.com/hashicorp/terraform-provider-google/issues/6087",
            "2024-08-28",
        ),
        (
            halts(
                "Once ada's job has ended h100 is deleted, and nothing guarantees that the region has two "
                "a3-highgpu-8g again.",
                "everyone who submits lora with model 27b",
                "the pool, for minutes or until machines are free",
                "once tune-27b-x1 has ended",
            ),
            tells("tune-27b-x1 is not cancelled.", "ada", "nothing"),
        ),
        World(jobs=(TUNE,)),
    ),
    OutsideCase(
        "Later edits of the H100 cluster are to delete it first",
        "clusters",
        (stack(ROLLOVER, "      replacement: in-place\n"),),
        Source(
            "A replacement that deletes before it creates",
            "https://github.com/pulumi/pulumi-azure/issues/182",
            "2019-02-15",
        ),
        (
            harms(
                "Nothing happens now; the next edit deletes h100 before its successor is there.",
                "everyone who submits lora with model 27b",
                "the pool for a while, perhaps its machines",
                "at the next edit of h100",
            ),
        ),
        World(jobs=(TUNE,)),
    ),
    OutsideCase(
        "The H100 cluster is protected from edits",
        "clusters",
        (stack(ROLLOVER, "      replacement: protect\n"),),
        Source(
            "Deletion protection for clusters",
            "https://github.com/GoogleCloudPlatform/cluster-toolkit/pull/3392",
            "2024-12-11",
        ),
        (
            tells(
                "h100 lives on as it is; edits of it are refused from then on.",
                "who edits h100",
                "nothing today",
            ),
        ),
        World(jobs=(TUNE,)),
    ),
    OutsideCase(
        "The H100 cluster ends in two days",
        "clusters",
        (stack("      retireWithin: 2w\n", '      retireWithin: 2w\n      until: "2026-11-23"\n'),),
        Source(
            "Clusters that are deleted on a date",
            "https://github.com/hashicorp/terraform-provider-google/issues/4725",
            "2019-10-22",
        ),
        (
            halts(
                "From 23 November, 0:00 UTC, h100 is not asked for any more: lora with model 27b has no pool.",
                "everyone who submits lora with model 27b",
                "the pool, their first choice",
                "2026-11-23, midnight UTC",
            ),
            tells("Jobs that run then are not cancelled; h100 goes when it is idle.", "ada", "nothing"),
        ),
        World(jobs=(TUNE,)),
    ),
    OutsideCase(
        "A cluster of A100 machines for January",
        "clusters",
        (
            stack(
                LAST,
                LAST + "    a100:\n"
                '      from: "2027-01-10"\n'
                "      pools:\n"
                "        workers: { machine: a2-highgpu-1g, disk: { type: pd-ssd, sizeGb: 200 }, replicas: 2 }\n",
            ),
        ),
        Source("Clusters that outlive their use", "https://github.com/opentargets/issues/issues/3184", "2024-01-02"),
        (
            tells(
                "Nothing is made or paid for before 10 January 2027.",
                "who pays for the stack",
                "nothing until then",
                "2027-01-10, midnight UTC",
            ),
            harms(
                "From then on two a2-highgpu-1g cost $8.56 an hour, about $6,250 a month, and lora with model 9b, "
                "which asks for such machines, has no pool among its capacity types.",
                "who pays for the stack",
                "about $6,250 a month for machines that nobody can use",
                "2027-01-10, midnight UTC",
            ),
        ),
    ),
    OutsideCase(
        "The H100 cluster is given up after an idle hour",
        "clusters",
        (stack("      retireWithin: 2w\n", "      retireWithin: 2w\n      idleLimit: 1h\n"),),
        Source(
            "A time to live for idle clusters",
            "https://github.com/GoogleCloudPlatform/magic-modules/pull/2959",
            "2020-01-10",
        ),
        (
            halts(
                "After an hour without a job h100 is deleted and not made again until its entry is edited; nobody "
                "runs anything on it now.",
                "everyone who submits lora with model 27b",
                "the pool, and perhaps H100 machines that are hard to get again",
                "an hour after the last job",
            ),
            tells(
                "Idle it costs $202 an hour; that ends.",
                "who pays for h100",
                "$202 an hour saved while nobody needs it",
            ),
        ),
        World(jobs=(Job("tune-27b-x1", parameters={"model": "27b"}, state="SUCCEEDED", hours=30),)),
    ),
    OutsideCase(
        "A fresh H100 cluster without quota for two",
        "quota",
        (stack(ROLLOVER, ROLLOVER + "      generation: 2\n"),),
        Source(
            "A cluster is replaced without a change",
            "https://github.com/GoogleCloudPlatform/cloud-foundation-fabric/issues/1126",
            "2023-02-02",
        ),
        (
            halts(
                "The old cluster holds 16 H100 GPUs while ada's job runs, the new one needs 16, and the quota is 24: "
                "the new one can't be made beside it.",
                "who deploys",
                "a deployment that fails",
            ),
        ),
        World(jobs=(TUNE,), limits={"nvidia_h100_gpus": 24}),
    ),
    OutsideCase(
        "A broken H100 cluster is made afresh",
        "clusters",
        (stack(ROLLOVER, ROLLOVER + "      generation: 2\n"),),
        Source(
            "A cluster made in an error state is tainted",
            "https://github.com/GoogleCloudPlatform/magic-modules/pull/8978",
            "2023-09-16",
        ),
        (
            tells(
                "h100 is in ERROR and not billed; a new one takes its place, and two a3-highgpu-8g are paid for again.",
                "everyone who submits lora with model 27b",
                "the pool is back, at $202 an hour",
            ),
        ),
        World(states={"h100": "ERROR"}),
    ),
    OutsideCase(
        "The H100 cluster may be made in Europe instead",
        "clusters",
        (stack(ROLLOVER, ROLLOVER + "      alternatives: [{ region: europe-west4 }]\n"),),
        Source("Machines are scarce, so another region", "https://github.com/google/osv.dev/pull/5918", "2026-08-26"),
        (
            halts(
                "The mandatory rule of regions allows us-central1 alone: the deployment is refused.",
                "who deploys",
                "a deployment that stops",
            ),
        ),
    ),
    OutsideCase(
        "A100 machines in place of H100 ones where those can't be had",
        "clusters",
        (
            stack(
                ROLLOVER,
                ROLLOVER + "      alternatives: [{ pools: { workers: { machine: a2-highgpu-8g, disk: { type: pd-ssd, "
                "sizeGb: 500 }, replicas: 2 } } }]\n",
            ),
        ),
        Source("More zones against stock-outs", "https://github.com/llvm/llvm-zorg/pull/914", "2026-08-18"),
        (
            tells("h100 runs and stays as it is; ada's job goes on.", "ada", "nothing"),
            harms(
                "Made as the alternative it would have no a3-highgpu-8g, which lora with model 27b asks for.",
                "everyone who submits lora with model 27b",
                "the pool, should it ever be made so",
                "when h100 is made the next time and H100 machines are out of stock",
            ),
        ),
        World(jobs=(TUNE,)),
    ),
    OutsideCase(
        "The H100 cluster is encrypted with a key of the company",
        "clusters",
        (
            stack(
                ROLLOVER,
                ROLLOVER + "      encryption: { kmsKey: projects/acme-ml/locations/us-central1/keyRings/ml/cryptoKeys/"
                "disks }\n",
            ),
        ),
        Source(
            "Keys of one's own for database and bucket",
            "https://github.com/wandb/terraform-google-wandb/pull/100",
            "2024-05-10",
        ),
        (
            halts(
                "A key can't be set on a living cluster: a new one is made, and the old one stays until ada's "
                "tune-27b-x1 has ended.",
                "who pays for h100",
                "$202 more an hour while both live",
            ),
            harms(
                "Vertex AI's service agent must be allowed to use the key, or the cluster can't be made.",
                "who deploys",
                "a deployment that fails",
            ),
        ),
        World(jobs=(TUNE,)),
    ),
    OutsideCase(
        "The H100 cluster is encrypted with a key of another region",
        "clusters",
        (
            stack(
                ROLLOVER,
                ROLLOVER + "      encryption: { kmsKey: projects/acme-ml/locations/europe-west4/keyRings/ml/cryptoKeys/"
                "disks }\n",
            ),
        ),
        Source(
            "Keys for a backend in Cloud Storage", "https://github.com/hashicorp/terraform/pull/31786", "2022-09-29"
        ),
        (
            halts(
                "The key is in europe-west4 and the cluster in us-central1: Vertex AI takes keys of the same region "
                "alone.",
                "who deploys",
                "a cluster that can't be made",
            ),
        ),
    ),
)
