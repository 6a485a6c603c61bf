"""Hyperparameter tuning. # W5"""

from ..bodies import choice, discrete, double, example, integer, tuning, under

EXAMPLES = (
    example(
        "study-metrics",
        tuning(study={"metrics": [{"metricId": "top 1", "goal": "MAXIMIZE"}]}),
        "an id without spaces",
        tuning(study={"metrics": [{"metricId": "a", "goal": "MAXIMIZE"}, {"metricId": "b", "goal": "MINIMIZE"}]}),
    ),
    example(
        "study-metrics", tuning(study={"metrics": [{"metricId": "a", "goal": "MAXIMIZE"}] * 2}), "given twice", tuning()
    ),
    example(
        "study-metrics",
        tuning(study={"metrics": [{"metricId": "a", "goal": "LARGER"}]}),
        "MAXIMIZE or MINIMIZE",
        tuning(study={"metrics": [{"metricId": "a"}]}),
    ),
    example("study-metrics", tuning(study={"metrics": []}), "no metric", tuning()),
    example("study-parameters", tuning(integer("a b")), "an id without spaces", tuning(integer("a-b"))),
    example("study-parameters", tuning(integer("a"), integer("a")), "a is given twice", tuning(integer("a"))),
    example("study-parameters", tuning(study={"parameters": []}), "no parameter to search", tuning()),
    example("study-parameters", tuning({**integer(), **double(0, 1)}), "exactly one of", tuning(integer())),
    example("study-parameters", tuning(double(2, 1)), "min 2 is above max 1", tuning(double(1, 2))),
    example("study-parameters", tuning(discrete(4, 2)), "must ascend", tuning(discrete(2, 4))),
    example("study-parameters", tuning(choice("m", "a", "a")), "a value is given twice", tuning(choice("m", "a"))),
    example("study-parameters", tuning(discrete()), "no values", tuning(discrete(1))),
    example(
        "study-parameters",
        tuning(double(0, 1, scaleType="UNIT_LOG_SCALE")),
        "a range above 0",
        tuning(double(0.1, 1, scaleType="UNIT_REVERSE_LOG_SCALE")),
        tuning(double(0, 1, scaleType="UNIT_LINEAR_SCALE")),
    ),
    example(
        "study-parameters",
        tuning(discrete(-1, 1, scaleType="UNIT_LOG_SCALE")),
        "a range above 0",
        tuning(discrete(1, 10, scaleType="UNIT_LOG_SCALE")),
    ),
    example("study-parameters", tuning(choice(scaleType="UNIT_LINEAR_SCALE")), "takes no scale", tuning(choice())),
    example(
        "study-grid",
        tuning(double(0, 1), study={"algorithm": "GRID_SEARCH"}),
        "rate is a double",
        tuning(integer(), choice(), discrete(1, 2), study={"algorithm": "GRID_SEARCH"}),
        tuning(double(0, 1), study={"algorithm": "RANDOM_SEARCH"}),
    ),
    example("study-grid", tuning(study={"algorithm": "BAYES"}), "unspecified is Bayesian", tuning()),
    example(
        "study-conditions",
        tuning(under(choice(), "parentCategoricalValues", "forest")),
        "model is never forest",
        tuning(under(choice(), "parentCategoricalValues", "svm")),
        tuning(under(integer(), "parentIntValues", "1", "9")),
        tuning(under(discrete(1, 2), "parentDiscreteValues", 2)),
    ),
    example(
        "study-conditions",
        tuning(under(integer(), "parentCategoricalValues", "1")),
        "its condition names integer values",
        tuning(),
    ),
    example(
        "study-conditions", tuning(under(choice(), "parentCategoricalValues")), "names no value of model", tuning()
    ),
    example(
        "study-counts",
        tuning(parallelTrialCount=9),
        "9 trials at once are more than the 8",
        tuning(parallelTrialCount=8),
    ),
    example(
        "study-counts",
        tuning(maxTrialCount=0, parallelTrialCount=0),
        "must both be at least 1",
        tuning(maxTrialCount=1, parallelTrialCount=1),
    ),
    example("study-counts", tuning(maxFailedTrialCount=9), "is above maxTrialCount 8", tuning(maxFailedTrialCount=8)),
)
