"""Parameters of a template: defaults, bounds, types, names."""

from tests.review.case import BUSY, Case, Job, World, hurts, stops, tells, template
from tests.review.edits import LARGE_ONES, LATELY, ON_A100, RANK, REFUSED, VARIANT

LARGE_REFUSED = f"        {REFUSED.replace('9b', '27b')},\n"
CLOSED = '            refusal="27b is closed",\n        ),\n'
LARGE_CLOSED = template("lora", LARGE_ONES, CLOSED)

XL_COMES = (
    template("lora", 'choices=("9b", "27b")', 'choices=("9b", "27b", "70b")'),
    template(
        "lora", VARIANT, VARIANT.replace("Variant(", 'Variant({"model": "70b"}, refusal="ask us"),\n        Variant(')
    ),
)
LONG = "gs://acme-models/google/gemma-2/2026-09-01/everything-but-tests/compiled-for-all-v1"
BASE_MODEL = ('"rank", int, default=16, min=1, max=256', f'"rank", str, default="{LONG}"')

CASES = (
    Case(
        "A whole number may be a fraction from now on",
        (template("evals", "int, default=8, min=1, max=512", "float, default=8.0, min=1, max=512"),),
        (hurts("parameter-type", "evals parameter batch", "code that reads a whole number may fail"),),
        accident="a program that could not read `8.0`",
    ),
    Case(
        "More values of a parameter are allowed",
        (template("lora", "min=1, max=256, help", "min=1, max=512, help"), XL_COMES[0]),
        (
            tells("bounds-widened", "rank", "256", "512"),
            tells("bounds-widened", "case", "(model=70b) may be submitted: one way costs $2.53/h on Spot"),
        ),
        world=BUSY,
        never=("refused them", "can use", "can also use"),
    ),
    Case(
        "A bound beyond the pool: who else waits",
        (template("tune", "default=2, min=1, max=4", "default=2, min=1, max=20"),),
        (tells("bounds-widened", "tune", "up to 20"),),
        world=BUSY,
        accident="one study that held a shared pool for a night",
    ),
    Case(
        "A parameter that chooses the machines gets another name and default",
        (
            template("lora", 'Parameter("model", str, default="9b"', 'Parameter("size", str, default="27b"'),
            template("lora", '"--model=${model}"', '"--model=${size}"'),
            template("lora", '{"model": "27b"}', '{"size": "27b"}'),
        ),
        (
            hurts("parameter-renamed", "lora parameter model", "set `size` in place of `model`"),
            hurts("default-changed", "lora parameter size", "`a3-highgpu-8g` instead of `a2-highgpu-1g`"),
            tells("run-cost", "template lora", "A default run of `lora` costs $2.53/h on Spot → only what pool"),
        ),
        accident="a renamed input that broke every caller",
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
        "A parameter takes a list from now on, and fewer values",
        (
            template("digits", 'Parameter("seed", int, default=0,', 'Parameter("seed", list[int], default=(0,),'),
            template("digits", "min=0, max=1000", "min=0, max=10"),
        ),
        (
            hurts("parameter-type", "digits parameter seed", "list[int]", "may fail"),
            hurts("bounds-narrowed", "digits parameter seed", "above 10 (it was 1000)"),
        ),
        world=World(),
        accident="an input that was tidied and refused what schedules sent",
    ),
    Case(
        "The smallest value of a parameter is raised above what the sweep uses",
        (template("lora", "default=16, min=1, max=256", "default=128, min=128, max=256"),),
        (stops("bounds-narrowed", "lora parameter rank", "ada 2"), hurts("default-changed", "rank", "16", "128")),
        world=LATELY,
    ),
    Case(
        "A parameter that need not be set has to be",
        (template("lora", 'Parameter("steps", int, default=100,', 'Parameter("steps", int,'),),
        (stops("parameter-required", "lora parameter steps"),),
        world=LATELY,
        accident="an optional input that became required",
    ),
    Case(
        "A parameter that everybody has to set from now on",
        (
            template("lora", RANK, RANK + '        Parameter("data", str, help="where the texts are"),\n'),
            template("lora", '"--rank=${rank}",', '"--rank=${rank}",\n    "--data=${data}",'),
        ),
        (stops("parameter-required", "lora parameter data", "without `data` are refused"),),
        may=("arguments-changed",),
        world=LATELY,
        accident="an optional input that became required",
    ),
    Case(
        "A parameter is a command from now on, which no shell reads",
        (template("evals", '("core", "full"), ', '("core", "full"), command=True, '),),
        (hurts("bounds-narrowed", "evals parameter suite", "a shell, as with `&&`"),),
        may=("arguments-changed",),
    ),
    Case(
        "A parameter has another name, and whoever set it may have set its default",
        (
            template("digits", 'Parameter("seed"', 'Parameter("rng"'),
            template("digits", "--seed=${seed}", "--seed=${rng}"),
        ),
        (hurts("parameter-renamed", "digits", "nobody gave it a value of their own"),),
        world=World(jobs=(Job("digits-night", "digits", user="nightly", parameters={"seed": 0}),)),
        never=("nobody set it",),
    ),
    Case(
        "A long default ends in another way",
        (template("lora", "for-all-v1", "for-all-v2"),),
        (
            hurts(
                *("default-changed", "lora parameter rank", "get `…/compiled-for-all-v2` instead of"),
                *("`…/compiled-for-all-v1`", "`parameters.rank.default` `…/compiled-for-all-v1` →"),
            ),
        ),
        given=(template("lora", *BASE_MODEL),),
        accident="a word at the end of a long value, which the plan had cut off",
    ),
    Case(
        "A fraction has to be a whole number",
        (template("digits", 'Parameter("trees", float,', 'Parameter("trees", int,'),),
        (stops("parameter-type", "digits parameter trees", "have to give `trees` as int instead of float"),),
        given=(template("digits", 'Parameter("trees", int,', 'Parameter("trees", float,'),),
        world=LATELY,
        accident="scripts that failed at night, for a rate of 0.5",
    ),
    Case(
        "Another default for precision, which says nothing of memory and time",
        (template("lora", 'default="bf16"', 'default="fp32"'),),
        (
            hurts("default-changed", "precision", "`fp32` instead of `bf16`"),
            stops("bounds-narrowed", "precision", "(model=27b) without `precision` are refused", "by ada had"),
        ),
        given=(template("lora", VARIANT, VARIANT.replace("(\n", f"(\n{LARGE_REFUSED}", 1)),),
        world=BUSY,
        never=("memory and", "suffice", "timeout", "results may differ"),
        accident="a default of half precision, with losses that were no numbers",
    ),
    Case(
        "A parameter goes, and all jobs get another value than its default",
        (template("lora", RANK, ""), template("lora", '"--rank=${rank}"', '"--rank=64"')),
        (
            stops("parameter-gone", "lora parameter rank", "2 submissions by ada"),
            hurts("arguments-changed", "lora", "`--rank=64` instead of `--rank=${rank}`"),
        ),
        world=LATELY,
        never=("instead of `--rank=16`",),
        accident="a flag removed from a script that others' schedules still passed",
    ),
    Case(
        "Ranks of a list in place of a range",
        (template("lora", "default=16, min=1, max=256", "default=16, choices=(8, 16, 32)"),),
        (stops("bounds-narrowed", "rank", "other than `8`, `16` or `32`"),),
        never=("of any size",),
        world=BUSY,
        accident="submissions that were refused overnight",
    ),
    Case(
        "More workers may be asked for than the pool has machines",
        (template("digits", 'default=4, min=1, max=16, help="worker', 'default=4, min=1, max=64, help="worker'),),
        (tells("bounds-widened", "digits parameter workers", "up to 64"),),
        world=BUSY,
    ),
    Case(
        "A study runs one trial at a time: eight times as long",
        (template("tune", 'Parameter("parallel", int, default=2', 'Parameter("parallel", int, default=1'),),
        (hurts("default-changed", "tune parameter parallel", "2", "1"),),
    ),
    Case(
        "Large models that were refused may run by flex-start alone",
        (template("lora", CLOSED, ON_A100.replace('"flex-start", "on-demand"', '"flex-start",')),),
        (hurts("bounds-widened", "lora", "model=27b", "may be submitted", "by flex-start"),),
        given=(LARGE_CLOSED,),
        never=("are not offered", "can also use"),
    ),
)
