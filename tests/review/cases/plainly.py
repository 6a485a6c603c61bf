"""Changes whose end a reader has to be told without a false word."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, more, silent, stack, stops, tells, template
from tests.review.checkout import BASE

_TUNING = Job("tune-ada", "tune", user="ada", hours=0.4)
_KEPT = 'env={"REGION": "us-central1"}'
_LATE = (BASE / "templates/evals.py").read_text().replace('name="evals"', 'name="late"')

CASES = (
    Case(
        "A study on a cluster that is made anew: its timeout ends a trial, not the study",
        (stack("displayName: cpu of research", "displayName: CPU machines, research"),),
        (hurts("cluster-new-generation", "cpu"), hurts("generations-overlap", "cpu")),
        may=("capacity-found-anew", "image-cache-empty"),
        never=("their timeout ends that",),
        world=World(jobs=(_TUNING,)),
    ),
    Case(
        "A scheduler on a worker's machine: the pool that it leaves",
        (template("digits", '"scheduler", "n1-standard-4"', '"scheduler", "n1-standard-8"'),),
        (
            tells(
                "machines-changed", "pools in pool cpu", "run on `workers` of their cluster instead of `head, workers`"
            ),
            hurts("pool-unused", "cpu/head"),
            hurts("minimum-below-default", "cpu/workers", "from 4 to 5 machines"),
        ),
        may=("machines-changed",),
        never=("nothing of their cluster",),
        world=BUSY,
    ),
    Case(
        "A wait for Spot takes the place of the one that ended flex-start",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"spot": 600}'),),
        (
            hurts(
                "fallback-wait",
                "spot",
                "wait 10 min for Spot instead of for ever: then they cost up to $4.28/h by flex-start",
            ),
            hurts("fallback-wait", "flex-start", "then they fail, unpaid"),
        ),
        may=("fallback-wait",),
        never=("by flex-start, then",),
        world=BUSY,
    ),
    Case(
        "A variable with the stack's own region, by a name of the code's",
        (template("evals", _KEPT, _KEPT.replace("REGION", "JUDGE_REGION")),),
        (
            hurts("environment-changed", "REGION"),
            hurts("environment-changed", "JUDGE_REGION", "not known: what reads it"),
        ),
        never=("leave its region",),
        world=BUSY,
    ),
    Case(
        "A pool that keeps fewer machines than a usual job takes: its growth is paid",
        (template("digits", '("spot", "on-demand")', '("pool", "spot", "on-demand")'),),
        (hurts("offer-added", "digits", "for the 4 machines that pool `cpu` has to grow by"),),
        may=("minimum-below-default", "run-cost"),
        never=("nothing more",),
        given=(
            template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")'),
            template("digits", "default=4, min=1, max=16", "default=8, min=1, max=16"),
        ),
        accident="jobs that were thought to be free",
    ),
    Case(
        "Jobs count for a team that has a budget",
        (more("evals", 'labels={"team": "vision"}'),),
        (tells("request-changed", "evals label team", "count for team `vision`"),),
        never=("no team of that name",),
        given=(stack("  slipway:policy:\n", "  slipway:budget: { teams: { vision: 900 } }\n  slipway:policy:\n"),),
    ),
    Case(
        "A variable goes that the command reads",
        (template("evals", _KEPT, 'env={"LEVEL": "2"}'),),
        (
            stops("environment-changed", "REGION", "which their command or arguments name"),
            hurts("environment-changed", "LEVEL"),
        ),
        given=(template("evals", 'command=("judge",)', 'command=("sh", "-c", "exec judge --in $REGION")'),),
        accident="an edit of one line whose other half stood in the same file",
    ),
    Case(
        "A new template falls back to machines on demand, unasked",
        (
            Edit("templates/late.py", "", _LATE),
            stack("    - evals\n", "    - evals\n    - late\n"),
        ),
        (tells("template-added", "late", "on Spot, else $", "on demand"),),
        accident="a bill for machines that nobody had named",
    ),
    Case(
        "A variable with another region",
        (template("evals", _KEPT, _KEPT.replace("us-central1", "europe-west4")),),
        (hurts("environment-changed", "REGION", "results may differ"),),
        world=BUSY,
        accident="a bucket in another region, by one variable",
    ),
    Case(
        "A judge without the launcher, which alone fetches its key",
        (template("evals", 'command=("judge",),\n', 'command=("judge",),\n        launcher=False,\n'),),
        (stops("request-changed", "launcher", "get no `JUDGE_KEY`", "begins anew"),),
        world=BUSY,
        accident="a wrapper taken away that had put a key into the environment",
    ),
    Case(
        "A refusal behind a variant that fits first",
        (
            template(
                "lora",
                '("pool", "reservation", "spot"),\n        ),\n',
                '("pool", "reservation", "spot"),\n        ),\n'
                '        Variant({"model": "27b", "precision": "fp32"}, refusal="27b in fp32 does not fit"),\n',
            ),
        ),
        (stops("preview-failed", "", "variant 2", "never applies", "variant 1"),),
        world=BUSY,
        accident="an exception below the rule that it was to except from",
    ),
    Case(
        "A usual job of all machines of a pool that another template has alone",
        (template("digits", "default=4, min=1, max=16", "default=16, min=1, max=16"),),
        (
            hurts("minimum-below-default", "cpu/workers", "one job of `digits` takes the whole pool"),
            hurts("default-changed", "digits", "`16` instead of `4`"),
        ),
        may=("run-cost",),
        world=BUSY,
        accident="a default that gave one person the whole pool",
    ),
    Case(
        "All trials of a study at once",
        (template("tune", "default=2, min=1, max=4", "default=8, min=1, max=8"),),
        (
            hurts(
                "default-changed",
                "tune",
                "they take 8 instead of 2 machines",
                "1 round of trials instead of 4",
            ),
        ),
        may=("bounds-widened", "minimum-below-default"),
        world=BUSY,
        accident="a study whose trials learnt nothing from each other",
    ),
    Case(
        "Ranks of a list in place of a range",
        (template("lora", "default=16, min=1, max=256", "default=16, choices=(8, 16, 32)"),),
        (stops("bounds-narrowed", "rank", "other than `8`, `16` or `32`", "used lately: `64`"),),
        never=("of any size",),
        world=BUSY,
        accident="submissions that were refused overnight",
    ),
    silent(
        "A variant's value as one of several",
        template("lora", 'Variant(\n            {"model": "27b"},', 'Variant(\n            {"model": ("27b",)},'),
    ),
    silent("A wait with its thousands apart", template("lora", '"flex-start": 7200', '"flex-start": 7_200')),
    silent(
        "A study that says how it searches and judges, as it did by default",
        template(
            "tune",
            '        parallel_trials="${parallel}",\n',
            '        parallel_trials="${parallel}",\n        algorithm="bayesian",\n        measurement="best",\n',
        ),
    ),
    silent("The launcher said", template("evals", 'command=("judge",),', 'command=("judge",), launcher=True,')),
)
