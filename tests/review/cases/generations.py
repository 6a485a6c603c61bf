"""Edits of a cluster that make another one beside it."""

from tests.review.case import BUSY, LARGE, Case, Edit, World, h100, notes, stack, template, warns
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
MAY = ("submission-changed",)


def edited(says: str, given: str, old: str, new: str) -> Case:
    """Return an edit of a line of the entry of the H100 cluster, on which a job runs."""
    told = (warns("cluster-replaced", "h100", "tune-27b-x1"),)
    return Case(says, (stack(old, new),), told, given=(h100(given),), world=World(jobs=(LARGE,)), may=MAY)


CASES = (
    Case(
        "Names of another network are to be resolved",
        (stack(PEERED, f"{PEERED}{NAMES}"),),
        (warns("cluster-replaced", "cpu"),),
        may=ANEW,
        given=(stack("      retireWithin: 7d\n", f"      retireWithin: 7d\n{PEERED}"),),
    ),
    Case(
        "A pool's maximum is raised, which Vertex AI can't do in place: a second cluster beside the busy one",
        (stack(H100, "replicas: { min: 2, max: 6 }"),),
        (warns("cluster-replaced", "h100", "tune-27b-x1"), notes("most-cost", "stack")),
        world=BUSY,
    ),
    Case(
        "A maximum is raised, and nobody could read what lives and what runs on it",
        (stack(H100, "replicas: { min: 2, max: 6 }"),),
        (warns("cluster-replaced", "h100"),),
        may=("cluster-replaced",),
        world=World(jobs=BUSY.jobs, unread=True),
    ),
    Case(
        "H100 that came from another region are to be at home again, while a job runs on them",
        (stack(LISTED, ""),),
        (warns("cluster-replaced", "h100", "tune-27b-x1"), warns("submission-changed", "lora")),
        world=World(jobs=(LARGE,), made_as={"h100": 1}),
        given=(LIST, ALLOW),
    ),
    Case(
        "H100 that came from another region are gone: they are made again as asked for first",
        (template("lora", 'help="rank of the adapters"', 'help="how large the adapters are"'),),
        (warns("cluster-replaced", "h100"), warns("submission-changed", "lora")),
        may=("cluster-replaced", "capacity-changed"),
        world=World(made_as={"h100": 1}, gone=("h100",)),
        given=(LIST, ALLOW),
    ),
    Case(
        "A pool's new name makes a second cluster, which can't grow beside the first",
        (stack("        head: {", "        scheduler: {"),),
        (warns("cluster-replaced", "cpu"), warns("submission-changed", "digits")),
        may=ANEW,
        world=World(jobs=BUSY.jobs, limits={"cpus": 160}),
    ),
    edited(
        "A range of addresses is set aside for the cluster",
        TRAINING_NETWORK,
        TRAINING_NETWORK,
        f"{TRAINING_NETWORK}\n      reservedIpRanges: [vertex]",
    ),
    edited("Another attachment", f"{PSC} }}", "train }", "learn }"),
    edited("No attachment any more", f"{PSC} }}", f"      {PSC} }}\n", ""),
    edited("No names any more", f"{PSC}, {PEERING} }}", f"train, {PEERING} }}", "train }"),
    edited("The key is rotated by hand", f"encryption: {{ kmsKey: {KEYS}/k }}", "cryptoKeys/k }", "cryptoKeys/k2 }"),
)
