"""Edits of a cluster that make another one beside it."""

from tests.review.case import BUSY, LARGE, Case, Edit, World, h100, hurts, stack, stops, tells, template
from tests.review.edits import ALLOW, ANEW, H100, LIST, TRAINING_NETWORK

PEERED = """      pscInterface:
        networkAttachment: train
"""
NAMES = """        dnsPeeringConfigs:
          - { domain: corp., targetProject: net, targetNetwork: shared }
"""


def workers(old: str, new: str) -> Edit:
    """Return an edit of the size of the pool of CPU workers."""
    start = "disk: { type: pd-ssd, sizeGb: 100 }, replicas: { "
    return stack(f"{start}{old}", f"{start}{new}")


LISTED = "      alternatives: [{ region: us-east4 }]\n"
KEYS = "projects/acme-ml/locations/us-central1/keyRings/r/cryptoKeys"
PSC = "pscInterface: { networkAttachment: train"
PEERING = "dnsPeeringConfigs: [{ domain: corp.example., targetProject: acme-network, targetNetwork: shared }]"
MAY = (*ANEW, "network-changed", "encryption-changed")


def edited(
    says: str, given: str, old: str, new: str, *words: str, kind: str = "cluster-edited", accident: str = ""
) -> Case:
    """Return an edit of a line of the entry of the H100 cluster, on which a job runs: for that alone nobody should pay
    two of them."""
    wasted, told = stops("cluster-new-generation", "cluster h100"), hurts(kind, "cluster h100", *words)
    world, deployed = World(jobs=(LARGE,)), (h100(given),)
    return Case(says, (stack(old, new),), (wasted, told), given=deployed, world=world, may=MAY, accident=accident)


CASES = (
    Case(
        "Names of another network are to be resolved",
        (stack(PEERED, f"{PEERED}{NAMES}"),),
        (
            hurts("cluster-new-generation", "cpu"),
            hurts("key-unchecked", "cpu", "roles/dns.peer"),
            hurts("network-changed", "digits names of corp.", "in another network too"),
            hurts("network-changed", "tune names of corp."),
        ),
        may=ANEW,
        given=(stack("      retireWithin: 7d\n", f"      retireWithin: 7d\n{PEERED}"),),
    ),
    Case(
        "A pool's maximum is raised, which Vertex AI can't do in place: a second cluster beside the busy one",
        (stack(H100, "replicas: { min: 2, max: 6 }"),),
        (
            hurts("cluster-new-generation", "cluster h100", "max"),
            hurts("capacity-found-anew", "h100"),
            hurts("generations-overlap", "h100", "$202.28/h"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1", "ada", "3 h 12 min"),
            tells("capacity-raised", "h100/workers", "2–4 a3-highgpu-8g` → `2–6 a3-highgpu-8g"),
            tells("most-cost", "stack", "→"),
        ),
        world=BUSY,
    ),
    Case(
        "A maximum is raised, and nobody could read what lives and what runs on it",
        (stack(H100, "replicas: { min: 2, max: 6 }"),),
        (hurts("cluster-new-generation", "cluster h100", "max"), hurts("generations-overlap", "h100")),
        may=("capacity-found-anew",),
        world=World(jobs=BUSY.jobs, unread=True),
        accident="a preview that saw nothing, taken for nothing",
    ),
    Case(
        "H100 that came from another region are to be at home again, while a job runs on them",
        (stack(LISTED, ""),),
        (
            hurts("cluster-new-generation", "cluster h100", "us-east4", "us-central1"),
            hurts("capacity-found-anew", "h100"),
            hurts("generations-overlap", "h100", "$202.31/h now"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1"),
            tells("jobs-finish-on-old", "acme-work-us-east4", "tune-27b-x1"),
        ),
        world=World(jobs=(LARGE,), made_as={"h100": 1}),
        given=(LIST, ALLOW),
    ),
    Case(
        "H100 that came from another region are gone: they are made again as asked for first",
        (template("lora", 'help="rank of the adapters"', 'help="how large the adapters are"'),),
        (hurts("cluster-created | cluster-falls-back | cluster-new-generation", "h100", "the old one is gone"),),
        may=("capacity-found-anew", "cluster-may-become"),
        world=World(made_as={"h100": 1}, gone=("h100",)),
        given=(LIST, ALLOW),
    ),
    Case(
        "A pool's new name makes a second cluster, which can't grow beside the first",
        (stack("        head: {", "        scheduler: {"),),
        (
            hurts("cluster-new-generation", "cpu"),
            hurts("quota-short-at-most", "beside old", "can't grow to its maximum beside older clusters"),
        ),
        may=ANEW,
        world=World(jobs=BUSY.jobs, limits={"cpus": 160}),
    ),
    edited(
        "A range of addresses is set aside for the cluster",
        TRAINING_NETWORK,
        TRAINING_NETWORK,
        f"{TRAINING_NETWORK}\n      reservedIpRanges: [vertex]",
        "`vertex` is a range of its network with room",
        kind="key-unchecked",
        accident="a range of addresses that was used up",
    ),
    edited("Another attachment", f"{PSC} }}", "train }", "learn }", "what only `train` reaches", kind="key-unchecked"),
    edited("No attachment any more", f"{PSC} }}", f"      {PSC} }}\n", "", "which was `train`"),
    edited(
        "No names any more",
        f"{PSC}, {PEERING} }}",
        f"train, {PEERING} }}",
        "train }",
        "has no `pscInterface.dnsPeeringConfigs`",
    ),
    edited(
        "The key is rotated by hand",
        f"encryption: {{ kmsKey: {KEYS}/k }}",
        "cryptoKeys/k }",
        "cryptoKeys/k2 }",
        "keep `k` enabled: what was made with it needs it",
        kind="key-unchecked",
        accident="an old key disabled while disks still needed it",
    ),
)
