"""Networks, keys and labels that an edit of a cluster needs or takes away, and pools that a template outgrows."""

from tests.review.case import BUSY, LARGE, Case, Job, World, h100, hurts, silent, stack, stops, tells
from tests.review.cases.clusters import ANEW, WORKERS

KEY = "projects/acme-ml/locations/us-central1/keyRings/r/cryptoKeys"
NETWORK = "network: projects/123456789012/global/networks/training"
PSC = "pscInterface: { networkAttachment: train"
PEERING = "dnsPeeringConfigs: [{ domain: corp.example., targetProject: acme-network, targetNetwork: shared }]"
TWELVE = World(jobs=(Job("digits-night", "digits", "nightly", parameters={"workers": 12}),))
OTHERS = "alternatives: [{ pools: { workers: { machine: a2-highgpu-8g, replicas: 2 } } }]"
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
        "The CPU machines are to reach a file server",
        (stack("      retireWithin: 7d\n", f"      retireWithin: 7d\n      {NETWORK}\n"),),
        (
            hurts(
                "key-unchecked",
                "cluster cpu",
                "unless network `training` is peered",
                "`up` publishes all else and fails",
            ),
            hurts("network-changed", "digits", "training", "those on other machines don't", "`network` too"),
            hurts("network-changed", "tune", "training"),
        ),
        may=ANEW,
        accident="a network that nobody had peered",
    ),
    edited(
        "The cluster moves to another network",
        NETWORK,
        "networks/training",
        "networks/shared",
        "nothing starts in it while jobs run in another network",
        kind="key-unchecked",
        accident="a second network, which the service took only once the first was idle",
    ),
    edited("The cluster leaves the network", NETWORK, f"      {NETWORK}\n", "", "has no `network` any more"),
    edited(
        "A range of addresses is set aside for the cluster",
        NETWORK,
        NETWORK,
        f"{NETWORK}\n      reservedIpRanges: [vertex]",
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
        f"encryption: {{ kmsKey: {KEY}/k }}",
        "cryptoKeys/k }",
        "cryptoKeys/k2 }",
        "the old cluster needs `k` until it is gone",
        kind="key-unchecked",
        accident="an old key disabled while disks still needed it",
    ),
    edited(
        "Without a key of one's own",
        f"encryption: {{ kmsKey: {KEY}/k }}",
        f"      encryption: {{ kmsKey: {KEY}/k }}\n",
        "",
        "has no `encryption.kmsKey` any more",
    ),
    silent("The alternatives of a cluster that is there go", stack(f"      {OTHERS}\n", ""), given=(h100(OTHERS),)),
    Case(
        "An alternative that no template asks for, for a cluster that runs",
        (h100(OTHERS),),
        (
            hurts(
                "cluster-may-become",
                "h100",
                "no template asks for `a2-highgpu-8g`",
                "$67.64/h with nothing running",
                "once made so it stays so",
            ),
        ),
        world=BUSY,
        accident="a fallback that came up and that nobody could use",
    ),
    Case(
        "A pool of a fixed size, below what the nightly run takes",
        (stack(WORKERS, "replicas: 8"),),
        (
            hurts("capacity-lower-maximum", "cpu/workers", "Jobs of `digits` with more than"),
            tells("capacity-raised", "cpu/workers", "always keeps more"),
        ),
        may=ANEW,
        world=TWELVE,
        accident="a pool made smaller than what its nightly run took",
    ),
    Case(
        "The next cluster begins with all its machines",
        (stack("replicas: { min: 2, max: 4 }", "replicas: { min: 2, max: 4, initial: 4 }"),),
        (tells("used-later", "initial", "nothing that runs changes"),),
        world=BUSY,
    ),
    silent("A quarter of an hour is what a deployment waits anyway", h100("createWithin: 15m")),
    silent("The cluster's name is what the console shows anyway", h100("displayName: h100")),
    silent("Jobs name their account anyway", h100("serviceAccount: { custom: true }")),
    silent(
        "Labels in another order",
        stack("labels: { team: platform, cost-center: research }", "labels: { cost-center: research, team: platform }"),
    ),
    silent(
        "Quota is enforced anyway",
        stack("  slipway:quota: { mode: enforce, contactEmail: platform@acme.example }\n\n", ""),
    ),
    Case(
        "Two alternatives, of which one has machines that a template asks for",
        (
            h100(
                "alternatives:",
                "  - pools: { workers: { machine: a2-highgpu-8g, replicas: 2 } }",
                "  - pools: { workers: { machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas: 3 } }",
            ),
        ),
        (hurts("cluster-may-become", "h100", "no template asks for `a2-highgpu-8g`"),),
        world=BUSY,
        never=("paid for machines that run nothing",),
    ),
)
