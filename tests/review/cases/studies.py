"""Studies: metrics, searched parameters, trials."""

from tests.review.case import Case, hurts, imports, silent, stops, tells, template

SEARCH = 'Search("depth", "integer", min=2, max=16)'
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
        (stops("study-changed", "tune", "`loss, maximized` instead of `accuracy, maximized`"),),
        accident="the worst trial was taken for the best",
    ),
    Case(
        "A study searches some values of a list, one thing more beside one of them, in more trials than its pool holds",
        (template("tune", SEARCH, LISTED), template("tune", "max=4,", "max=40,"), imports("tune", "Condition")),
        (
            tells("bounds-widened", "tune parameter parallel", "up to 40"),
            hurts("study-changed", "tune", "`depth` among `numbers 2, 4 or 8` instead of `whole numbers 2 to 16`"),
            hurts("study-changed", "tune", "search `width` too, among `whole numbers 1 to 4`"),
            hurts("study-changed", "tune", "search `width` only where `depth is 8`"),
        ),
        accident="a job that waited for machines that could never come",
    ),
    silent("A study's whole numbers are written with a point", template("tune", "min=2, max=16", "min=2.0, max=16.0")),
    Case(
        "A study judges by a second metric, of which less is better",
        (template("tune", METRIC, F1.replace("f1", "val_loss")),),
        (hurts("study-changed", "tune", "`val_loss` too", "goal MAXIMIZE"),),
    ),
)
