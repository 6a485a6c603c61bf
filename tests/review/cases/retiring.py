"""Clusters that are deleted or retire, and jobs that lose what they need."""

from tests.review.case import (
    BUSY,
    ENCRYPTED,
    LARGE,
    QUIET,
    Case,
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
        "The engine would delete the cluster of the small machines, with a search on it",
        names=(stops("jobs-cancelled", "cpu", "digits-night", "nightly"), stops("cluster-deleted", "cpu")),
        steps=deletes_cluster("cpu"),
        world=BUSY,
        accident="a cluster destroyed by a stale plan",
    ),
    Case(
        "A cluster goes in a region that no table has, so that nobody looked there",
        names=(stops("cluster-deleted", "cluster h100-far", "mars-east1"),),
        steps=deletes(CLUSTER, "h100-far", {"name": "h100-far", "location": "mars-east1"}),
    ),
    Case(
        "A cluster of small machines is called otherwise, while a job runs on it",
        (stack("    cpu:\n      displayName: cpu of research", "    batch:\n      displayName: batch of research"),),
        (hurts("cluster-retires", "cluster cpu", "has ended"),),
        may=(),
        world=BUSY,
    ),
    Case(
        "A cluster that is in no catalog is deleted",
        names=(hurts("cluster-deleted", "cluster mine", "nobody could submit to it"),),
        steps=deletes(CLUSTER, "mine", {"name": "mine", "project": "acme-ml", "location": "us-central1"}),
        world=World(theirs=("mine",)),
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
