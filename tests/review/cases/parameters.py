"""Parameters of a template: defaults, bounds, types, names."""

from tests.review.case import BUSY, Case, World, hurts, stops, template
from tests.review.edits import LARGE_ONES, LATELY, ON_A100, RANK, REFUSED, VARIANT

LARGE_REFUSED = f"        {REFUSED.replace('9b', '27b')},\n"
CLOSED = '            refusal="27b is closed",\n        ),\n'
LARGE_CLOSED = template("lora", LARGE_ONES, CLOSED)


CASES = (
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
