"""Arguments of a job's command: values, places and names."""

from tests.review.case import BUSY, Case, Edit, blocks, notes, template, warns
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
        (notes("submission-changed", "lora"), warns("submission-changed", "tune")),
        given=(Edit(TASK, PRINTS, PARSES), PARSING),
    ),
    Case(
        "A whole number may be a fraction from now on, which its code can't read",
        (template("tune", '"folds", int, default=3', '"folds", float, default=3'),),
        (blocks("code-contract-broken", "tune"), warns("submission-changed", "tune")),
        given=(PARSING,),
    ),
    Case(
        "A parameter gets another name, in its argument as well, and the code keeps the old one",
        (
            template("lora", '"--rank=${rank}"', '"--lora-rank=${lora_rank}"'),
            template("lora", 'Parameter("rank"', 'Parameter("lora_rank"'),
        ),
        (
            blocks("code-contract-broken", "lora"),
            blocks("submission-rejected", "lora"),
            warns("submission-changed", "lora"),
        ),
        given=(Edit(TASK, PRINTS, PARSES),),
        world=BUSY,
    ),
    Case(
        "A program gets its arguments in another order",
        (template("evals", '"--suite=${suite}", "--batch=${batch}"', '"--batch=${batch}", "--suite=${suite}"'),),
        (),
    ),
    Case(
        "Results of a sweep go side by side into the stack's own bucket, and of no sweep into one place",
        (template("lora", "--output=${slipway.output}", "--output=gs://acme-work/${slipway.sweep}/rank-${rank}"),),
        (warns("submission-changed", "lora"),),
        world=BUSY,
    ),
    Case(
        "The code requires an argument in the place of another one",
        (Edit(TASK, '"--rank", default=16', '"--adapter", required=True'),),
        (blocks("code-contract-broken", "lora"),),
        may=("job-code-changed", "code-contract-broken"),
        given=(Edit(TASK, PRINTS, PARSES),),
    ),
    Case(
        "Code reads the place of its results from the environment, and the argument for it goes",
        (
            template("lora", '    "--output=${slipway.output}",\n', ""),
            Edit(
                TASK, PARSES + PRINTS, PARSES.replace(', "--output"', "") + '    print(os.environ["SLIPWAY_OUTPUT"])\n'
            ),
        ),
        (warns("job-code-changed", "lora"), warns("submission-changed", "lora")),
        given=(Edit(TASK, PRINTS, PARSES + PRINTS),),
    ),
)
