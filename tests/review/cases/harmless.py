"""Harmless changes: most of them must not be mentioned."""

from tests.review.case import silent, stack, template

CASES = (
    silent("A comment of the stack file", stack("# The stack that the corpus edits:", "# Ours:")),
    silent("Templates in another order", stack("    - lora\n    - digits\n", "    - digits\n    - lora\n")),
    silent("Another person is asked about quota", stack("platform@acme.example", "machines@acme.example")),
    silent(
        "A template's docstring, its summary, and the help of a parameter",
        template("lora", "fine-tuning of a language model; the", "how a language model is tuned; the"),
        template("lora", 'help="rank of the adapters"', 'help="how large the adapters are"'),
        template("digits", "hyperparameter search of a digit classifier", "searches a classifier of digits"),
    ),
    silent(
        "A variable of a template's file is renamed",
        template("digits", 'TREES = "--trees=${trees}"', 'OF_TREES = "--trees=${trees}"'),
        template("digits", "args=(TREES,", "args=(OF_TREES,"),
        accident="a rename taken for a removal",
    ),
    silent(
        "Parameters of a template in other words: a bound that says the same",
        template("lora", "max=100_000", "max=10**5"),
    ),
)
