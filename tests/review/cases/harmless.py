"""Harmless changes: most of them must not be mentioned."""

from tests.review.case import silent, stack, template

CASES = (
    silent("A comment of the stack file", stack("# The stack that the corpus edits:", "# Ours:")),
    silent(
        "Submitters in another order",
        stack(
            "      - group:ml@acme.example\n      - user:ada@acme.example\n",
            "      - user:ada@acme.example\n      - group:ml@acme.example\n",
        ),
        accident="a list that is compared by position",
    ),
    silent("Templates in another order", stack("    - lora\n    - digits\n", "    - digits\n    - lora\n")),
    silent(
        "Labels in another order",
        stack("{ team: platform, cost-center: research }", "{ cost-center: research, team: platform }"),
    ),
    silent(
        "A pool written over several lines, its keys in another order",
        stack(
            "{ machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas: { min: 2, max: 4 } }",
            "\n          replicas: { max: 4, min: 2 }\n          disk: { sizeGb: 500, type: pd-ssd }\n"
            '          machine: "a3-highgpu-8g"',
        ),
    ),
    silent(
        "Defaults written out",
        stack("      replacement: rollover\n", "      replacement: rollover\n      generation: 1\n"),
    ),
    silent("Another person is asked about quota", stack("platform@acme.example", "machines@acme.example")),
    silent(
        "A template's docstring",
        template("lora", "fine-tuning of a language model; the", "how a language model is tuned; the"),
    ),
    silent(
        "The help of a parameter", template("lora", 'help="rank of the adapters"', 'help="how large the adapters are"')
    ),
    silent(
        "A template's summary",
        template("digits", "hyperparameter search of a digit classifier", "searches a classifier of digits"),
    ),
    silent(
        "A variable of a template's file is renamed",
        template("digits", 'TREES = "--trees=${trees}"', 'OF_TREES = "--trees=${trees}"'),
        template("digits", "args=(TREES,", "args=(OF_TREES,"),
        accident="a rename taken for a removal",
    ),
    silent(
        "Parameters declared in another order",
        template(
            "lora",
            '        Parameter("steps", int, default=100, min=1, max=100_000, help="optimizer steps"),\n',
            "",
        ),
        template(
            "lora",
            '        Parameter("precision"',
            '        Parameter("steps", int, default=100, min=1, max=100_000, help="optimizer steps"),\n'
            '        Parameter("precision"',
        ),
    ),
    silent(
        "Parameters of a template in other words: a bound that says the same",
        template("lora", "max=100_000", "max=10**5"),
    ),
    silent("A guide, a test and the readme", files=("docs/cli.md", "README.md", "tests/slipway/model/test_facts.py")),
)
