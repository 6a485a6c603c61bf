"""Edits that affect each other: dates, reservations, limits, quota of several clusters, shapes and teams."""

from tests.review.case import Case, Edit, Job, World, blocks, h100, imports, more, notes, stack, template, warns
from tests.review.edits import ANEW, MONEY, OFFERS, SEVERAL, WITH_BOTH, h100_limit

POLICY, WORKSPACE, CPU = "  slipway:policy:\n", "  slipway:workspace:\n", "    cpu:\n"
BOUGHT = "reservations/bought, machine: a3-highgpu-8g, machines: 2"
ENDS = (stack(BOUGHT, f"{BOUGHT}, until: 2026-12-10"),)
LEAVES_IT = (
    template("lora", '("pool", "reservation", "spot")', '("pool", "spot")'),
    template("lora", '                    reservation="bought",\n', ""),
)
REPLICAS = "replicas: { min: 2, max: 4 }"
IN_DECEMBER = (stack("    h100:\n", "    h100:\n      from: 2026-12-20\n"),)
LARGE = "machines: { small: n1-standard-16 }"
A3 = '"a3-highgpu-8g",\n                    Disk("pd-ssd", 500)'
A3_SHAPE = 'Shape((WorkerPool("tuner", "a3-highgpu-8g", Disk("pd-ssd", 500), args=ARGS),), ("pool", "spot"))'
BIG_TYPES = '("pool", "reservation", "spot")'
MODEL_27B = Job("tune-27b-x1", parameters={"model": "27b"})
RENAMED = stack("    h100:\n", "    big:\n")


def budget(text: str) -> Edit:
    return stack(POLICY, f"  slipway:budget: {{ {text} }}\n{POLICY}")


def mandatory(rule: str) -> Edit:
    return stack("    mandatory:\n", f"    mandatory:\n      {rule}\n")


def cluster(name: str, machine: str, replicas: str) -> Edit:
    disk = "disk: { type: pd-ssd, sizeGb: 500 }"
    pool = f"        workers: {{ machine: {machine}, {disk}, replicas: {replicas} }}\n"
    return stack(CPU, f"    {name}:\n      pools:\n{pool}{CPU}")


def vision(has: str) -> str:
    return f"  slipway:teams: {{ vision: {{ submitters: [group:vision@acme.example], {has} }} }}\n"


CASES = (
    Case(
        "An idle limit is shorter beside a reservation that ends",
        (stack("idleLimit: 2d", "idleLimit: 1d"),),
        (warns("capacity-changed", "h100"),),
        given=(*ENDS, h100("idleLimit: 2d")),
        world=World(jobs=(MODEL_27B,)),
    ),
    Case(
        "A run costs more than what is sent without a confirmation",
        (template("evals", "n1-standard-8", "n1-standard-16"),),
        (warns("submission-changed", "evals"),),
        given=(stack(WORKSPACE, f"{WORKSPACE}    confirmAbove: 0.3\n"),),
    ),
    Case(
        "A template leaves a reservation that ends by itself",
        LEAVES_IT,
        (warns("submission-rejected | submission-changed", "lora"),),
        may=("stack-warning",),
        given=ENDS,
    ),
    Case(
        "A template leaves a reservation that has ended",
        LEAVES_IT,
        absent=("stack-warning",),
        may=("submission-changed", "submission-rejected"),
        given=(stack(BOUGHT, f"{BOUGHT}, until: 2026-11-10"),),
    ),
    Case(
        "A limit of nothing rejects from now on",
        (stack("enforce: false", "enforce: true"),),
        (),
        given=(budget("teams: { ml: 0 }, enforce: false"),),
    ),
    Case(
        "A limit that rejected goes as another one comes that only warns",
        (stack("stack: 500000, enforce: true", "teams: { ml: 5 }, enforce: false"),),
        (blocks("allowance-loosened", "budget"),),
        given=(budget("stack: 500000, enforce: true"),),
        may=("allowance-tightened",),
    ),
    Case(
        "A strict check where `mode: warn` rejects nothing",
        (stack("mode: warn,", "mode: warn, strict: true,"),),
        given=(stack("mode: enforce", "mode: warn"),),
    ),
    Case(
        "A cluster gets another name, which makes a second one without quota for both",
        (RENAMED,),
        (blocks("quota-short-now", "nvidia_h100_gpus"), blocks("cluster-deleted", "h100", "tune-27b-x1")),
        may=("submission-changed",),
        world=h100_limit(24, MODEL_27B),
    ),
    Case(
        "An earlier generation of another cluster holds the quota",
        (cluster("more", "a3-highgpu-8g", "2"),),
        (blocks("quota-short-now", "nvidia_h100_gpus"), notes("cluster-created", "more")),
        may=(*MONEY, "quota-short-at-most", "submission-changed"),
        world=World(
            jobs=(Job("old", parameters={"model": "27b"}, earlier=True),),
            limits={"nvidia_h100_gpus": 48},
            earlier=(stack(REPLICAS, "replicas: { min: 3, max: 4 }"),),
        ),
    ),
    Case(
        "Quota is too small for a new cluster that the old one makes room for",
        (stack("replacement: rollover", "replacement: in-place"), stack(REPLICAS, "replicas: { min: 3, max: 4 }")),
        (blocks("quota-short-now", "nvidia_h100_gpus"), blocks("cluster-replaced", "h100", "tune-27b-x1")),
        may=(*ANEW, *MONEY, "quota-short-at-most", "takes-effect-later", "cluster-rejected"),
        world=h100_limit(16, MODEL_27B),
    ),
    Case(
        "Of two quotas of a pool one can't be raised",
        (stack("min: 2, max: 4", "min: 2, max: 6"),),
        (warns("quota-short-at-most", ""), warns("cluster-replaced", "h100")),
        may=MONEY,
        world=World(
            limits={"nvidia_h100_gpus": 32, "a3_cpus": 832},
            increase={"a3_cpus": "no increase: Google has fixed it, so it can't be raised"},
        ),
    ),
    Case(
        "A coming season lacks as much at most, and no longer at once",
        (stack(REPLICAS, "replicas: { min: 1, max: 4 }"),),
        finds=(warns("takes-effect-later", "h100"),),
        absent=("quota-short-at-most",),
        may=("capacity-changed",),
        given=IN_DECEMBER,
        world=h100_limit(8),
    ),
    Case(
        "A template takes a reservation that is new, and too small for its largest jobs",
        (
            template("digits", '"${workers}"', '"${workers}", reservation="small"'),
            template("digits", '("pool", ', '("reservation", "pool", '),
            stack(
                BOUGHT,
                f"{BOUGHT} }}\n    small: {{ path: "
                "projects/acme-ml/zones/us-central1-a/reservations/small, machine: n1-standard-8, machines: 8",
            ),
        ),
        absent=("submission-rejected",),
        may=("submission-changed", "submission-warning"),
    ),
    Case(
        "One of two runs that grow has quota still",
        (template("digits", "default=4", "default=6"), template("evals", "n1-standard-8", "n1-standard-16")),
        (warns("quota-short-at-most"), warns("submission-changed", "evals"), warns("offer-unavailable", "digits")),
        may=("submission-changed",),
        given=(template("lora", BIG_TYPES, '("pool", "reservation")'),),
        world=World(limits={"preemptible_cpus": 40}),
    ),
    Case(
        "Two new clusters can't grow to their maximum together with a third",
        (
            cluster("more", "a3-highgpu-8g", "{ min: 1, max: 3 }"),
            cluster("most", "a3-highgpu-8g", "{ min: 1, max: 3 }"),
        ),
        (warns("quota-short-at-most", "nvidia_h100_gpus"), notes("cluster-created", "most")),
        may=(*MONEY, "submission-changed"),
        world=h100_limit(32),
    ),
    Case(
        "Two clusters that do not exist now get other pools, and a third is created",
        (stack(REPLICAS, "replicas: { min: 1, max: 2 }"), cluster("more", "n1-standard-8", "1")),
        (warns("takes-effect-later", "h100"), notes("cluster-created", "more")),
        may=("capacity-changed", "submission-changed", *MONEY, "stack-warning"),
        given=IN_DECEMBER,
    ),
    Case(
        "A cluster that comes next month may grow further",
        (stack(REPLICAS, "replicas: { min: 2, max: 5 }"),),
        (warns("takes-effect-later", "h100"),),
        may=("capacity-changed", "submission-changed", "stack-warning", "offer-unavailable"),
        given=IN_DECEMBER,
    ),
    Case(
        "Fewer machines are allowed, by other patterns",
        (stack('machines: ["*"]', 'machines: ["n1-*", "a*"]'),),
        given=(mandatory('machines: ["*"]'),),
        absent=("policy-loosened",),
    ),
    Case(
        "Fewer labels are required",
        (stack("labels: [team, cost-center]\n    adv", "labels: [team]\n    adv"),),
        (blocks("policy-loosened", "labels"),),
        given=(stack("    advisory:\n", "      labels: [team, cost-center]\n    advisory:\n"),),
    ),
    Case(
        "Of a rule that is there twice one stays and warns",
        (stack("      idleCost: 210\n", ""),),
        (blocks("policy-loosened", "idleCost"),),
        may=("policy-advice",),
        given=(mandatory("idleCost: 210"), stack("    advisory:\n", "    advisory:\n      idleCost: 150\n")),
    ),
    Case(
        "A rule rejects from a higher value on than it warned of",
        (mandatory("longestTimeout: 100"), stack("    advisory:\n      longestTimeout: 48\n", "")),
        may=("policy-loosened",),
    ),
    Case(
        "The capacity types of a later shape change their order",
        (template("lora", SEVERAL, SEVERAL.replace('"spot", "on-demand"', '"on-demand", "spot"')),),
        (warns("submission-changed", "lora"),),
        given=WITH_BOTH,
    ),
    Case(
        "Machines of one variant have no shape that stands for them",
        (template("lora", A3, A3.replace("a3-highgpu-8g", "a2-highgpu-4g")),),
        (warns("offer-unavailable | submission-changed | submission-rejected", "lora"),),
        may=("stack-warning", *OFFERS),
        given=(imports("lora", "Shape"), more("lora", f"shapes=({A3_SHAPE},)")),
    ),
    Case(
        "Another name takes a cluster to a team that has it alone",
        (RENAMED, stack(POLICY, f"{vision('clusters: [big]')}{POLICY}")),
        (warns("submission-changed", "lora"), blocks("cluster-deleted", "h100"), warns("access-gained", "workspace")),
        may=("access-lost", "access-gained"),
    ),
    Case(
        "A new default chooses machines that get another capacity type",
        (
            template("lora", 'default="9b"', 'default="27b"'),
            template("lora", BIG_TYPES, '("pool", "reservation", "spot", "flex-start")'),
        ),
        (warns("submission-changed", "lora"), warns("submission-rejected", "lora")),
    ),
    Case(
        "A team goes whose label and machines a template has",
        (stack(vision(LARGE), ""),),
        (warns("submission-changed", "evals"), warns("access-lost", "workspace", "vision@acme.example")),
        given=(
            stack("  slipway:quota", "  slipway:machines: { small: n1-standard-8 }\n  slipway:quota"),
            stack(POLICY, f"{vision(LARGE)}{POLICY}"),
            template("evals", '"n1-standard-8"', '"small"'),
            more("evals", 'labels={"team": "vision"}'),
        ),
    ),
)
