"""Clusters that are deleted or retire, and jobs that lose what they need."""

from tests.review.case import (
    BUSY,
    ENCRYPTED,
    LARGE,
    QUIET,
    Case,
    Job,
    World,
    blocks,
    h100,
    notes,
    stack,
    template,
    warns,
)
from tests.review.edits import (
    H100_ENTRY,
    MONEY,
    NEAR,
    NOT_ON_THE_POOL,
    OFFERS,
    RESERVATION_TYPE,
    THEIRS,
    TO_NIGHT_LABELS,
    of_cluster,
)
from tests.review.engine import CLUSTER, deletes, deletes_cluster

H100_ADOPTED = THEIRS.replace("theirs", "h100")
NETWORK_TYPE = "gcp:compute/network:Network"
CRYPTO_KEY_TYPE = "gcp:kms/cryptoKey:CryptoKey"
ON_A_NETWORK = h100("network: projects/123/global/networks/train")
FAILED = "    extra: { pools: { workers: { machine: n1-standard-8, replicas: { min: 1, max: 2 } } } }\n"
SITS = World(jobs=(Job("reserved-27b", user="ben", capacity_type="reservation", parameters={"model": "27b"}),))

CASES = (
    Case(
        "Sixteen H100 of the stack's own give way to another team's cluster under their name",
        (stack(H100_ENTRY, H100_ADOPTED), NOT_ON_THE_POOL),
        (blocks("cluster-deleted", "h100"), warns("cluster-orphaned", "h100")),
        may=("offer-unavailable", "no-offer-left", "submission-rejected", "submission-changed"),
        world=NEAR,
    ),
    Case(
        "The network that a busy cluster is attached to is deleted",
        finds=(blocks("job-loses-resource", "train", "tune-27b-x1"), blocks("resource-deleted", "train")),
        steps=deletes(NETWORK_TYPE, "train", {"name": "train"}),
        given=(ON_A_NETWORK,),
        world=BUSY,
    ),
    Case(
        "The key of a busy cluster's disks is deleted",
        finds=(blocks("job-loses-resource", "k", "tune-27b-x1"), blocks("resource-deleted", "k")),
        steps=deletes(CRYPTO_KEY_TYPE, "k", {"name": "k"}),
        given=(ENCRYPTED,),
        world=BUSY,
    ),
    Case(
        "The engine would delete the cluster of the small machines, with a search on it",
        finds=(blocks("jobs-cancelled", "cpu"), blocks("cluster-deleted", "cpu")),
        steps=deletes_cluster("cpu"),
        world=BUSY,
    ),
    Case(
        "A cluster goes in a region that no table has, so that nobody looked there",
        finds=(blocks("cluster-deleted", "h100"),),
        steps=deletes(CLUSTER, "h100-far", {"name": "h100-far", "location": "mars-east1"}),
    ),
    Case(
        "A cluster of small machines is called otherwise, while a job runs on it",
        (stack("    cpu:\n      displayName: cpu of research", "    batch:\n      displayName: batch of research"),),
        (warns("cluster-deleted", "cpu"), warns("submission-changed", "digits"), warns("submission-changed", "tune")),
        world=BUSY,
    ),
    Case(
        "A cluster that is in no catalog is deleted",
        finds=(warns("cluster-deleted", "mine"),),
        steps=deletes(CLUSTER, "mine", {"name": "mine", "project": "acme-ml", "location": "us-central1"}),
        world=World(theirs=("mine",)),
    ),
    Case(
        "The engine replaces the cluster under a running job, for its network",
        finds=(
            blocks("jobs-cancelled", "h100", "tune-27b-x1"),
            blocks("cluster-deleted", "h100"),
            blocks("cluster-updated", "h100"),
        ),
        may=("cluster-replaced", "cluster-rejected", "cluster-updated"),
        steps=of_cluster("h100", "create-replacement", "replace", "delete-replaced"),
        world=BUSY,
    ),
    Case(
        "A cluster that has failed since leaves the stack file",
        (stack(FAILED, ""),),
        (notes("cluster-deleted", "extra"),),
        given=(stack("    cpu:\n", f"{FAILED}    cpu:\n"),),
        world=World(states={"extra": "ERROR"}),
        may=("submission-rejected", "submission-changed", "idle-cost", "most-cost"),
    ),
    Case(
        "The reservation that a job sits on is deleted in Compute Engine",
        finds=(blocks("job-loses-resource", "bought", "reserved-27b"), blocks("resource-deleted", "bought")),
        steps=deletes(RESERVATION_TYPE, "bought", {"name": "bought", "zone": "us-central1-a"}),
        world=SITS,
    ),
    Case(
        "A cluster is made in a month, and there is too little quota for it",
        (h100("from: 2026-12-20"),),
        (blocks("cluster-deleted", "h100"), warns("season-awaits-quota", "h100", "2026-12-20")),
        given=(template("lora", '"reservation", "spot")', '"reservation", "spot", "on-demand")'),),
        may=(*MONEY, *OFFERS, "cluster-deleted"),
        world=World(
            jobs=(Job("own-27b", capacity_type="on-demand", parameters={"model": "27b"}),),
            limits={"nvidia_h100_gpus": 4},
        ),
    ),
    Case(
        "A job stays on an old generation for longer than was meant",
        (QUIET,),
        (notes("cluster-deleted", "h100-3c742f1"),),
        given=(stack("retireWithin: 2w", "retireWithin: 8d"),),
        world=World(
            jobs=(Job("old-27b", user="ben", parameters={"model": "27b"}, earlier=True),),
            earlier=TO_NIGHT_LABELS,
            deployed=3,
        ),
    ),
    Case(
        "A cluster on which a job runs gets a later season, with another end",
        (stack("from: 2026-01-10\n      until: 2027-03-15", "from: 2026-12-01\n      until: 2027-01-15"),),
        (blocks("cluster-deleted", "h100", "2026-12-01"), notes("capacity-changed", "h100", "2026-12-01")),
        may=(*MONEY, *OFFERS),
        given=(h100("from: 2026-01-10", "until: 2027-03-15"),),
        world=World(jobs=(LARGE,), limits={"nvidia_h100_gpus": 24}),
    ),
)
