"""Studies: metrics, searched parameters, trials."""

from tests.review.case import BUSY, Case, Edit, hurts, imports, more, silent, stack, stops, tells, template
from tests.review.edits import PARALLEL, REPORTS

SEARCH = 'Search("depth", "integer", min=2, max=16)'
LISTED = """Search(
            "depth",
            "discrete",
            values=(2, 4, 8),
            conditions=(Condition((8,), (Search("width", "integer", min=1, max=4),)),),
        )"""
MANY = 'Search("depth", "discrete", values=(2, 4, 8))'
BELOW = imports("tune", "Condition"), template("tune", SEARCH, LISTED)
SCALED = SEARCH.replace("max=16", 'max=16, scale="log"')
TWO = f"{SEARCH}, Search('rate', 'double', min=0.1, max=0.5)"
METRIC = '(Metric("accuracy"),)'
F1 = '(Metric("accuracy"), Metric("f1"))'

CASES = (
    Case(
        "A study judges by a metric that its code does not report",
        (template("tune", 'Metric("accuracy")', 'Metric("f1")'),),
        (
            stops(
                "study-changed",
                "tune",
                "`f1, maximized` instead of `accuracy, maximized`",
                "does not report that has no result",
            ),
        ),
        given=(REPORTS,),
        accident="a study whose trials reported another metric",
    ),
    Case(
        "A study takes the other end of its metric, of a template whose usual jobs search nothing",
        (template("tune", 'Metric("accuracy")', 'Metric("accuracy", "minimize")'),),
        (stops("study-changed", "tune", "`tune` as a hyperparameter tuning job take the other end of `accuracy`"),),
        given=(
            template(
                "tune", '("hyperparameter-tuning-job", "custom-job")', '("custom-job", "hyperparameter-tuning-job")'
            ),
        ),
        never=("in pool",),
    ),
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
    Case(
        "Trials that promise little end early",
        (template("tune", "        max_trials", '        stopping=Stopping("median"),\n        max_trials'),),
        (hurts("study-changed", "tune", "end trials early that promise less than others"),),
        given=(imports("tune", "Stopping"),),
        never=("search with",),
    ),
    Case(
        "A study looks for the largest error",
        (template("tune", 'Metric("accuracy")', 'Metric("accuracy", "minimize")'),),
        (stops("study-changed", "tune"),),
        accident="a sign that was turned",
    ),
    Case(
        "A study looks in a narrower range",
        (template("tune", "min=2, max=16", "min=2, max=4"),),
        (hurts("study-changed", "tune", "depth"),),
    ),
    Case(
        "A study searches whole numbers, and then any number between the same ends",
        (template("tune", '"integer"', '"double"'),),
        (hurts("study-changed", "tune study", "`depth` among `numbers 2 to 16` instead of `whole numbers 2 to 16`"),),
        accident="a search of depths whose trials all failed at 7.31",
    ),
    Case(
        "A study searches numbers of a list, and then the same as texts",
        (template("tune", MANY, 'Search("depth", "categorical", values=("2", "4", "8"))'),),
        (hurts("study-changed", "tune", "among `texts 2, 4 or 8` instead of `numbers 2, 4 or 8`"),),
        given=(template("tune", SEARCH, MANY),),
    ),
    Case(
        "A study searches one thing beside another value than before",
        (template("tune", "Condition((8,)", "Condition((2, 8)"),),
        (hurts("study-changed", "tune", "`width` where `depth is 2 or 8` instead of where `depth is 8`"),),
        given=BELOW,
        never=("parameterId", "among"),
    ),
    Case(
        "A study searches any number of what it has beside one value",
        (template("tune", '"width", "integer"', '"width", "double"'),),
        (hurts("study-changed", "tune", "`width` among `numbers 1 to 4` instead of `whole numbers 1 to 4`"),),
        given=BELOW,
        never=("where", "`depth`"),
        accident="a whole number of a study that came as a fraction",
    ),
    Case(
        "A study searches one thing beside each value of another, and not beside one alone",
        (template("tune", LISTED, f'{MANY}, Search("width", "integer", min=1, max=4)'),),
        (hurts("study-changed", "tune", "search `width` anywhere, not only where `depth is 8`"),),
        given=BELOW,
    ),
    Case(
        "A study searches all depths alike, not the small ones more closely",
        (template("tune", SCALED, SEARCH),),
        (hurts("study-changed", "tune", "instead of `whole numbers 2 to 16 on a logarithmic scale`"),),
        given=(template("tune", SEARCH, SCALED),),
        never=("UNIT",),
    ),
    Case(
        "A study searches the large depths more closely, not the small ones",
        (template("tune", 'scale="log"', 'scale="reverse-log"'),),
        (hurts("study-changed", "tune", "`whole numbers 2 to 16 on a reversed logarithmic scale` instead of"),),
        given=(template("tune", SEARCH, SCALED),),
        never=("UNIT",),
    ),
    Case(
        "A study does not search one of two things any more",
        (template("tune", TWO, SEARCH),),
        (hurts("study-changed", "tune", "don't search `rate` any more, which was among `numbers 0.1 to 0.5`"),),
        given=(template("tune", SEARCH, TWO),),
    ),
    silent(
        "What a study searches is written in another order",
        template("tune", TWO, f"{TWO[len(SEARCH) + 2 :]}, {SEARCH}"),
        given=(template("tune", SEARCH, TWO),),
    ),
    silent(
        "The numbers of a study's list are written with a point",
        template("tune", "values=(2, 4, 8)", "values=(2.0, 4.0, 8.0)"),
        given=BELOW,
    ),
    silent(
        "A study's whole numbers are written with a point",
        template("tune", "min=2, max=16", "min=2.0, max=16.0"),
    ),
    Case(
        "A study and its code move to another metric together",
        (
            template("tune", 'Metric("accuracy")', 'Metric("f1")'),
            Edit("jobs/tune/task.py", 'hyperparameter_metric_tag="accuracy"', 'hyperparameter_metric_tag="f1"'),
        ),
        (hurts("study-changed", "tune", "by `f1, maximized`"),),
        may=("code-changed",),
        never=("change the template's metric", "sees no result"),
        given=(
            REPORTS,
            Edit(
                "jobs/tune/task.py",
                'tuner.report_hyperparameter_tuning_metric("accuracy", EVERY)',
                'tuner.report_hyperparameter_tuning_metric(hyperparameter_metric_tag="accuracy", metric_value=EVERY)',
            ),
        ),
        world=BUSY,
    ),
    Case(
        "A study judges by its loss, which its code reports from now on, and takes the highest for the best",
        (template("tune", METRIC, '(Metric("log_loss"),)'), Edit(REPORTS.file, '"accuracy"', '"log_loss"')),
        (hurts("study-changed", "tune study", "`log_loss, maximized`", "does not report that has no result"),),
        may=("code-changed",),
        given=(REPORTS,),
        never=("first have the code report it", "not known: whether the edited code"),
        accident="a search that maximized its loss",
    ),
    silent(
        "A study's metric says its goal, which it had by default",
        template("tune", METRIC, '(Metric("accuracy", "maximize"),)'),
    ),
    Case(
        "A study judges by a second metric",
        (template("tune", METRIC, F1),),
        (hurts("study-changed", "tune study metrics f1", "`f1`"),),
    ),
    Case(
        "A study judges by a second metric, of which less is better",
        (template("tune", METRIC, F1.replace("f1", "val_loss")),),
        (hurts("study-changed", "tune", "`val_loss` too", "goal MAXIMIZE"),),
    ),
    Case(
        "A study does not judge by its second metric any more",
        (template("tune", F1, METRIC),),
        (stops("study-changed", "tune", "`f1`"),),
        given=(template("tune", METRIC, F1),),
        accident="a study that called another trial the best",
    ),
    Case(
        "A study runs more trials at once, and ends after fewer failures",
        (template("tune", "parallel_trials=2, max_failed_trials=3", "parallel_trials=4, max_failed_trials=1"),),
        (
            hurts(
                *("study-changed", "tune", "`parallelTrialCount` `4` instead of `2`"),
            ),
            hurts("study-changed", "tune", "`maxFailedTrialCount` `1` instead of `3`"),
        ),
        given=(
            template(
                "tune", '        Parameter("parallel", int, default=2, min=1, max=4, help="trials at once"),\n', ""
            ),
            template("tune", 'parallel_trials="${parallel}"', "parallel_trials=2, max_failed_trials=3"),
        ),
        may=("run-cost",),
    ),
    Case(
        "Fewer trials at once",
        (template("tune", "parallel_trials=4", "parallel_trials=2"),),
        (hurts("study-changed", "tune", "`parallelTrialCount` `2` instead of `4`"),),
        given=(template("tune", 'parallel_trials="${parallel}"', "parallel_trials=4"), template("tune", PARALLEL, "")),
        may=("run-cost",),
        never=("learns nothing",),
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
