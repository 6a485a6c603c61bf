"""Clusters that are deleted or retire, and jobs that lose what they need."""

from tests.review.case import (
    BUSY,
    ENCRYPTED,
    LARGE,
    QUIET,
    Case,
    Edit,
    Job,
    World,
    h100,
    hurts,
    stack,
    stops,
    tells,
    template,
)
from tests.review.edits import (
    H100,
    H100_ENTRY,
    MONEY,
    NEAR,
    NOT_ON_THE_POOL,
    OFFERS,
    POLICY,
    RESERVATION_TYPE,
    SESSIONS,
    THEIRS,
    TO_NIGHT_LABELS,
    ago,
    of_cluster,
)
from tests.review.engine import CLUSTER, deletes, deletes_cluster

H100_ADOPTED = THEIRS.replace("theirs", "h100")
NETWORK_TYPE = "gcp:compute/network:Network"
CRYPTO_KEY_TYPE = "gcp:kms/cryptoKey:CryptoKey"
ON_A_NETWORK = h100("network: projects/123/global/networks/train")
EXTRA = (
    "    extra:\n      pools:\n"
    "        workers: { machine: n1-standard-8, disk: { sizeGb: 200 }, replicas: { min: 1, max: 2 } }\n"
    "      labels: { team: platform }\n"
)
FAILED = "    extra: { pools: { workers: { machine: n1-standard-8, replicas: { min: 1, max: 2 } } } }\n"
SITS = World(jobs=(Job("reserved-27b", user="ben", capacity_type="reservation", parameters={"model": "27b"}),))

CASES = (
    Case(
        "Sixteen H100 of the stack's own give way to another team's cluster under their name",
        (stack(H100_ENTRY, H100_ADOPTED), NOT_ON_THE_POOL),
        (
            hurts("cluster-adopted", "h100", "team-a"),
            stops("cluster-deleted | cluster-retires", "h100", "may not come again"),
        ),
        may=("offer-unavailable", "no-offer-left", "offer-gone", "template-gone", "offer-added"),
        world=NEAR,
        never=("nobody can submit", "keep the entry"),
        accident="a name handed to something smaller",
    ),
    Case(
        "The network that a busy cluster is attached to is deleted",
        names=(stops("jobs-lose-network", "train", "tune-27b-x1"), stops("resource-deleted", "train")),
        steps=deletes(NETWORK_TYPE, "train", {"name": "train"}),
        given=(ON_A_NETWORK,),
        world=BUSY,
        accident="a network deleted under what used it",
    ),
    Case(
        "The key of a busy cluster's disks is deleted",
        names=(stops("jobs-lose-network", "k", "tune-27b-x1", "key"), stops("resource-deleted", "k")),
        steps=deletes(CRYPTO_KEY_TYPE, "k", {"name": "k"}),
        given=(ENCRYPTED,),
        world=BUSY,
        accident="a key destroyed, and with it the data",
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
            tells("offer-gone", "lora pool h100", "can use pool `gpu` instead of `h100`"),
        ),
        world=BUSY,
        accident="a resource renamed in the code",
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
        "A cluster of small machines leaves the stack file, and another one like it stays",
        (stack(EXTRA, ""),),
        (hurts("cluster-deleted", "cluster extra", "is idle and is deleted"),),
        may=("idle-cost", "most-cost"),
        given=(stack("    cpu:\n", f"{EXTRA}{EXTRA.replace('extra', 'other')}    cpu:\n"),),
        never=("can't be renamed",),
    ),
    Case(
        "A cluster of small machines is called otherwise, while a job runs on it",
        (stack("    cpu:\n      displayName: cpu of research", "    batch:\n      displayName: batch of research"),),
        (hurts("cluster-retires", "cluster cpu", "has ended"),),
        may=(),
        world=BUSY,
    ),
    Case(
        "The engine would delete the cluster that a second one is to be made beside",
        (stack(H100, "replicas: { min: 2, max: 6 }"),),
        (
            stops("jobs-cancelled", "h100", "tune-27b-x1", "merge it when they have ended", "may not come again"),
            stops("cluster-deleted", "h100"),
            hurts("cluster-new-generation", "h100", "is deleted, with what runs on it"),
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
            stops("cluster-deleted", "h100-31e4236"),
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
        never=("nothing is saved", "deleted at once", "until the new one is there"),
        accident="a resource renamed, and so deleted and made anew",
    ),
    Case(
        "The engine replaces the cluster under a running job, for its network",
        names=(stops("jobs-cancelled", "h100", "tune-27b-x1"), stops("cluster-deleted", "h100", "network")),
        may=("capacity-found-anew", "cluster-unsaid"),
        steps=of_cluster("h100", "create-replacement", "replace", "delete-replaced"),
        world=BUSY,
        accident="a replacement that destroyed a running cluster",
    ),
    Case(
        "A cluster that has failed since leaves the stack file",
        (stack(FAILED, ""),),
        (tells("cluster-cleared", "cluster extra", "it failed, holds nothing and is deleted"),),
        given=(stack("    cpu:\n", f"{FAILED}    cpu:\n"),),
        world=World(states={"extra": "ERROR"}),
        may=("offer-gone", "idle-cost", "most-cost"),
        never=("any more; it", "nobody can submit"),
    ),
    Case(
        "A cluster gets another name, with its shares and sessions",
        (
            stack("    cpu:\n", "    compute:\n"),
            stack("shares: { cpu:", "shares: { compute:"),
            stack("[cpu/workers]", "[compute/workers]"),
        ),
        (hurts("cluster-retires", "cluster cpu"), hurts("sessions-limited", "workspace sessions", "compute/workers")),
        given=(
            *SESSIONS,
            stack(
                POLICY,
                "  slipway:teams:\n    search: { submitters: [group:search@acme.example] }\n\n"
                f"  slipway:shares: {{ cpu: {{ search: 4 }} }}\n{POLICY}",
            ),
        ),
        world=BUSY,
        never=("Shares of `compute`",),
    ),
    Case(
        "The reservation that a job sits on is deleted in Compute Engine",
        names=(stops("jobs-lose-reservation", "bought", "reserved-27b", "ben"), stops("resource-deleted", "bought")),
        steps=deletes(RESERVATION_TYPE, "bought", {"name": "bought", "zone": "us-central1-a"}),
        world=SITS,
        accident="a reservation released under a training",
    ),
    Case(
        "A cluster is made in a month, and there is too little quota for it",
        (h100("from: 2026-12-20"),),
        (
            hurts("cluster-retires | cluster-deleted", "h100", "from"),
            hurts("season-awaits-quota", "h100", "not ready", "2026-12-20", "short by 12 (limit 4"),
        ),
        given=(template("lora", '"reservation", "spot")', '"reservation", "spot", "on-demand")'),),
        may=(*MONEY, *OFFERS, "cluster-retires", "cluster-deleted"),
        world=World(
            jobs=(Job("own-27b", capacity_type="on-demand", parameters={"model": "27b"}),),
            limits={"nvidia_h100_gpus": 4},
        ),
        accident="quota that was there when it was planned",
    ),
    Case(
        "A season ended yesterday, as was announced, and nobody used the cluster",
        (QUIET,),
        (tells("cluster-deleted", "h100", "is idle and is deleted", "out of season since 2026-11-20"),),
        may=(*MONEY, *OFFERS),
        given=(h100("until: 2026-11-20"),),
        world=ago(3),
    ),
    Case(
        "A cluster that nobody used for six days is given up, as was announced",
        (QUIET,),
        (tells("cluster-deleted", "h100", "had no job for its `idleLimit`"),),
        may=(*MONEY, *OFFERS),
        given=(h100("idleLimit: 6d"),),
        world=ago(4),
    ),
    Case(
        "A job stays on an old generation for longer than was meant",
        (QUIET,),
        (hurts("cluster-overdue", "h100-", "should be gone by now", "old-27b"),),
        given=(stack("retireWithin: 2w", "retireWithin: 8d"),),
        world=World(
            jobs=(Job("old-27b", user="ben", parameters={"model": "27b"}, earlier=True),),
            earlier=TO_NIGHT_LABELS,
            deployed=3,
        ),
        accident="an old cluster that waited for a forgotten job, and was paid",
    ),
    Case(
        "A busy cluster gets a whole season that has passed",
        (h100("from: 2026-01-01", "until: 2026-02-01"),),
        (stops("cluster-retires", "h100", "is deleted when", "it is out of season since 2026-02-01"),),
        may=(*MONEY, *OFFERS, "season-changed", "jobs-finish-on-old"),
        world=BUSY,
        never=("is wanted from",),
        accident="a season of last year that was copied, and the machines given back",
    ),
    Case(
        "A busy cluster gets an end that has passed for longer than older ones may stay",
        (h100("until: 2026-10-20"),),
        (stops("cluster-retires", "h100", "is deleted when"),),
        may=(*MONEY, *OFFERS, "season-changed", "jobs-finish-on-old"),
        world=BUSY,
        never=("should be gone by now",),
        accident="a date that was meant for the next year",
    ),
    Case(
        "An idle cluster gets an idle limit that has passed: its deletion is told once",
        (h100("idleLimit: 2h"),),
        (
            stops("cluster-retires | cluster-deleted", "h100", "is idle and is deleted"),
            tells("cluster-retires | cluster-deleted", "h100", "idleLimit", "2 h"),
        ),
        may=(*MONEY, *OFFERS),
    ),
    Case(
        "A cluster on which a job runs gets a later season, with another end",
        (stack("from: 2026-01-10\n      until: 2027-03-15", "from: 2026-12-01\n      until: 2027-01-15"),),
        (
            stops("cluster-retires", "h100", "out of season until 2026-12-01", "2027-01-15"),
            hurts("offer-unavailable", "lora", "h100"),
            hurts("quota-short-at-most", "h100", "2026-12-01", "too little quota to grow", "short by 8"),
        ),
        may=(*MONEY, *OFFERS),
        given=(h100("from: 2026-01-10", "until: 2027-03-15"),),
        world=World(jobs=(LARGE,), limits={"nvidia_h100_gpus": 24}),
        never=("takes no new jobs from", "while its machines are there"),
    ),
)
