"""Ways to run: several edits of a template's capacity types, waits, shapes, trials and refusals in one pull request."""

from tests.review.case import BUSY, Case, Job, World, hurts, imports, more, stack, stops, tells, template
from tests.review.cases.fields import LARGE_ONES
from tests.review.cases.shapes import LARGER, SEVERAL, WITH_BOTH

TYPES = '("spot", "flex-start", "on-demand")'
CLOSED = '            refusal="27b is closed",\n        ),\n'
ON_A100 = LARGE_ONES.replace("a3-highgpu-8g", "a2-highgpu-8g").replace(
    '("pool", "reservation", "spot")', '("flex-start", "on-demand")'
)
LARGE = template("lora", LARGE_ONES, CLOSED)
ON_CPUS = (
    template("lora", TYPES, '("pool", "spot", "on-demand")'),
    template("lora", '    waits={"flex-start": 7200},\n', ""),
    template("lora", '"a2-highgpu-1g", Disk("pd-ssd", 200)', '"n1-standard-8", Disk("pd-ssd", 100)'),
)
BENCH = "{ submitters: ['group:bench@acme.example'], clusters: [cpu] }"
OWNED = stack("  slipway:policy:\n", f"  slipway:teams: {{ bench: {BENCH} }}\n  slipway:policy:\n")
FLEX_WAITS = template("lora", 'waits={"flex-start": 7200}', "scheduling=Scheduling(max_wait_s=3600)")
PARALLEL = '        Parameter("parallel", int, default=2, min=1, max=4, help="trials at once"),\n'
STUDIED = World(jobs=(Job("tune-1", "tune", parameters={"trials": 8, "parallel": 2, "folds": 3}),))

CASES = (
    Case(
        "All ways to run after the pool go, and the pool's wait leads nowhere",
        (template("digits", '("pool", "spot", "on-demand")', '("pool",)'),),
        (hurts("offer-gone", "digits spot", "can go nowhere else"), hurts("offer-gone", "digits on-demand")),
        given=(more("digits", 'waits={"pool": 900}'),),
        never=("they wait at most 15 min", "they can go nowhere else, and wait while it is full, unpaid; they can"),
        accident="jobs that waited for days, as their last resort had been removed",
    ),
    Case(
        "The machines of a template and of its shape change places",
        (template("lora", f"{LARGER}, {SEVERAL}", f"{SEVERAL}, {LARGER}"),),
        (hurts("offer-order", "lora", "try `g2-standard-24` before `a2-ultragpu-1g`", "keep the order"),),
        given=WITH_BOTH,
        never=("submit with `--capacity", "field='capacity_types'"),
    ),
    Case(
        "A wait is shorter, on whatever shape",
        (template("lora", '"flex-start": 7200', '"flex-start": 600'),),
        (hurts("fallback-wait", "lora", "wait 10 min for flex-start instead of 2 h"),),
        given=WITH_BOTH,
        never=("for flex-start with",),
    ),
    Case(
        "Twice as many trials, and twice as many at once",
        (template("tune", "int, default=8", "int, default=16"), template("tune", "int, default=2", "int, default=4")),
        (
            hurts("default-changed", "tune", "`16` instead of `8`"),
            hurts("default-changed", "tune", "`4` instead of `2`"),
        ),
        world=STUDIED,
        may=("run-cost", "minimum-below-default"),
        never=("8 rounds of trials", "2 rounds of trials"),
        accident="a search that doubled, and its bill with it",
    ),
    Case(
        "More trials at once than the pool has machines, and one job fits it still",
        (template("tune", 'parallel_trials="${parallel}"', "parallel_trials=24"), template("tune", PARALLEL, "")),
        (
            stops("offer-unavailable", "tune pool", "can't use a pool any more"),
            hurts("parameter-gone", "tune"),
            hurts("study-changed", "tune", "run `24` trials at once instead of"),
        ),
        given=(more("tune", 'capacity_types=("pool", "spot")'), template("tune", "int, default=8", "int, default=40")),
        world=STUDIED,
        may=("run-cost",),
        never=("can use pool `cpu`", "disks and account of the template and of a pool alike"),
        accident="trials that waited for machines that the pool could not have",
    ),
    Case(
        "Large models are refused, where the small ones may use a pool",
        (LARGE,),
        (
            stops("bounds-narrowed", "lora", "model=27b", "refused when they are submitted"),
            stops("pool-unused", "h100/workers"),
            stops("reservation-paid", "bought"),
        ),
        given=ON_CPUS,
        world=BUSY,
        never=("can't start", "nor run at all", "are offered"),
    ),
    Case(
        "Large models that were refused may run by flex-start alone",
        (template("lora", CLOSED, ON_A100.replace('"flex-start", "on-demand"', '"flex-start",')),),
        (tells("bounds-widened", "lora", "model=27b", "may be submitted", "by flex-start"),),
        given=(LARGE,),
        never=("are not offered", "where nothing before it can start"),
    ),
    Case(
        "Large models get machines with half the GPU memory, from other sources",
        (template("lora", LARGE_ONES, ON_A100),),
        (
            stops("machines-changed", "lora", "model=27b", "320 GB of GPU memory instead of 640"),
            hurts("offer-gone", "lora pool"),
            hurts("offer-gone", "lora reservation"),
            hurts("offer-gone", "lora spot"),
            stops("pool-unused", "h100/workers"),
            stops("reservation-paid", "bought"),
        ),
        may=("offer-added", "run-cost"),
        accident="models that ran out of memory on the smaller GPUs of a cheaper machine",
    ),
    Case(
        "The service waits longer for flex-start's machines",
        (template("lora", "max_wait_s=3600", "max_wait_s=14400"),),
        (hurts("fallback-wait", "lora", "wait 4 h for flex-start instead of 1 h", "scheduling.max_wait_s"),),
        given=(imports("lora", "Scheduling"), FLEX_WAITS),
        accident="a queue that held jobs for a week after nobody needed them",
    ),
    Case(
        "A template without a pool leaves its team, and tries the team's pool first",
        (template("evals", '    labels={"team": "bench"},\n', ""), template("evals", '("spot", ', '("pool", "spot", ')),
        (
            hurts("request-changed", "evals", "instead of `bench`"),
            hurts("offer-added", "evals", "they cost nothing more"),
        ),
        given=(more("evals", 'labels={"team": "bench"}'), OWNED),
        never=("can't use `cpu` any more", "Spot: nothing"),
    ),
    Case(
        "A capacity type goes, from whatever shape",
        (template("lora", TYPES, '("spot", "on-demand")'), template("lora", '    waits={"flex-start": 7200},\n', "")),
        (hurts("offer-gone", "lora", "can't use flex-start any more"),),
        given=WITH_BOTH,
        never=("flex-start with `a2-ultragpu-1g` any more", "flex-start with `a2-highgpu-1g` any more"),
    ),
    Case(
        "Fewer trials at once",
        (template("tune", "parallel_trials=4", "parallel_trials=2"),),
        (hurts("study-changed", "tune", "run `2` trials at once instead of `4`", "takes longer"),),
        given=(template("tune", 'parallel_trials="${parallel}"', "parallel_trials=4"), template("tune", PARALLEL, "")),
        may=("run-cost",),
        never=("learns nothing",),
    ),
)
