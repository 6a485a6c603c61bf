"""Studies: metrics, searched parameters, trials."""

from tests.review.case import Case, hurts, imports, more, silent, stack, stops, tells, template
from tests.review.edits import PARALLEL

SEARCH = 'Search("depth", "integer", min=2, max=16)'
LISTED = """Search(
            "depth",
            "discrete",
            values=(2, 4, 8),
            conditions=(Condition((8,), (Search("width", "integer", min=1, max=4),)),),
        )"""
TWO = f"{SEARCH}, Search('rate', 'double', min=0.1, max=0.5)"
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
    silent(
        "What a study searches is written in another order",
        template("tune", TWO, f"{TWO[len(SEARCH) + 2 :]}, {SEARCH}"),
        given=(template("tune", SEARCH, TWO),),
    ),
    silent("A study's whole numbers are written with a point", template("tune", "min=2, max=16", "min=2.0, max=16.0")),
    silent(
        "A study's metric says its goal, which it had by default",
        template("tune", METRIC, '(Metric("accuracy", "maximize"),)'),
    ),
    Case(
        "A study judges by a second metric, of which less is better",
        (template("tune", METRIC, F1.replace("f1", "val_loss")),),
        (hurts("study-changed", "tune", "`val_loss` too", "goal MAXIMIZE"),),
    ),
    Case(
        "A study runs more trials at once than its pool holds, of a kind that is not the usual one",
        (template("tune", "parallel_trials=2", "parallel_trials=8"),),
        (
            hurts(
                "offer-unavailable", "tune", "as a hyperparameter tuning job can't use pool `cpu` any more", "on Spot"
            ),
            hurts("study-changed", "tune", "`parallelTrialCount` `8` instead of `2`"),
            hurts("run-cost", "tune", "as a hyperparameter tuning job"),
        ),
        given=(
            template("tune", PARALLEL, ""),
            template("tune", 'parallel_trials="${parallel}"', "parallel_trials=2"),
            template(
                "tune", '("hyperparameter-tuning-job", "custom-job")', '("custom-job", "hyperparameter-tuning-job")'
            ),
            more("tune", 'capacity_types=("pool", "spot")'),
            stack("min: 4, max: 16", "min: 4, max: 6"),
        ),
        accident="a search that left the pool for eight machines of its own",
    ),
)
