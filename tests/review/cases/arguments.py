"""Arguments of a job's command: values, places and names."""

from dataclasses import replace

from tests.review.case import BUSY, Case, Edit, hurts, more, silent, stack, stops, tells, template
from tests.review.checkout import BASE
from tests.review.edits import INPUT, PRINTS, RANK, TASK

READS = Edit(
    TASK,
    "def main() -> None:\n" + PRINTS,
    "def main() -> None:\n    parser = ArgumentParser()\n"
    + "".join(f'    parser.add_argument("--{name}")\n' for name in ("model", "steps", "rank", "precision", "output"))
    + "    print(parser.parse_args())\n",
)
_READING = Edit(
    "jobs/digits/task.py",
    "def main() -> None:\n",
    "import argparse\n\n\ndef main() -> None:\n    parser = argparse.ArgumentParser()\n"
    '    for name in ("--trees", "--seed", "--output"):\n        parser.add_argument(name)\n    parser.parse_args()\n',
)
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
LONG_RULES = ",".join(f"depot{hour:02}=before-{hour:02}" for hour in range(6))

CASES = (
    Case(
        "A template gives its code an argument that this does not know",
        (template("lora", '    "--rank=${rank}",\n', '    "--rank=${rank}",\n    "--resume",\n'),),
        (stops("start-fails", "lora", "given `--resume`", "`jobs/lora/task.py` does not know"),),
        never=("what the code makes of it",),
        given=(READS,),
    ),
    Case(
        "A template gives its code an argument that this knows",
        (template("lora", '    "--rank=${rank}",\n', '    "--rank=${rank}",\n    "--model-dir=x",\n'),),
        (tells("arguments-changed", "lora", "what the code makes of it"),),
        may=("arguments-changed",),
        given=(
            READS,
            Edit(TASK, 'add_argument("--model")', 'add_argument("--model")\n    parser.add_argument("--model-dir")'),
        ),
    ),
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
        given=(
            Edit(TASK, PRINTS, PARSES),
            PARSING,
        ),
    ),
    Case(
        "A new template gives its code an argument that this does not know",
        (
            stack("    - evals\n", "    - evals\n    - deep\n"),
            Edit(
                "templates/deep.py",
                new=(BASE / "templates/tune.py")
                .read_text("utf-8")
                .replace('name="tune"', 'name="deep"')
                .replace('"--folds=${folds}"', '"--folds=${folds}", "--deep=9"'),
            ),
        ),
        (stops("start-fails", "deep", "given `--deep`", "`jobs/tune/task.py` does not know"),),
        may=("template-added",),
        given=(PARSING,),
    ),
    Case(
        "Code does not know what trials search any more, and jobs of the usual kind never gave it",
        (Edit("jobs/tune/task.py", '    parser.add_argument("--depth", type=int, default=5)\n', ""),),
        (
            stops(
                *("start-fails", "tune", "Jobs of `tune` as a hyperparameter tuning job fail at their start"),
                "given `--depth`",
            ),
        ),
        may=("code-changed",),
        given=(
            template(
                "tune", '("hyperparameter-tuning-job", "custom-job")', '("custom-job", "hyperparameter-tuning-job")'
            ),
            PARSING,
        ),
        accident="a renamed flag that a study alone passed",
    ),
    Case(
        "A template gives its code an argument that this does not know, for large models alone",
        (
            template(
                "lora",
                '                    Disk("pd-ssd", 500),\n                    args=ARGS,\n',
                '                    Disk("pd-ssd", 500),\n                    args=(*ARGS, "--shard"),\n',
            ),
        ),
        (stops("start-fails", "lora", "Jobs of `lora` (model=27b) fail at their start, given `--shard`"),),
        given=(READS,),
        may=("arguments-changed",),
    ),
    Case(
        "An argument goes, which the code then takes by its default",
        (template("tune", '"--folds=${folds}", "--depth=9"', '"--folds=${folds}"'),),
        (hurts("arguments-changed", "tune", "without `--depth`"),),
        given=(
            template("tune", '"--folds=${folds}"', '"--folds=${folds}", "--depth=9"'),
            PARSING,
        ),
    ),
    Case(
        "A template offers a value of a parameter that its code does not take",
        (template("lora", 'choices=("bf16", "fp32")', 'choices=("bf16", "fp16", "fp32")'),),
        (
            stops("start-fails", "lora", "where they get `--precision=fp16`", "`jobs/lora/task.py` refuses"),
            tells("bounds-widened", "lora"),
        ),
        given=(
            Edit(TASK, PRINTS, PARSES),
            Edit(
                TASK,
                '("--steps", "--precision", "--output"):\n        parser.add_argument(name)\n',
                '("--steps", "--output"):\n        parser.add_argument(name)\n'
                '    parser.add_argument("--precision", choices=["bf16", "fp32"])\n',
            ),
        ),
        accident="a night of jobs that each ended after the installation of their packages",
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
        "A study searches any number between its ends, and its code reads whole ones",
        (template("tune", '"depth", "integer"', '"depth", "double"'),),
        (
            stops("start-fails", "tune", "where they get `--depth=2.0`, which `jobs/tune/task.py` refuses"),
            hurts("study-changed", "tune", "`numbers 2 to 16`"),
        ),
        given=(PARSING,),
        accident="a search of depths whose trials all failed at 7.31",
    ),
    Case(
        "The code reads a fraction as a whole number",
        (Edit(PARSING.file, '"--folds", type=float', '"--folds", type=int'),),
        (stops("start-fails", "tune", "where they get `--folds=3.0`"), hurts("code-changed", "tune")),
        given=(
            replace(PARSING, new=f"{PARSING.new}".replace('"--folds", type=int', '"--folds", type=float')),
            template("tune", '"folds", int, default=3', '"folds", float, default=3'),
        ),
    ),
    Case(
        "The code reads a fraction where it read a whole number",
        (Edit(PARSING.file, '"--folds", type=int', '"--folds", type=float'),),
        (hurts("code-changed", "tune"),),
        given=(PARSING,),
    ),
    silent(
        "A whole default of a fraction is written with a point",
        template("tune", "float, default=3,", "float, default=3.0,"),
        given=(template("tune", '"folds", int, default=3', '"folds", float, default=3'),),
    ),
    silent(
        "A whole default is written with a line below, and its code reads whole numbers",
        template("tune", "default=1000,", "default=1_000,"),
        given=(PARSING, template("tune", "default=3, min=2, max=10", "default=1000, min=2, max=9000")),
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
        "A parameter gets another name, in its argument as well, of code that takes both",
        (
            template("lora", '"--rank=${rank}"', '"--lora-rank=${lora_rank}"'),
            template("lora", 'Parameter("rank"', 'Parameter("lora_rank"'),
        ),
        (
            stops("parameter-renamed", "lora", "that set `rank` are refused"),
            hurts("arguments-changed", "lora", "`--rank=${rank}` → `--lora-rank=${lora_rank}`"),
        ),
        given=(Edit(TASK, PRINTS, PARSES.replace('"--rank"', '"--rank", "--lora-rank"')),),
        world=BUSY,
        never=("--rank=${lora_rank}`",),
    ),
    Case(
        "The code of all worker pools requires an argument that one alone is given",
        (
            Edit(
                "jobs/digits/task.py",
                '    print("trained", EVERY)\n',
                '    parser.add_argument("--trees", type=int, required=True)\n    parser.add_argument("--seed")\n',
            ),
        ),
        (stops("start-fails", "digits", "without `--trees`", "`jobs/digits/task.py` requires", "to `workers`"),),
        may=("code-changed",),
    ),
    Case(
        "All results are written into one folder, and half of a machine's memory is taken away",
        (
            template("digits", "--output=${slipway.output}", "--output=gs://acme-results/digits"),
            template("evals", '"n1-standard-8"', '"n1-standard-4"'),
        ),
        (
            stops("arguments-changed", "digits", "one place for all", "overwrites the one before"),
            hurts("machines-changed", "evals", "ask for `n1-standard-4` instead", "what fits into memory"),
        ),
        may=("run-cost",),
        accident="runs that wrote over each other's results",
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
        "An input is copied no more",
        (template("digits", '    inputs={"data": "gs://acme-data/digits"},\n', ""),),
        (stops("arguments-changed", "digits", "$SLIPWAY_INPUT_DATA", "fails"),),
        given=(more("digits", 'inputs={"data": "gs://acme-data/digits"}'),),
    ),
    Case(
        "An input is copied where a parameter names it alone",
        (
            template("digits", '{"data": "gs://acme-data/digits"}', '{"data": "${source}"}'),
            template(
                "digits", "    parameters=(\n", '    parameters=(\n        Parameter("source", str, default=""),\n'
            ),
        ),
        (
            stops("arguments-changed", "digits", "unless `source` says from where", "$SLIPWAY_INPUT_DATA"),
            tells("parameter-added", "digits", "source"),
        ),
        given=(INPUT,),
        never=("takes the same without it", "= nothing"),
    ),
    Case(
        "A case's machine that loses its arguments: nothing that is submitted reaches it",
        (template("lora", 'Disk("pd-ssd", 500),\n                    args=ARGS,\n', 'Disk("pd-ssd", 500),\n'),),
        (stops("arguments-changed", "lora", "`--output`"),),
        world=BUSY,
        accident="a helper that forgot to pass the arguments on",
    ),
    Case(
        "Arguments in another order, each of which the code reads by its name",
        (template("digits", 'TREES, "--seed=${seed}"', '"--seed=${seed}", TREES'),),
        (tells("arguments-changed", "digits", "in another order"),),
        given=(_READING,),
        accident="a warning of nothing, after which nobody read the next one",
    ),
    Case(
        "A program gets an argument once that it got twice",
        (template("evals", '"-v", "-v"', '"-v"'),),
        (hurts("arguments-changed", "evals", "started with `-v` 1 time instead of 2", "`… -v` → `…`"),),
        given=(template("evals", '"--suite=${suite}"', '"-v", "-v", "--suite=${suite}"'),),
        never=("another order",),
        accident="a log without the lines that somebody looked for",
    ),
    Case(
        "A program gets an argument thrice that it got twice, and another suite",
        (template("evals", '"-v", "-v", "--suite=${suite}"', '"-v", "-v", "-v", "--suite=the-${suite}"'),),
        (
            hurts(
                *("arguments-changed", "evals", "`--suite=the-${suite}` instead of `--suite=${suite}` and with"),
                "`-v` 3 times instead of 2",
            ),
        ),
        given=(template("evals", '"--suite=${suite}"', '"-v", "-v", "--suite=${suite}"'),),
    ),
    silent(
        "An argument that a program gets twice is written once, as a product",
        template("evals", '"-v", "-v"', '*(2 * ("-v",))'),
        given=(template("evals", '"--suite=${suite}"', '"-v", "-v", "--suite=${suite}"'),),
    ),
    Case(
        "Code gets an argument twice that it got once",
        (template("tune", '"--folds=${folds}"', '"--folds=${folds}", "--folds=${folds}"'),),
        (hurts("arguments-changed", "tune", "`--folds=${folds}` 2 times instead of 1"),),
        given=(PARSING,),
        accident="an output folder that was given twice",
    ),
    Case(
        "A long argument ends in another way",
        (template("evals", f"{LONG_RULES}:30", f"{LONG_RULES}:45"),),
        (hurts("arguments-changed", "evals", "`--rules=…", "depot05=before-05:45` instead of", "05:30`"),),
        given=(template("evals", '"--suite=${suite}"', f'"--suite=${{suite}}", "--rules={LONG_RULES}:30"'),),
        accident="a rule at the end of a long line that nobody saw",
    ),
    Case(
        "An argument has two blanks where it had one",
        (template("evals", "--note=of a night", "--note=of a  night"),),
        (hurts("arguments-changed", "evals", "`--note=of␣a␣␣night` instead of the same with other blanks"),),
        given=(template("evals", '"--suite=${suite}"', '"--suite=${suite}", "--note=of a night"'),),
    ),
    Case(
        "A program gets its arguments in another order",
        (template("evals", '"--suite=${suite}", "--batch=${batch}"', '"--batch=${batch}", "--suite=${suite}"'),),
        (hurts("arguments-changed", "evals", "with their arguments in another order"),),
    ),
    Case(
        "The container starts with another command",
        (template("evals", 'command=("judge",)', 'command=("bash", "-c", "judge || true")'),),
        (hurts("arguments-changed", "evals", "bash"),),
        accident="a failure that was swallowed",
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
        "A shell before a program takes the program's arguments",
        (template("evals", 'command=("judge",)', 'command=("sh", "-c", "ulimit -n 65536 && judge")'),),
        (hurts("arguments-changed", "evals", "ulimit -n 65536 && judge", "in their command"),),
        world=BUSY,
        accident="a judge that ran by its own defaults for a month",
    ),
    Case(
        "A shell before a program that hands the arguments on",
        (
            template(
                "evals", 'command=("judge",)', """command=("sh", "-c", 'ulimit -n 65536 && exec judge "$@"', "judge")"""
            ),
        ),
        (hurts("arguments-changed", "evals", "in their command"),),
        never=("own values",),
    ),
    Case(
        "An argument that the template gives has another name in the code, and a default counts for nobody",
        (Edit(TASK, '"--rank", default=16', '"--lora-rank", default=16'), Edit(TASK, "default=10", "default=90")),
        (
            stops("start-fails", "lora", "given `--rank`, which `jobs/lora/task.py`"),
            hurts("code-changed", "lora", "default=90"),
        ),
        given=(Edit(TASK, PRINTS, PARSES),),
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
    Case(
        "A flag goes, and one that set what the smaller case alone still reads",
        (
            template("tune", '"--folds=${folds}", "--fast"', '"--folds=${folds}"'),
            template("lora", "                    args=ARGS,\n", "                    args=(*ARGS[:2], *ARGS[3:]),\n"),
        ),
        (
            hurts("arguments-changed", "tune", "without `--fast`"),
            hurts("arguments-changed", "lora", "without `--rank`"),
        ),
        given=(template("tune", '"--folds=${folds}",', '"--folds=${folds}", "--fast",'),),
    ),
    Case(
        "Another module of the same code is started",
        (
            template("digits", '"digits.task"', '"digits.other"'),
            Edit("jobs/digits/other.py", "", "print(1)\n"),
        ),
        (hurts("arguments-changed", "digits", "`digits.other` instead of `digits.task`", "saves and reports"),),
        may=("code-changed",),
        accident="a module started whose arguments were others",
    ),
)
