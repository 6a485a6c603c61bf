"""Parameters of templates: refused submissions, and changed values."""

from tests.review.case import Case, Job, World, hurts, stops, template

SWEEP = tuple(Job(f"sweep-{rank}", parameters={"model": "27b", "rank": rank}) for rank in (32, 64))
LATELY = World(
    jobs=(
        *SWEEP,
        Job("evals-monday", "evals", "ben", "spot", {"suite": "full"}, "SUCCEEDED", 100),
        Job("tune-monday", "tune", "cy", "pool", {"folds": 8}, "SUCCEEDED", 120, kind="custom-job"),
        Job("digits-monday", "digits", "cy", "pool", {"workers": 12}, "FAILED", 130),
        Job("lora-monday", "lora", "cy", "on-demand", {"precision": "fp32"}, "SUCCEEDED", 130),
    )
)
RANK = '        Parameter("rank", int, default=16, min=1, max=256, help="rank of the adapters"),\n'

CASES = (
    Case(
        "A parameter gets another name under a running sweep that sets it",
        (
            template("lora", RANK, RANK.replace('"rank"', '"lora_rank"')),
            template("lora", '"--rank=${rank}"', '"--rank=${lora_rank}"'),
        ),
        (stops("parameter-renamed | parameter-gone", "lora parameter rank", "ada", "lora_rank"),),
        may=("parameter-added",),
        world=LATELY,
        accident="a renamed input that broke every caller",
    ),
    Case(
        "A parameter goes that people use",
        (
            template("lora", RANK, ""),
            template("lora", '"--rank=${rank}"', '"--rank=16"'),
        ),
        (stops("parameter-gone", "lora parameter rank", "2 submissions by ada"),),
        may=("arguments-changed",),
        world=LATELY,
        accident="a removed input that broke every caller",
    ),
    Case(
        "A parameter goes that nobody used",
        (
            template(
                "digits",
                '        Parameter("seed", int, default=0, min=0, max=1000, help="the same seed, the same search"),\n',
                "",
            ),
            template("digits", '"--seed=${seed}"', '"--seed=0"'),
        ),
        (hurts("parameter-gone", "digits parameter seed", "nobody"),),
        may=("arguments-changed",),
        world=World(),
    ),
    Case(
        "The smallest value of a parameter is raised above what the sweep uses",
        (template("lora", "default=16, min=1, max=256", "default=128, min=128, max=256"),),
        (stops("bounds-narrowed", "lora parameter rank", "ada 2"), hurts("default-changed", "rank", "16", "128")),
        world=LATELY,
    ),
    Case(
        "A choice goes that somebody used last week",
        (template("evals", 'choices=("core", "full")', 'choices=("core",)'),),
        (stops("bounds-narrowed", "evals parameter suite", "full", "ben"),),
        world=LATELY,
        accident="an enumeration that lost a value",
    ),
    Case(
        "A parameter that need not be set has to be",
        (template("lora", 'Parameter("steps", int, default=100,', 'Parameter("steps", int,'),),
        (stops("parameter-required", "lora parameter steps"),),
        world=LATELY,
        accident="an optional input that became required",
    ),
    Case(
        "A whole number becomes a text",
        (
            template(
                "digits",
                'Parameter("trees", int, default=200, min=1, max=5000, help="trees in a forest")',
                'Parameter("trees", str, default="200", help="trees in a forest")',
            ),
        ),
        (stops("parameter-type", "digits parameter trees"),),
        world=LATELY,
    ),
    Case(
        "A parameter that everybody has to set from now on",
        (
            template("lora", RANK, RANK + '        Parameter("data", str, help="where the texts are"),\n'),
            template("lora", '"--rank=${rank}",', '"--rank=${rank}",\n    "--data=${data}",'),
        ),
        (stops("parameter-required", "lora parameter data", "it is new and has no default"),),
        may=("arguments-changed",),
        world=LATELY,
        accident="an optional input that became required",
    ),
    Case(
        "A program gets its arguments in another order",
        (template("evals", '"--suite=${suite}", "--batch=${batch}"', '"--batch=${batch}", "--suite=${suite}"'),),
        (hurts("arguments-changed", "evals", "get their arguments in another order"),),
    ),
    Case(
        "A parameter is a command from now on, which no shell reads",
        (template("evals", '("core", "full"), ', '("core", "full"), command=True, '),),
        (hurts("bounds-narrowed", "evals parameter suite", "a shell, as with `&&`"),),
        may=("arguments-changed",),
    ),
)
