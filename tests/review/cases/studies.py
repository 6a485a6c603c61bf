"""Studies: metrics, searched parameters, trials."""

from tests.review.case import Case, blocks, silent, template, warns

LISTED = """Search(
            "depth",
            "discrete",
            values=(2, 4, 8),
            conditions=(Condition((8,), (Search("width", "integer", min=1, max=4),)),),
        )"""
METRIC = '(Metric("accuracy"),)'
F1 = '(Metric("accuracy"), Metric("f1"))'

CASES = (
    Case(
        "A study judges by the loss, which is to be the largest, and nobody knows whether its code reports it",
        (template("tune", 'Metric("accuracy")', 'Metric("loss")'),),
        (warns("submission-changed", "tune"), blocks("code-contract-broken", "tune")),
    ),
    silent("A study's whole numbers are written with a point", template("tune", "min=2, max=16", "min=2.0, max=16.0")),
    Case(
        "A study judges by a second metric, of which less is better",
        (template("tune", METRIC, F1.replace("f1", "val_loss")),),
        (warns("submission-changed", "tune"), blocks("code-contract-broken", "tune")),
    ),
)
