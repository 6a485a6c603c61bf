"""Arguments of a job's command: values, places and names."""

from tests.review.case import BUSY, Case, Edit, hurts, more, stops, tells, template
from tests.review.edits import PRINTS, RANK, TASK

PARSES = (
    "    parser = argparse.ArgumentParser()\n"
    '    parser.add_argument("--model")\n'
    '    parser.add_argument("--rank", default=16)\n'
    '    parser.add_argument("--warmup", default=10)\n'
    '    for name in ("--steps", "--precision", "--output"):\n        parser.add_argument(name)\n'
    "    parser.parse_args()\n"
)
PARSES_DEPTH = (
    "    parser = argparse.ArgumentParser()\n"
    '    parser.add_argument("--folds", type=int)\n'
    '    parser.add_argument("--depth", type=int, default=5)\n'
    "    parser.parse_args()\n"
)
PARSING = Edit("jobs/tune/task.py", "def main() -> None:\n", "def main() -> None:\n" + PARSES_DEPTH)

CASES = (
    Case(
        "An argument is new whose value the code has by default, and another one has another value there",
        (
            template("lora", RANK, RANK + '        Parameter("warmup", int, default=10, min=0, max=99),\n'),
            template("lora", '    "--rank=${rank}",\n', '    "--rank=${rank}",\n    "--warmup=${warmup}",\n'),
            template("tune", '"--folds=${folds}"', '"--folds=${folds}", "--depth=9"'),
        ),
        (
            hurts("arguments-changed", "lora", "with `--warmup=${warmup}`"),
            hurts("arguments-changed", "tune", "with `--depth=9`"),
            tells("parameter-added", "lora parameter warmup"),
        ),
        given=(Edit(TASK, PRINTS, PARSES), PARSING),
    ),
    Case(
        "A whole number may be a fraction from now on, which its code can't read",
        (template("tune", '"folds", int, default=3', '"folds", float, default=3'),),
        (
            stops("start-fails", "tune", "where they get `--folds=3.0`, which `jobs/tune/task.py` refuses"),
            hurts("parameter-type", "tune"),
            tells("default-changed", "tune", "get `3.0` instead of `3`"),
        ),
        given=(PARSING,),
        accident="a script that could not read `1200.0`",
    ),
    Case(
        "A parameter gets another name, in its argument as well, and the code keeps the old one",
        (
            template("lora", '"--rank=${rank}"', '"--lora-rank=${lora_rank}"'),
            template("lora", 'Parameter("rank"', 'Parameter("lora_rank"'),
        ),
        (
            stops("start-fails", "lora", "given `--lora-rank`", "does not know"),
            stops("parameter-renamed", "lora", "that set `rank` are refused"),
            tells("arguments-changed", "lora", "`--rank=${rank}` → `--lora-rank=${lora_rank}`"),
        ),
        given=(Edit(TASK, PRINTS, PARSES),),
        world=BUSY,
        never=("what the code makes of it", "--rank=${lora_rank}"),
        accident="a rename that reached the template alone",
    ),
    Case(
        "An input is copied from another bucket, and another template has its first one",
        (
            template("digits", "gs://acme-data/digits", "gs://acme-new/digits"),
            more("tune", 'inputs={"data": "gs://acme-data/digits"}'),
        ),
        (
            hurts("arguments-changed", "digits", "from `gs://acme-new/digits`", "fail where `trainer` may not read it"),
            hurts("arguments-changed", "tune", "each machine's disk", "the disk is too small"),
        ),
        given=(more("digits", 'inputs={"data": "gs://acme-data/digits"}'),),
    ),
    Case(
        "Code gets an argument twice that it got once",
        (template("tune", '"--folds=${folds}"', '"--folds=${folds}", "--folds=${folds}"'),),
        (hurts("arguments-changed", "tune", "`--folds=${folds}` 2 times instead of 1"),),
        given=(PARSING,),
        accident="an output folder that was given twice",
    ),
    Case(
        "A program gets its arguments in another order",
        (template("evals", '"--suite=${suite}", "--batch=${batch}"', '"--batch=${batch}", "--suite=${suite}"'),),
        (hurts("arguments-changed", "evals", "with their arguments in another order"),),
    ),
    Case(
        "A parameter that need not be set is added",
        (
            template("lora", RANK, RANK + '        Parameter("seed", int, default=0, min=0, max=9),\n'),
            template("lora", '    "--rank=${rank}",\n', '    "--rank=${rank}",\n    "--seed=${seed}",\n'),
        ),
        (
            tells("parameter-added", "lora parameter seed"),
            hurts("arguments-changed", "lora", "--seed=${seed}", "what the code makes of it"),
        ),
    ),
    Case(
        "Results of a sweep go side by side into the stack's own bucket, and of no sweep into one place",
        (template("lora", "--output=${slipway.output}", "--output=gs://acme-work/${slipway.sweep}/rank-${rank}"),),
        (stops("arguments-changed", "lora", "with the same `slipway.sweep`", "overwrites the one before"),),
        never=("whether their account may write",),
        world=BUSY,
        accident="results of plain runs that overwrote each other",
    ),
    Case(
        "The code requires an argument in the place of another one",
        (Edit(TASK, '"--rank", default=16', '"--adapter", required=True'),),
        (
            stops("start-fails", "lora", "given `--rank`", "does not know"),
            stops("start-fails", "lora", "without `--adapter`", "requires"),
        ),
        may=("code-changed",),
        given=(Edit(TASK, PRINTS, PARSES),),
        accident="an argument renamed in the code, and not where it is called",
    ),
    Case(
        "Code reads the place of its results from the environment, and the argument for it goes",
        (
            template("lora", '    "--output=${slipway.output}",\n', ""),
            Edit(
                TASK, PARSES + PRINTS, PARSES.replace(', "--output"', "") + '    print(os.environ["SLIPWAY_OUTPUT"])\n'
            ),
        ),
        (tells("arguments-changed", "lora", "without `--output`"), hurts("code-changed", "lora")),
        given=(Edit(TASK, PRINTS, PARSES + PRINTS),),
        never=("results belong",),
    ),
)
