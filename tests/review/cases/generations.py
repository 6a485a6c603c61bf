"""Edits of a cluster that make another one beside it."""

from tests.review.case import BUSY, ENCRYPTED, LARGE, Case, Edit, Job, World, h100, hurts, stack, stops, tells, template
from tests.review.edits import ALLOW, ANEW, H100, LABELS, LIST, MONEY, OFFERS, POLICY, TRAINING_NETWORK

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
_TUNING = Job("tune-ada", "tune", user="ada", hours=0.4)
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
        "A pool is just large enough for each template, and not for two at once",
        (workers("min: 4, max: 10", "min: 4, max: 7"),),
        (
            hurts("cluster-new-generation", "cpu"),
            hurts("capacity-lower-maximum", "cpu/workers", "beyond 7 machines"),
        ),
        may=ANEW,
        given=(template("digits", "min=1, max=16", "min=1, max=6"), workers("min: 4, max: 16", "min: 4, max: 10")),
    ),
    Case(
        "A cluster is made anew under a job that has hours to go",
        (h100("generation: 2"),),
        (
            hurts("cluster-new-generation", "h100"),
            tells(
                "generations-overlap",
                "h100",
                "the old one is paid too until `tune-27b-x1` (ada) has ended: $202.28/h now",
            ),
        ),
        may=ANEW,
        world=BUSY,
    ),
    Case(
        "Idle pools pass four fifths of the budget",
        (workers("min: 4, max: 16", "min: 8, max: 16"),),
        (hurts("cluster-new-generation", "cpu"),),
        may=ANEW,
        given=(stack(POLICY, "  slipway:budget: { stack: 187500 }\n\n" + POLICY),),
    ),
    Case(
        "Idle pools spend the budget by themselves, and nothing is refused",
        (workers("min: 4, max: 16", "min: 8, max: 16"),),
        (hurts("cluster-new-generation", "cpu"),),
        may=ANEW,
        given=(stack(POLICY, "  slipway:budget: { stack: 150000 }\n\n" + POLICY),),
    ),
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
        "A maximum is raised, and nobody could read what lives and what runs on it",
        (stack(H100, "replicas: { min: 2, max: 6 }"),),
        (
            hurts("cluster-new-generation", "cluster h100", "max"),
            hurts("generations-overlap", "h100"),
        ),
        may=("capacity-found-anew",),
        world=World(jobs=BUSY.jobs, unread=True),
        accident="a preview that saw nothing, taken for nothing",
    ),
    Case(
        "A cluster that failed is to keep fewer machines",
        (stack(H100, "replicas: { min: 1, max: 4 }"),),
        (tells("cluster-new-generation", "cluster h100", "can't be used any more"),),
        may=("idle-cost", "capacity-found-anew", "minimum-below-default", "cluster-created"),
        world=World(states={"h100": "ERROR"}),
        never=("gives back",),
    ),
    Case(
        "Somebody deleted a cluster by hand, and its maximum is raised",
        (stack(H100, "replicas: { min: 2, max: 6 }"),),
        (hurts("cluster-new-generation", "h100", "max"), tells("most-cost", "stack")),
        may=("capacity-found-anew",),
        world=World(gone=("h100",)),
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
        "H100 whose alternative stands are to be as they were asked for, and not another number of them",
        (stack("      alternatives: [{ pools: { workers: { machine: a3-highgpu-8g, replicas: 1 } } }]\n", ""),),
        (
            hurts("cluster-new-generation", "cluster h100", "Edits of `alternatives` make a second"),
            hurts("capacity-found-anew", "h100"),
            hurts("generations-overlap", "h100"),
        ),
        may=(*ANEW, *MONEY, *OFFERS),
        world=World(made_as={"h100": 1}),
        given=(
            stack(
                "      labels: { team: platform, cost-center: research }\n",
                "      alternatives: [{ pools: { workers: { machine: a3-highgpu-8g, replicas: 1 } } }]\n"
                "      labels: { team: platform, cost-center: research }\n",
            ),
        ),
    ),
    Case(
        "H100 that came from another region are gone: they are made again as asked for first",
        (template("lora", 'help="rank of the adapters"', 'help="how large the adapters are"'),),
        (
            hurts(
                "cluster-created | cluster-falls-back | cluster-new-generation",
                "h100",
                "the old one is gone",
            ),
        ),
        may=("capacity-found-anew", "cluster-may-become"),
        world=World(made_as={"h100": 1}, gone=("h100",)),
        given=(LIST, ALLOW),
    ),
    Case(
        "The cluster gets an interface into a network",
        (
            stack(
                "      retireWithin: 7d\n", "      retireWithin: 7d\n      pscInterface: { networkAttachment: train }\n"
            ),
        ),
        (
            hurts("cluster-new-generation", "cpu", "pscInterface"),
            hurts("network-changed", "digits", "train"),
            hurts("network-changed", "tune", "train"),
            hurts("key-unchecked", "cpu", "service agent may use attachment `train`", "an address for each machine"),
        ),
        may=ANEW,
    ),
    Case(
        "A study on a cluster that is made anew: its timeout ends a trial, not the study",
        (stack("displayName: cpu of research", "displayName: CPU machines, research"),),
        (hurts("cluster-new-generation", "cpu"), hurts("generations-overlap", "cpu")),
        may=("capacity-found-anew",),
        never=("their timeout ends that",),
        world=World(jobs=(_TUNING,)),
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
        "The cluster moves to another network",
        TRAINING_NETWORK,
        "networks/training",
        "networks/shared",
        "nothing starts in it while jobs run in another network",
        kind="key-unchecked",
        accident="a second network, which the service took only once the first was idle",
    ),
    edited(
        "The cluster leaves the network",
        TRAINING_NETWORK,
        f"      {TRAINING_NETWORK}\n",
        "",
        "has no `network` any more",
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
        "Names of the company are to be resolved",
        f"{PSC} }}",
        "train }",
        f"train, {PEERING} }}",
        "corp.example.",
        "`roles/dns.peer`",
        kind="key-unchecked",
        accident="a peering of names without the right to it",
    ),
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
    edited(
        "Without a key of one's own",
        f"encryption: {{ kmsKey: {KEYS}/k }}",
        f"      encryption: {{ kmsKey: {KEYS}/k }}\n",
        "",
        "has no `encryption.kmsKey` any more",
    ),
    Case(
        "A pool's maximum falls, where another pool is the narrow one",
        (stack("replicas: { min: 4, max: 16 }", "replicas: { min: 4, max: 12 }"),),
        (
            hurts("cluster-new-generation", "cpu"),
            hurts("capacity-lower-maximum", "cpu/workers", "more than 12 machines"),
        ),
        may=("generations-overlap", "capacity-found-anew"),
        accident="a limit lowered on the wrong pool",
    ),
    Case(
        "A pool is renamed, which makes the cluster anew",
        (stack("        workers: { machine: a3-highgpu-8g", "        gpus: { machine: a3-highgpu-8g"),),
        (
            hurts("cluster-new-generation", "h100", "pools", "gpus"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1"),
        ),
        may=(*ANEW, "machines-changed"),
        world=BUSY,
        accident="a renamed node pool",
    ),
)
