"""Shapes of one job: machines that a submission takes where those before them have no capacity."""

from tests.review.case import BUSY, Case, hurts, imports, more, stack, stops, tells, template

LARGER = 'Shape((WorkerPool("tuner", "a2-ultragpu-1g", Disk("pd-ssd", 200), args=ARGS),))'
SEVERAL = 'Shape((WorkerPool("tuner", "g2-standard-24", Disk("pd-ssd", 200), args=ARGS),), ("spot", "on-demand"))'
SPARE = SEVERAL.replace('("spot", "on-demand")', '("spot",)')
BARE = SPARE.replace("g2-standard-24", "n1-standard-96")
DEAR = LARGER.replace("ARGS),)", 'ARGS),), ("on-demand",)')
ON_DEMAND = ('("spot", "flex-start", "on-demand")', '("spot", "flex-start")')
WITH_BOTH = (imports("lora", "Shape"), more("lora", f"shapes=({LARGER}, {SEVERAL})"))

OTHERS = stack("  slipway:policy:\n", "  slipway:regions: [us-east4, europe-west4]\n  slipway:policy:\n")
ALLOWED = stack("regions: [us-central1]", "regions: [us-central1, us-east4, europe-west4]")
IN_BOTH = more("lora", 'regions=("us-east4", "europe-west4")')

WORKERS = '        WorkerPool("workers", "n1-standard-8", DISK, replicas="${workers}"),\n'

CASES = (
    Case(
        "A template's jobs may have machines in other regions",
        (IN_BOTH,),
        (
            tells(
                "offer-added",
                "lora regions",
                "in us-east4 or europe-west4, where us-central1 has none",
                "crosses regions, at $0.02 to $0.05 a GiB",
            ),
        ),
        given=(OTHERS, ALLOWED),
    ),
    Case(
        "A template's jobs are kept at home again",
        (template("lora", '    regions=("us-east4", "europe-west4"),\n', ""),),
        (hurts("offer-gone", "lora regions", "us-east4 or europe-west4", "they wait or fail"),),
        given=(OTHERS, ALLOWED, IN_BOTH),
    ),
    Case(
        "A template's other regions are tried in another order",
        (template("lora", '("us-east4", "europe-west4")', '("europe-west4", "us-east4")'),),
        (hurts("offer-order", "lora regions", "europe-west4 or us-east4, in this order"),),
        given=(OTHERS, ALLOWED, IN_BOTH),
    ),
    Case(
        "Jobs may run in a region that the policy does not allow",
        (OTHERS,),
        (stops("policy-violated", "", "jobs on machines of their own", "us-east4"),),
        may=("preview-failed",),
    ),
    Case(
        "A template gets other machines for times without capacity",
        WITH_BOTH,
        (
            tells(
                "offer-added", "lora shape a2-ultragpu-1g", "where `a2-highgpu-1g` has no capacity", "$3.57/h on Spot"
            ),
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
        (hurts("offer-gone", "lora shape g2-standard-24", "can't run on `g2-standard-24` any more", "$2.53/h"),),
        given=WITH_BOTH,
    ),
    Case(
        "The machines of last resort come before better ones",
        (template("lora", f"{LARGER}, {SEVERAL}", f"{SEVERAL}, {LARGER}"),),
        (hurts("offer-order", "lora", "try `g2-standard-24` before `a2-ultragpu-1g`"),),
        given=WITH_BOTH,
    ),
    Case(
        "A template loses all its other machines",
        (template("lora", f"    shapes=({LARGER}, {SEVERAL}),\n", ""),),
        (
            hurts("offer-gone", "lora shape a2-ultragpu-1g", "where none of these has capacity, they wait or fail"),
            hurts("offer-gone", "lora shape g2-standard-24"),
        ),
        given=WITH_BOTH,
    ),
    Case(
        "A dearer machine takes the place of both last ways to run",
        (template("lora", SPARE, DEAR), template("lora", *ON_DEMAND)),
        (
            hurts("offer-gone", "lora shape g2-standard-24", "where `a2-highgpu-1g` has no capacity", "$5.84/h"),
            hurts("offer-gone", "lora on-demand on a2-highgpu-1g", "$5.84/h on demand with `a2-ultragpu-1g`"),
            tells("offer-added", "lora shape a2-ultragpu-1g", "$5.84/h"),
        ),
        given=(imports("lora", "Shape"), more("lora", f"shapes=({SPARE},)")),
        never=("wait or fail", "on demand with `a2-ultragpu-1g` run on"),
        accident="a bill of four times the usual, from a machine of last resort",
    ),
    Case(
        "The machines of a template are others, and so are those of each of its ways to run",
        (template("lora", '"a2-highgpu-1g"', '"a2-ultragpu-1g"'),),
        (hurts("machines-changed", "lora", "run on `a2-ultragpu-1g` instead of `a2-highgpu-1g`"),),
        given=(imports("lora", "Shape"), more("lora", f"shapes=({SPARE},)")),
        may=("run-cost",),
        never=("can't run on `a2-highgpu-1g`", "with `a2-ultragpu-1g` run on"),
    ),
    Case(
        "A machine of last resort is a larger one",
        (template("lora", SPARE, SPARE.replace("24", "48")),),
        (hurts("machines-changed", "lora", "on `g2-standard-24` run on `g2-standard-48` instead of"),),
        given=(imports("lora", "Shape"), more("lora", f"shapes=({SPARE},)")),
        never=("on Spot run on",),
    ),
    Case(
        "The machine of last resort is to be had on demand instead of on Spot",
        (template("lora", SPARE, SPARE.replace("spot", "on-demand")),),
        (
            hurts(
                "offer-gone", "lora spot on g2-standard-24", "with `a2-highgpu-1g` has no capacity, they cost $2.35/h"
            ),
        ),
        given=(imports("lora", "Shape"), more("lora", f"shapes=({SPARE},)")),
    ),
    Case(
        "One of a template's other regions goes, and it ran at home alone",
        (template("lora", '("us-east4", "europe-west4")', '("us-east4",)'),),
        (hurts("offer-gone", "lora regions", "in europe-west4 any more", "they go to us-east4", "nobody ran there"),),
        given=(OTHERS, ALLOWED, IN_BOTH),
        world=BUSY,
        never=("they wait or fail",),
        accident="a week of waiting for GPUs that another region had",
    ),
    Case(
        "Twice as many machines of half the size",
        (
            template(
                "digits", '"workers", "n1-standard-8", DISK, replicas=4', '"workers", "n1-standard-4", DISK, replicas=8'
            ),
        ),
        (hurts("machines-changed", "digits", "8 `n1-standard-4` instead of 4 `n1-standard-8`"),),
        may=("run-cost", "arguments-changed"),
        given=(
            template("digits", 'replicas="${workers}"', "replicas=4"),
            template("digits", '"--seed=${seed}"', '"--seed=${seed}", "--of=${workers}"'),
            template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")'),
        ),
        accident="workers that ran out of memory",
    ),
    Case(
        "Machines besides, as many as a parameter says",
        (template("digits", WORKERS, WORKERS + WORKERS.replace('"workers",', '"servers",')),),
        (hurts("machines-changed", "digits", "take 4 (`workers`) `n1-standard-8` besides"),),
        may=("minimum-below-default", "run-cost"),
        never=("take `$",),
    ),
    Case(
        "A smaller GPU and a larger machine, and more time with each",
        (
            template("lora", '"a2-highgpu-1g"', '"g2-standard-12"'),
            template("lora", "86_400", "172_800"),
            template("evals", '"n1-standard-8"', '"n1-standard-16"'),
        ),
        (
            stops("machines-changed", "lora", "24 GB"),
            hurts("timeout-changed", "lora", "2 days instead of 24 h"),
            hurts("machines-changed", "evals", "run on `n1-standard-16` instead of `n1-standard-8`"),
        ),
        may=("run-cost",),
        never=("timeout stays", "memory and pace suffice"),
        accident="a model that fitted no more into its GPU's memory",
    ),
)
