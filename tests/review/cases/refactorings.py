"""Harmless changes of templates and of job code."""

from tests.review.case import Case, Edit, silent, stack, template
from tests.review.edits import REFUSED, SAVING, VARIANT

CASES = (
    silent(
        "A comment of the job's code: other bytes, and nothing else",
        Edit("jobs/digits/task.py", "so that two runs are the same", "and two runs are the same"),
    ),
    silent(
        "A refusal in other words",
        template("lora", "9b in fp32 needs more than 40 GB", "40 GB are too few"),
        given=(template("lora", VARIANT, VARIANT.replace("variants=(\n", f"variants=(\n        {REFUSED},\n")),),
    ),
    silent("A bound is written as a power", template("lora", "max=256", "max=2**8")),
    silent("A timeout is written as a product", template("lora", "86_400", "24 * 3600")),
    silent(
        "A template's docstring, its summary, and the help of a parameter",
        template("lora", "fine-tuning of a language model; the", "how a language model is tuned; the"),
        template("lora", 'help="rank of the adapters"', 'help="how large the adapters are"'),
        template("digits", "hyperparameter search of a digit classifier", "searches a classifier of digits"),
    ),
    silent(
        "A team says for a key of the stack what everybody has",
        stack("ada@acme.example] } }", "ada@acme.example], machines: { small: { machine: n1-standard-8 } } } }"),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:machines: { small: n1-standard-8 }\n"
                "  slipway:teams: { vision: { submitters: [user:ada@acme.example] } }\n"
                "  slipway:policy:\n",
            ),
            template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
        ),
    ),
    silent("What Python leaves beside a job's code", Edit("jobs/lora/__pycache__/task.cpython-311.pyc", "", "bytes\n")),
    silent(
        "Choices of a parameter in another order",
        template("lora", 'choices=("bf16", "fp32")', 'choices=("fp32", "bf16")'),
    ),
    silent("A disk's size is left out, which is the default", template("tune", '"pd-ssd", 100', '"pd-ssd"')),
    silent("A parameter's bounds with a point", template("digits", "min=1, max=5000", "min=1.0, max=5000.0")),
    Case(
        "The line that saves is in another file now",
        (
            Edit("jobs/digits/task.py", "        os.replace(new, kept)\n", "        keep(new, kept)\n"),
            Edit("jobs/digits/keeping.py", new="import os\n\n\ndef keep(new, kept):\n    os.replace(new, kept)\n"),
        ),
        may=("code-changed",),
        given=SAVING,
        never=("no line saves",),
    ),
    silent(
        "A variant's value as one of several",
        template("lora", 'Variant(\n            {"model": "27b"},', 'Variant(\n            {"model": ("27b",)},'),
    ),
    silent("The launcher said", template("evals", 'command=("judge",),', 'command=("judge",), launcher=True,')),
    Case(
        "The type of a job's variable",
        (Edit("jobs/digits/task.py", "EVERY = 20 ", "EVERY: int = 20 "),),
        may=("code-changed",),
    ),
    silent("An image's name in two parts", template("evals", "acme-ml/evals/judge@", 'acme-ml/evals/" "judge@')),
    silent(
        "digits: nicer words, numbers that can be read",
        template(
            "digits",
            "hyperparameter search of a digit classifier, spread over the workers",
            "searches hyperparameters of a digit classifier on many small machines",
        ),
        template("digits", 'help="worker machines"', 'help="machines that fit trees, each with 8 CPUs"'),
        template("digits", "max=5000", "max=5_000"),
        template("digits", "timeout_s=3600", "timeout_s=60 * 60"),
    ),
)
