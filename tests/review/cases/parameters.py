"""Parameters of a template: defaults, bounds, types, names."""

from tests.review.case import BUSY, Case, World, blocks, template, warns
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
        (warns("submission-rejected", "digits", "1000"), warns("submission-changed", "digits")),
        world=World(),
    ),
    Case(
        "A parameter that need not be set has to be",
        (template("lora", 'Parameter("steps", int, default=100,', 'Parameter("steps", int,'),),
        (blocks("submission-rejected", "lora"), warns("submission-changed", "lora")),
        world=LATELY,
    ),
    Case(
        "A parameter that everybody has to set from now on",
        (
            template("lora", RANK, RANK + '        Parameter("data", str, help="where the texts are"),\n'),
            template("lora", '"--rank=${rank}",', '"--rank=${rank}",\n    "--data=${data}",'),
        ),
        (blocks("submission-rejected", "lora"),),
        may=("job-code-changed",),
        world=LATELY,
    ),
    Case(
        "A fraction has to be a whole number",
        (template("digits", 'Parameter("trees", float,', 'Parameter("trees", int,'),),
        (warns("submission-rejected", "digits"), warns("submission-changed", "digits")),
        given=(template("digits", 'Parameter("trees", int,', 'Parameter("trees", float,'),),
        world=LATELY,
    ),
    Case(
        "Another default for precision, which says nothing of memory and time",
        (template("lora", 'default="bf16"', 'default="fp32"'),),
        (blocks("submission-rejected", "lora"), warns("submission-changed", "lora")),
        given=(template("lora", VARIANT, VARIANT.replace("(\n", f"(\n{LARGE_REFUSED}", 1)),),
        world=BUSY,
    ),
    Case(
        "A parameter goes, and all jobs get another value than its default",
        (template("lora", RANK, ""), template("lora", '"--rank=${rank}"', '"--rank=64"')),
        (blocks("submission-rejected", "lora"), warns("submission-changed", "lora")),
        world=LATELY,
    ),
    Case(
        "Ranks of a list in place of a range",
        (template("lora", "default=16, min=1, max=256", "default=16, choices=(8, 16, 32)"),),
        (blocks("submission-rejected", "lora"),),
        world=BUSY,
    ),
    Case(
        "A study runs one trial at a time: eight times as long",
        (template("tune", 'Parameter("parallel", int, default=2', 'Parameter("parallel", int, default=1'),),
        (warns("submission-changed", "tune"),),
    ),
    Case(
        "Large models that were refused may run by flex-start alone",
        (template("lora", CLOSED, ON_A100.replace('"flex-start", "on-demand"', '"flex-start",')),),
        (),
        given=(LARGE_CLOSED,),
    ),
)
