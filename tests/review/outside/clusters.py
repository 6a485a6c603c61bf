"""Pools: their sizes, machines and disks. An hour of a3-highgpu-8g with 500 GB costs $101.14, one of n1-standard-8 with
100 GB $0.46 and one of n1-standard-4 $0.25; a month has 730 hours."""

from __future__ import annotations

from tests.review.case import Job, World, stack, template
from tests.review.outside.truth import OutsideCase, Source, halts, harms, tells

PROVIDER = "https://github.com/hashicorp/terraform-provider-google"
LABELS = "labels: { team: platform, cost-center: research }"
H100 = "replicas: { min: 2, max: 4 } }"
CPU = "workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: { min: 4, max: 16 } }"
TUNE = Job("tune-27b-x1", parameters={"model": "27b"})
SEARCH = Job("digits-k7", "digits", "grace", hours=0.5)

CASES = (
    OutsideCase(
        "A label of the H100 cluster is renamed while a job runs on it",
        "clusters",
        (stack(LABELS, "labels: { team: ml, cost-center: research }"),),
        Source("A new taint replaces a node pool", f"{PROVIDER}/issues/16054", "2023-09-29"),
        (
            halts(
                "A second H100 cluster is made and both are paid for until ada's tune-27b-x1 has ended; the job is "
                "not cancelled.",
                "who pays for h100",
                "two more a3-highgpu-8g at $101 an hour each, for a label",
            ),
        ),
        World(jobs=(TUNE,)),
    ),
    OutsideCase(
        "The H100 machines get a larger disk, and no template follows",
        "clusters",
        (stack("disk: { type: pd-ssd, sizeGb: 500 }", "disk: { type: pd-ssd, sizeGb: 1000 }"),),
        Source("Disks of a node pool grow", "https://github.com/interuss/dss/pull/1569", "2026-06-25"),
        (
            halts(
                "lora with model 27b asks for 500 GB, which no pool has any more: such jobs can't go to h100, and the "
                "deployment is refused until the template follows.",
                "everyone who submits lora with model 27b, and who deploys",
                "the pool, their first choice, or the deployment",
            ),
        ),
        World(jobs=(TUNE,)),
    ),
    OutsideCase(
        "One H100 machine is kept warm instead of two",
        "clusters",
        (stack(H100, "replicas: { min: 1, max: 4 } }"),),
        Source("A pool's floor shrinks", "https://github.com/cal-itp/data-infra/pull/5562", "2026-07-22"),
        (
            tells(
                "Idle, the cluster costs $101 an hour less, about $73,800 a month.",
                "who pays for h100",
                "about $73,800 a month saved",
                "once the old cluster has retired",
            ),
            harms(
                "The size can't be changed in place: a new cluster is made, and the old one stays until both of ada's "
                "jobs have ended.",
                "who pays for h100",
                "three machines and more for some hours, $202 an hour of them for the old cluster",
            ),
        ),
        World(jobs=(TUNE, Job("tune-27b-x2", parameters={"model": "27b"}, hours=11))),
    ),
    OutsideCase(
        "The H100 pool may grow to sixteen machines with quota for four",
        "clusters",
        (stack(H100, "replicas: { min: 2, max: 16 } }"),),
        Source("A limit of nodes is raised", "https://github.com/googlecloudrobotics/core/pull/311", "2024-01-23"),
        (
            harms(
                "Sixteen machines need 128 H100 GPUs and the quota is 32: the pool stops growing at four.",
                "everyone who counts on more than four machines",
                "the new maximum can't be reached",
            ),
            harms(
                "At its maximum the pool costs $1,618 an hour instead of $405.",
                "who pays for h100",
                "the bill at full load, four times as high",
            ),
        ),
        World(limits={"nvidia_h100_gpus": 32}),
    ),
    OutsideCase(
        "The H100 pool no longer shrinks",
        "clusters",
        (stack(H100, "replicas: 4 }"),),
        Source("A GPU pool is pinned to its maximum", "https://github.com/NVIDIA/aicr/pull/1592", "2026-07-02"),
        (
            halts(
                "Four machines are paid for all the time instead of two: $202 an hour more with nothing running, about "
                "$147,700 a month.",
                "who pays for h100",
                "about $147,700 a month",
            ),
        ),
    ),
    OutsideCase(
        "The CPU workers get twice the cores, and the templates stay behind",
        "clusters",
        (stack("machine: n1-standard-8,", "machine: n1-standard-16,"),),
        Source("Another machine type replaces a pool", "https://github.com/pulumi/pulumi-gcp/issues/255", "2019-11-20"),
        (
            halts(
                "digits and tune ask for n1-standard-8, which no pool has then: none of their jobs can go to cpu, and "
                "the deployment is refused until they follow.",
                "everyone who submits digits or tune, and who deploys",
                "the pool, or the deployment",
            ),
        ),
        World(jobs=(SEARCH,)),
    ),
    OutsideCase(
        "The H100 machines get a larger disk, and the template follows",
        "clusters",
        (
            stack("disk: { type: pd-ssd, sizeGb: 500 }", "disk: { type: pd-ssd, sizeGb: 1000 }"),
            template("lora", 'Disk("pd-ssd", 500)', 'Disk("pd-ssd", 1000)'),
        ),
        Source(
            "Disks that force new node pools", "https://github.com/2i2c-org/infrastructure/issues/4374", "2024-07-08"
        ),
        (
            harms(
                "A disk can't grow in place: a second H100 cluster is made, and the old one stays until ada's "
                "tune-27b-x1 has ended.",
                "who pays for h100",
                "$202 more an hour while both live",
            ),
            tells(
                "Each machine then costs 13 cents an hour more, for its disk.",
                "who pays for h100",
                "about $196 a month for two machines",
            ),
        ),
        World(jobs=(TUNE,)),
    ),
    OutsideCase(
        "The CPU workers get twice the cores, and the templates follow",
        "clusters",
        (
            stack("machine: n1-standard-8,", "machine: n1-standard-16,"),
            template("digits", '"workers", "n1-standard-8"', '"workers", "n1-standard-16"'),
            template("tune", '"trial", "n1-standard-8"', '"trial", "n1-standard-16"'),
        ),
        Source(
            "What a change of the machine type does",
            "https://github.com/kyma-project/control-plane/issues/2446",
            "2023-02-09",
        ),
        (
            harms(
                "Idle, the cluster costs $1.75 an hour more, about $1,280 a month.",
                "who pays for cpu",
                "about $1,280 a month",
            ),
            tells(
                "A new cluster is made; grace's digits-k7 ends on the old one, which stays until then.",
                "grace",
                "nothing, but both clusters are paid for meanwhile",
            ),
        ),
        World(jobs=(SEARCH,)),
    ),
    OutsideCase(
        "Another label while the last edit's predecessor still works",
        "clusters",
        (stack(LABELS, "labels: { team: platform, cost-center: vision }"),),
        Source("A label of a disk replaces the machine", f"{PROVIDER}/issues/17044", "2024-01-18"),
        (
            halts(
                "Three H100 clusters live side by side: grace's tune-27b-old holds the oldest, ada's tune-27b-x1 the "
                "next, and a third is made.",
                "who pays for h100",
                "$607 an hour instead of $405, until the jobs have ended",
            ),
        ),
        World(
            jobs=(TUNE, Job("tune-27b-old", user="grace", parameters={"model": "27b"}, hours=21, earlier=True)),
            earlier=(stack(LABELS, "labels: { team: infra, cost-center: research }"),),
        ),
    ),
    OutsideCase(
        "A label of a cluster that somebody deleted by hand",
        "clusters",
        (stack(LABELS, "labels: { team: platform, cost-center: vision }"),),
        Source(
            "Labels for all resources", "https://github.com/runatlantis/terraform-gce-atlantis/pull/97", "2023-02-09"
        ),
        (
            harms(
                "h100 is not there any more; the edit makes it anew, and two a3-highgpu-8g are paid for again.",
                "who pays for h100",
                "$202 an hour that nobody pays today",
            ),
        ),
        World(gone=("h100",)),
    ),
    OutsideCase(
        "A cluster of another team may be used",
        "clusters",
        (
            stack(
                "      labels: { team: platform }\n",
                "      labels: { team: platform }\n"
                "    shared:\n"
                "      id: team-a\n"
                "      pools:\n"
                "        workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: { min: 1, "
                "max: 4 } }\n",
            ),
        ),
        Source("Steps on a persistent resource", "https://github.com/zenml-io/zenml/pull/3304", "2025-01-22"),
        (
            tells(
                "Nothing is made, changed or paid for: team-a stays its owners', and jobs may be sent to it.",
                "who submits tune, and the owners of team-a",
                "four more machines to share",
            ),
        ),
        World(theirs=("team-a",)),
    ),
    OutsideCase(
        "Cheaper disks for the CPU workers, and digits shares the constant with its scheduler",
        "clusters",
        (
            stack(CPU, CPU.replace("pd-ssd", "pd-standard")),
            template("digits", 'DISK = Disk("pd-ssd", 100)', 'DISK = Disk("pd-standard", 100)'),
        ),
        Source("Cheaper disks", "https://github.com/jupyterhub/mybinder.org-deploy/pull/2102", "2022-01-18"),
        (
            halts(
                "The scheduler of digits asks for pd-standard too, but the pool head keeps pd-ssd: digits can't go to "
                "cpu.",
                "everyone who submits digits",
                "the pool",
            ),
            halts(
                "tune still asks for pd-ssd on n1-standard-8, which no pool has.",
                "everyone who submits tune",
                "the pool",
            ),
        ),
    ),
    OutsideCase(
        "One CPU worker is kept warm instead of four",
        "clusters",
        (stack("replicas: { min: 4, max: 16 }", "replicas: { min: 1, max: 16 }"),),
        Source(
            "A warm minimum for a growing GPU pool",
            "https://github.com/GoogleCloudPlatform/ml-auto-solutions/pull/176",
            "2024-03-04",
        ),
        (
            tells(
                "Idle, the cluster costs $1.39 an hour less, about $1,016 a month.",
                "who pays for cpu",
                "about $1,016 a month saved",
                "once the old cluster has retired",
            ),
            harms(
                "A digits job with its usual four workers finds one: it waits until three more have been made.",
                "everyone who submits digits to the pool",
                "the quick start",
            ),
        ),
        World(jobs=(SEARCH,)),
    ),
    OutsideCase(
        "The CPU pool may grow to eight instead of sixteen",
        "clusters",
        (stack("replicas: { min: 4, max: 16 }", "replicas: { min: 4, max: 8 }"),),
        Source(
            "Node pools and their limits are resized", "https://github.com/MinaProtocol/mina/issues/11812", "2022-09-13"
        ),
        (
            harms(
                "digits allows up to sixteen workers, and a job with more than eight never fits into the pool, as "
                "grace's digits-16 did.",
                "everyone who submits digits with more than eight workers",
                "the pool",
            ),
        ),
        World(jobs=(Job("digits-16", "digits", "grace", parameters={"workers": 16}, state="SUCCEEDED", hours=50),)),
    ),
    OutsideCase(
        "A cluster of L4 machines that no template asks for",
        "clusters",
        (
            stack(
                "      labels: { team: platform }\n",
                "      labels: { team: platform }\n"
                "    l4:\n"
                "      pools:\n"
                "        workers: { machine: g2-standard-12, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 2 }\n",
            ),
        ),
        Source(
            "What GPU pools cost with nothing running",
            "https://github.com/modelplaneai/modelplane/issues/54",
            "2026-05-04",
        ),
        (
            harms(
                "Two g2-standard-12 cost $2.35 an hour, about $1,720 a month, busy or not.",
                "who pays for the stack",
                "about $1,720 a month",
            ),
            harms(
                "No template asks for g2-standard-12 with such a disk, so no job can run on l4.",
                "who pays for the stack",
                "machines that nobody can use",
            ),
        ),
    ),
    OutsideCase(
        "A cluster of L4 machines without quota for them",
        "quota",
        (
            stack(
                "      labels: { team: platform }\n",
                "      labels: { team: platform }\n"
                "    l4:\n"
                "      pools:\n"
                "        workers: { machine: g2-standard-48, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 3 }\n",
            ),
        ),
        Source(
            "Tuning on an L4 without quota for it",
            "https://github.com/GoogleCloudPlatform/stable-diffusion-on-gcp/issues/12",
            "2023-12-03",
        ),
        (
            halts(
                "Three g2-standard-48 need 12 L4 GPUs and the quota is 8: the cluster can't be made.",
                "who deploys",
                "a deployment that fails",
            ),
        ),
        World(limits={"nvidia_l4_gpus": 8}),
    ),
)
