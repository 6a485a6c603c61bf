"""Capacity types, regions and shapes that a template gains or loses."""

from dataclasses import replace

from tests.review.case import BUSY, STACK, Case, Edit, Job, World, hurts, imports, more, stack, stops, tells, template
from tests.review.edits import (
    ALLOWED,
    H100_ENTRY,
    IN_BOTH,
    LARGER_SHAPE,
    NIGHT_JOB,
    NIGHTLY,
    NOT_ON_THE_POOL,
    OTHER_REGIONS,
    PIPELINE,
    POLICY,
    RESERVED,
    SEVERAL,
    SPOT_ALONE,
    TEAMS,
    TYPES,
    VISION,
    WITH_BOTH,
    counts,
)

A100 = (
    template("evals", '("spot", "on-demand")', '("spot", "flex-start", "on-demand")'),
    template("evals", '"n1-standard-8"', '"a2-highgpu-1g"'),
)
_VARIANTS = (
    'variants=(Variant({"suite": "full"}, (WorkerPool("judge", "n1-standard-16", Disk("pd-ssd", 100)),), '
    '("on-demand",)),)'
)
BARE = SPOT_ALONE.replace("g2-standard-24", "n1-standard-96")
BIG = (
    "    big:\n      pools:\n        workers:\n          machine: n1-standard-16\n"
    "          disk: { type: pd-ssd, sizeGb: 100 }\n          replicas: { min: 1, max: 4 }\n"
)
DEAR = LARGER_SHAPE.replace("ARGS),)", 'ARGS),), ("on-demand",)')
ON_DEMAND = ('("spot", "flex-start", "on-demand")', '("spot", "flex-start")')
TWO_RESERVED = template(
    "lora",
    '                    reservation="bought",\n                ),\n',
    '                    reservation="bought",\n                ),\n                WorkerPool("helper", '
    '"a3-highgpu-8g", Disk("pd-ssd", 500), args=ARGS, reservation="bought"),\n',
)
HELPERS = '        Parameter("helpers", int, default=1, min=1, max=3, help="machines that help"),\n'
IN_ASIA_TOO = tuple(
    replace(each, new=str(each.new).replace("us-east4", "us-east4, asia-south2")) for each in (OTHER_REGIONS, ALLOWED)
)

CASES = (
    Case(
        "Jobs leave machines of their own for the cluster of a team for which a new label has them count",
        (template("tune", '("spot",)', '("pool",)'), counts("tune", "search")),
        (hurts("offer-gone", "tune spot", "(team `search` alone)"), tells("offer-added", "tune pool", "can use pool")),
        given=(*TEAMS, more("tune", 'capacity_types=("spot",)')),
        may=("request-changed", "run-cost"),
        never=("can't submit", "can also use"),
        accident="a night's runs that waited behind another team's",
    ),
    Case(
        "Another cluster of such machines is made, of which no template's file says a word",
        (stack("    cpu:\n", BIG.replace("big", "more").replace("n1-standard-16", "n1-standard-8") + "    cpu:\n"),),
        (tells("offer-added", "tune", "can use pool `more`"),),
        may=("idle-cost", "most-cost", "cluster-created"),
        never=("capacity_types",),
    ),
    Case(
        "The first machine becomes a larger one, and another shape comes behind it",
        (
            template("lora", '"a2-highgpu-1g"', '"a2-highgpu-8g"'),
            *(imports("lora", "Shape"), more("lora", f"shapes=({LARGER_SHAPE},)")),
        ),
        (
            hurts("machines-changed", "lora", "(model=9b) ask for `a2-highgpu-8g` instead of `a2-highgpu-1g`"),
            tells("offer-added", "lora shape a2-ultragpu-1g"),
        ),
        may=("run-cost", "quota-short-at-most"),
        never=("can't use Spot any more", "can also use Spot"),
        accident="a bill of eight times the usual, from a machine of first resort",
    ),
    Case(
        "A shape goes for which there is no quota",
        (template("lora", f"({LARGER_SHAPE}, {SEVERAL})", f"({SEVERAL},)"),),
        (tells("offer-gone", "lora shape a2-ultragpu-1g", "are not offered `a2-ultragpu-1g` any more"),),
        given=WITH_BOTH,
        world=World(limits={"preemptible_nvidia_a100_80gb_gpus": 0, "nvidia_a100_80gb_gpus": 0}),
        never=("can't run on `a2-ultragpu-1g`",),
    ),
    Case(
        "A pipeline's task needs more memory than everybody's machines have, and a team's alone suffice",
        (Edit(PIPELINE[0].file, '"memoryLimit": 8.0', '"memoryLimit": 64.0'),),
        (
            hurts("offer-gone", "train", "can't use pool `cpu` any more", f"`{NIGHTLY}` can't submit `train` any more"),
            hurts("request-changed", "train", "another version"),
        ),
        given=(
            *PIPELINE,
            template("train", '("on-demand",)', '("pool",)'),
            stack(POLICY, VISION.replace("[cpu]", "[h100]") + POLICY),
        ),
        never=("e2-", "machines of tasks"),
        accident="a nightly run that nobody could send any more",
    ),
    Case(
        "Another way to run, for which there is no quota yet",
        A100[:1],
        (hurts("offer-added", "evals", "there is too little quota for it"),),
        may=("quota-short-at-most",),
        given=A100[1:],
        world=World(limits={"preemptible_nvidia_a100_gpus": 0}),
    ),
    Case(
        "Somebody deleted a cluster by hand, and now its entry goes as well",
        (Edit(STACK, H100_ENTRY, ""), NOT_ON_THE_POOL),
        (tells("cluster-deleted", "h100", "is given up: it is gone already"), hurts("offer-gone", "lora", "27b")),
        may=("run-cost",),
        world=World(gone=("h100",)),
    ),
    Case(
        "Jobs need larger machines, which another team's cluster alone has",
        (template("tune", '"n1-standard-8"', '"n1-standard-16"'),),
        (hurts("offer-gone", "tune", "the next way costs $"), hurts("machines-changed", "tune")),
        given=(
            stack("    cpu:\n", f"{BIG}    cpu:\n"),
            *TEAMS,
            stack("clusters: [cpu]", "clusters: [big]"),
            counts("tune", "demand"),
            more("tune", 'capacity_types=("pool", "on-demand")'),
        ),
        may=("run-cost",),
        never=("nothing more on pool `big`",),
        accident="a night's runs on paid machines, told as free",
    ),
    Case(
        "The smaller case goes to Spot alone, for which there is no quota",
        (template("evals", _VARIANTS, _VARIANTS.replace("on-demand", "spot")),),
        (stops("offer-gone", "evals on-demand (suite=full)", "nor run now"),),
        given=(imports("evals", "Variant"), more("evals", _VARIANTS)),
        world=World(
            jobs=(Job("evals-full", "evals", capacity_type="on-demand", parameters={"suite": "full"}),),
            limits={"preemptible_cpus": 8},
        ),
        may=("offer-added",),
        accident="a variant that was to be cheap, and ran nowhere",
    ),
    Case(
        "Spot machines are not taken any more at all",
        (
            template("lora", '("spot", "flex-start", "on-demand")', '("on-demand",)'),
            template("lora", '    waits={"flex-start": 7200},\n', ""),
        ),
        (
            hurts("offer-gone", "lora", "spot"),
            hurts("offer-gone", "lora", "flex-start"),
            hurts("run-cost", "template lora", "→"),
        ),
        world=BUSY,
        accident="Spot turned into on-demand",
    ),
    Case(
        "Spot, which somebody took behind the pool, is not taken any more, and nothing else is left",
        (template("digits", '("pool", "spot")', '("pool",)'), template("digits", "    waits={'pool': 3600},\n", "")),
        (stops("offer-gone", "digits spot", "jobs that find no room by earlier ways have no other", "by ada"),),
        world=World(jobs=(Job("digits-x", "digits", capacity_type="spot", state="SUCCEEDED", hours=50),)),
        given=(
            template("digits", '("pool", "spot", "on-demand")', '("pool", "spot")'),
            template("digits", "    timeout_s=3600,\n", "    waits={'pool': 3600},\n    timeout_s=3600,\n"),
        ),
    ),
    Case(
        "A reservation of a planned week is listed with its dates, a week before",
        (stack("machines: 2 }", "machines: 2, from: 2026-12-01, until: 2026-12-08 }"),),
        (hurts("offer-unavailable", "lora", "bought begins on 2026-12-01"), hurts("reservation-dates", "bought")),
        world=World(jobs=(RESERVED,)),
    ),
    Case(
        "A template names a reservation no more, which ended days ago",
        (
            template("lora", '("pool", "reservation", "spot")', '("pool", "spot")'),
            template("lora", '                    reservation="bought",\n', ""),
        ),
        (tells("offer-gone", "lora reservation", "not offered the reservation any more"),),
        given=(stack("machines: 2 }", "machines: 2, until: 2026-11-10 }"),),
        never=("stays paid", "can't use the reservation"),
    ),
    Case(
        "Spot goes behind a reservation of everybody's, and one of nearly its name has dates",
        (template("lora", '("pool", "reservation", "spot")', '("pool", "reservation")'),),
        (hurts("offer-gone", "lora spot", "jobs that find no room by earlier ways have no other"),),
        given=(
            stack("reservations/bought, machine", "reservations/bought-more, machine"),
            stack(
                "  slipway:reservations:\n",
                "  slipway:reservations:\n    dated: { path: projects/acme-ml/zones/us-central1-a/reservations/bought, "
                "machine: a3-highgpu-8g, machines: 1, from: 2027-01-11 }\n",
            ),
        ),
        never=("2027-01-11 alone",),
        accident="a fallback that was thought to come months later",
    ),
    Case(
        "Spot goes behind a reservation that has dates",
        (template("lora", '("pool", "reservation", "spot")', '("pool", "reservation")'),),
        (hurts("offer-gone", "lora spot", "jobs that find no room by earlier ways have no other"),),
        given=(
            stack("machines: 2 }", "machines: 2, from: 2027-01-11, until: 2027-02-01 }"),
            template("lora", 'waits={"flex-start"', 'waits={"pool": 3600, "flex-start"'),
        ),
        accident="jobs that waited for a full pool without end",
    ),
    Case(
        "The end of a reservation is put before today, while a job sits on it",
        (stack("until: 2027-01-10", "until: 2026-11-10"),),
        (hurts("offer-unavailable", "lora", "bought ended on 2026-11-10"), hurts("reservation-dates", "bought")),
        given=(stack("machines: 2 }", "machines: 2, until: 2027-01-10 }"),),
        world=World(jobs=(RESERVED,)),
        accident="a week's machines that nobody could use, for a month typed wrong",
    ),
    Case(
        "Jobs do not run on the cluster any more",
        (template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")'),),
        (hurts("offer-gone", "digits", "pool"), hurts("pool-unused", "cpu/head")),
        may=("run-cost", "offer-order"),
        world=BUSY,
    ),
    Case(
        "Another capacity type is offered in addition",
        (template("evals", '("spot", "on-demand")', '("spot", "on-demand", "pool")'),),
        (tells("offer-added", "evals", "pool"),),
    ),
    Case(
        "A pool that keeps fewer machines than a usual job takes: its growth is paid",
        (template("digits", '("spot", "on-demand")', '("pool", "spot", "on-demand")'),),
        (hurts("offer-added", "digits", "only what pool `cpu` grows by"),),
        may=("minimum-below-default", "run-cost"),
        never=("nothing more",),
        given=(
            template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")'),
            template("digits", "default=4, min=1, max=16", "default=8, min=1, max=16"),
        ),
        accident="jobs that were thought to be free",
    ),
    Case(
        "Jobs leave Spot, where none of them could start",
        (template("digits", '("pool", "spot", "on-demand")', '("pool", "on-demand")'),),
        (tells("offer-gone", "digits", "are not offered Spot any more"),),
        world=World(limits={"preemptible_cpus": 1}),
        never=("can't use Spot any more",),
    ),
    Case(
        "A template tries a team's cluster first",
        (template("evals", '("spot", "on-demand")', '("pool", "spot", "on-demand")'),),
        (hurts("offer-added", "evals pool cpu", "(team `vision` alone)"),),
        may=("run-cost",),
        given=(stack(POLICY, VISION + POLICY),),
    ),
    Case(
        "A reservation is given back but for one machine, and jobs of two take the next way",
        (stack("machine: a3-highgpu-8g, machines: 2", "machine: a3-highgpu-8g, machines: 1"),),
        (
            stops("offer-unavailable", "lora", "(model=27b)", "it lacks what a usual job takes", "on Spot"),
            tells("used-later", "", "2 → 1"),
        ),
        given=(TWO_RESERVED,),
        accident="jobs on Spot while a reservation was paid",
    ),
    Case(
        "A reservation is given back but for two machines, and a month sooner: larger jobs lose it first",
        (stack("machines: 4, until: 2027-03-01 }", "machines: 2, until: 2027-02-01 }"),),
        (
            hurts("offer-gone", "lora", "of more than 2 machines can't use reservation `bought` any more"),
            hurts("reservation-dates", "bought", "until 2027-02-01", "no submission of `lora` takes its machines"),
            tells("used-later", "", "4 → 2"),
        ),
        given=(
            replace(TWO_RESERVED, new=str(TWO_RESERVED.new).replace("500), args", '500), replicas="${helpers}", args')),
            template("lora", "    ),\n    capacity_types", f"{HELPERS}    ),\n    capacity_types"),
            stack("machines: 2 }", "machines: 4, until: 2027-03-01 }"),
        ),
        never=("stays paid",),
        accident="jobs on Spot while a reservation was paid",
    ),
    Case(
        "A reservation of the coming month has too few machines for a usual job of its template",
        (stack("machines: 2, from", "machines: 1, from"),),
        (
            stops("offer-gone", "lora", "it holds 1", "too few for one such job"),
            tells("used-later", "", "2 → 1"),
        ),
        given=(TWO_RESERVED, stack("machines: 2 }", "machines: 2, from: 2026-12-01, until: 2026-12-08 }")),
    ),
    Case(
        "Of a reservation fewer machines come, and they go earlier",
        (stack("machines: 2, until: 2027-01-10", "machines: 1, until: 2027-01-03"),),
        (
            stops("offer-unavailable", "lora", "it lacks what a usual job takes"),
            hurts(
                "reservation-dates",
                "bought",
                "no submission of `lora` takes its machines",
                "until 2027-01-03, not until 2027-01-10",
            ),
        ),
        given=(TWO_RESERVED, stack("machines: 2 }", "machines: 2, until: 2027-01-10 }")),
        world=World(jobs=(RESERVED,)),
        never=("takes new jobs",),
        accident="reserved instances left paid",
    ),
    Case(
        "Of a template with a machine for each size Spot goes",
        (template("evals", 'capacity_types=("spot", "on-demand")', 'capacity_types=("on-demand",)'),),
        (hurts("offer-gone", "evals spot", "(suite=full) can't use Spot", "$0.90/h on demand"),),
        given=(
            imports("evals", "Variant"),
            template("evals", 'choices=("core", "full")', 'choices=("core", "full", "long", "all")'),
            more(
                "evals",
                "variants=tuple(Variant({'suite': suite}, (WorkerPool('judge', machine, Disk('pd-ssd', 100)),)) "
                "for suite, machine in (('full', 'n1-standard-16'), ('long', 'n1-standard-32')))",
            ),
        ),
        may=("run-cost", "arguments-changed"),
    ),
    Case(
        "A template's jobs may have machines in other regions",
        (
            replace(IN_BOTH, new=str(IN_BOTH.new).replace('"us-east4"', '"us-east4", "asia-south2"')),
            more("evals", 'regions=("us-east4",)'),
        ),
        (
            tells(
                "offer-added",
                "lora regions",
                "in us-east4 or europe-west4, where us-central1 has none",
                "billed by the gigabyte",
            ),
        ),
        given=(*IN_ASIA_TOO, more("evals", 'experiment="suite"')),
    ),
    Case(
        "A template's jobs are kept at home again",
        (template("lora", '    regions=("us-central1", "us-east4", "europe-west4", "asia-south2"),\n', ""),),
        (hurts("offer-gone", "lora regions", "in us-east4 or europe-west4"),),
        given=(
            *IN_ASIA_TOO,
            more("lora", 'regions=("us-central1", "us-east4", "europe-west4", "asia-south2")'),
        ),
        never=("asia-south2",),
    ),
    Case(
        "A template gets other machines for times without capacity",
        WITH_BOTH,
        (
            tells("offer-added", "lora shape a2-ultragpu-1g", "$3.57/h on Spot"),
            hurts("offer-added", "lora shape g2-standard-24", "40 GB on each GPU fails on 24 GB"),
        ),
    ),
    Case(
        "A machine without a GPU is the last resort of code that had one",
        (imports("lora", "Shape"), more("lora", f"shapes=({BARE},)")),
        (hurts("offer-added", "lora shape n1-standard-96", "code that needs a GPU fails there"),),
    ),
    Case(
        "Other machines are no longer taken where the best are not to be had",
        (template("lora", f", {SEVERAL}", ","),),
        (hurts("offer-gone", "lora shape g2-standard-24", "can't run on `g2-standard-24` any more"),),
        given=WITH_BOTH,
    ),
    Case(
        "A template loses all its other machines",
        (template("lora", f"    shapes=({LARGER_SHAPE}, {SEVERAL}),\n", ""),),
        (
            hurts("offer-gone", "lora shape a2-ultragpu-1g"),
            hurts("offer-gone", "lora shape g2-standard-24"),
        ),
        given=WITH_BOTH,
    ),
    Case(
        "A dearer machine takes the place of both last ways to run",
        (template("lora", SPOT_ALONE, DEAR), template("lora", *ON_DEMAND)),
        (
            hurts("offer-gone", "lora shape g2-standard-24", "$5.84/h"),
            hurts("offer-gone", "lora on-demand on a2-highgpu-1g", "$5.84/h on demand with `a2-ultragpu-1g`"),
            tells("offer-added", "lora shape a2-ultragpu-1g", "$5.84/h"),
        ),
        given=(imports("lora", "Shape"), more("lora", f"shapes=({SPOT_ALONE},)")),
        never=("wait or fail", "on demand with `a2-ultragpu-1g` run on"),
        accident="a bill of four times the usual, from a machine of last resort",
    ),
    Case(
        "The machine of last resort is to be had on demand instead of on Spot",
        (template("lora", SPOT_ALONE, SPOT_ALONE.replace("spot", "on-demand")),),
        (
            hurts(
                "offer-gone",
                "lora spot on g2-standard-24",
                "the next way costs $2.35/h on demand with `g2-standard-24`",
            ),
        ),
        given=(imports("lora", "Shape"), more("lora", f"shapes=({SPOT_ALONE},)")),
    ),
    Case(
        "One of a template's other regions goes, and it ran at home alone",
        (template("lora", '("us-east4", "europe-west4")', '("us-east4",)'),),
        (hurts("offer-gone", "lora regions", "in europe-west4 any more", "nobody ran there"),),
        given=(OTHER_REGIONS, ALLOWED, IN_BOTH),
        world=BUSY,
        never=("they wait or fail",),
        accident="a week of waiting for GPUs that another region had",
    ),
    Case(
        "Workers of a kind that no pool has, and no quota of Spot",
        (
            template("digits", '"workers", "n1-standard-8"', '"workers", "n1-highmem-8"'),
            template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")'),
        ),
        (
            hurts("offer-gone", "digits pool cpu", "on demand"),
            hurts("pool-unused", "cpu/head"),
        ),
        may=("machines-changed", "pool-unused", "run-cost"),
        world=World(jobs=(NIGHT_JOB,), limits={"cpus": 200, "preemptible_cpus": 1}),
        accident="a job type changed, its pool not",
    ),
    Case(
        "All ways to run after the pool go, and the pool's wait leads nowhere",
        (template("digits", '("pool", "spot", "on-demand")', '("pool",)'),),
        (
            hurts("offer-gone", "digits spot", "jobs that find no room by earlier ways have no other"),
            hurts("offer-gone", "digits on-demand"),
        ),
        given=(more("digits", 'waits={"pool": 900}'),),
        never=("they wait at most 15 min", "they can go nowhere else, and wait while it is full, unpaid; they can"),
        accident="jobs that waited for days, as their last resort had been removed",
    ),
    Case(
        "A capacity type goes, from whatever shape",
        (template("lora", TYPES, '("spot", "on-demand")'), template("lora", '    waits={"flex-start": 7200},\n', "")),
        (hurts("offer-gone", "lora", "can't use flex-start any more"),),
        given=WITH_BOTH,
        never=("flex-start with `a2-ultragpu-1g` any more", "flex-start with `a2-highgpu-1g` any more"),
    ),
    Case(
        "A pool that can't grow is offered, which costs nothing that is not paid anyway",
        (template("evals", '("spot", "on-demand")', '("spot", "on-demand", "pool")'),),
        (tells("offer-added", "evals", "they cost nothing beside pool `cpu`, which is paid anyway"),),
        given=(stack("replicas: { min: 4, max: 16 }", "replicas: 4"),),
        never=("grows by",),
    ),
)
