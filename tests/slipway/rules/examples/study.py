"""Hyperparameter tuning. # W5"""

from ..bodies import Example, choice, discrete, double, integer, tuning, under

EXAMPLES: tuple[tuple[str, Example], ...] = (
    (
        "study-metrics",
        Example(
            tuning(study={"metrics": [{"metricId": "top 1", "goal": "MAXIMIZE"}]}),
            "an id without spaces",
            (
                tuning(
                    study={"metrics": [{"metricId": "a", "goal": "MAXIMIZE"}, {"metricId": "b", "goal": "MINIMIZE"}]}
                ),
            ),
        ),
    ),
    (
        "study-metrics",
        Example(tuning(study={"metrics": [{"metricId": "a", "goal": "MAXIMIZE"}] * 2}), "given twice", (tuning(),)),
    ),
    (
        "study-metrics",
        Example(
            tuning(study={"metrics": [{"metricId": "a", "goal": "LARGER"}]}),
            "MAXIMIZE or MINIMIZE",
            (tuning(study={"metrics": [{"metricId": "a"}]}),),
        ),
    ),
    ("study-metrics", Example(tuning(study={"metrics": []}), "no metric", (tuning(),))),
    ("study-names", Example(tuning(integer("a b")), "an id without spaces", (tuning(integer("a-b")),))),
    ("study-names", Example(tuning(integer("a"), integer("a")), "a is given twice", (tuning(integer("a")),))),
    ("study-names", Example(tuning(study={"parameters": []}), "no parameter to search", (tuning(),))),
    ("study-values", Example(tuning({**integer(), **double(0, 1)}), "exactly one of", (tuning(integer()),))),
    ("study-values", Example(tuning(double(2, 1)), "min 2 is above max 1", (tuning(double(1, 2)),))),
    ("study-values", Example(tuning(discrete(4, 2)), "must ascend", (tuning(discrete(2, 4)),))),
    ("study-values", Example(tuning(choice("m", "a", "a")), "a value is given twice", (tuning(choice("m", "a")),))),
    ("study-values", Example(tuning(discrete()), "no values", (tuning(discrete(1)),))),
    (
        "study-scale",
        Example(
            tuning(double(0, 1, scaleType="UNIT_LOG_SCALE")),
            "a range above 0",
            (
                tuning(double(0.1, 1, scaleType="UNIT_REVERSE_LOG_SCALE")),
                tuning(double(0, 1, scaleType="UNIT_LINEAR_SCALE")),
            ),
        ),
    ),
    (
        "study-scale",
        Example(
            tuning(discrete(-1, 1, scaleType="UNIT_LOG_SCALE")),
            "a range above 0",
            (tuning(discrete(1, 10, scaleType="UNIT_LOG_SCALE")),),
        ),
    ),
    (
        "study-scale",
        Example(tuning(choice(scaleType="UNIT_LINEAR_SCALE")), "takes no scale", (tuning(choice()),)),
    ),
    (
        "study-grid",
        Example(
            tuning(double(0, 1), study={"algorithm": "GRID_SEARCH"}),
            "rate is a double",
            (
                tuning(integer(), choice(), discrete(1, 2), study={"algorithm": "GRID_SEARCH"}),
                tuning(double(0, 1), study={"algorithm": "RANDOM_SEARCH"}),
            ),
        ),
    ),
    ("study-grid", Example(tuning(study={"algorithm": "BAYES"}), "unspecified is Bayesian", (tuning(),))),
    (
        "study-conditions",
        Example(
            tuning(under(choice(), "parentCategoricalValues", "forest")),
            "model is never forest",
            (
                tuning(under(choice(), "parentCategoricalValues", "svm")),
                tuning(under(integer(), "parentIntValues", "1", "9")),
                tuning(under(discrete(1, 2), "parentDiscreteValues", 2)),
            ),
        ),
    ),
    (
        "study-conditions",
        Example(
            tuning(under(integer(), "parentCategoricalValues", "1")), "its condition names integer values", (tuning(),)
        ),
    ),
    (
        "study-conditions",
        Example(tuning(under(choice(), "parentCategoricalValues")), "names no value of model", (tuning(),)),
    ),
    (
        "study-counts",
        Example(tuning(parallelTrialCount=9), "9 trials at once are more than the 8", (tuning(parallelTrialCount=8),)),
    ),
    ("study-counts", Example(tuning(maxTrialCount=0, parallelTrialCount=0), "must both be at least 1", (tuning(),))),
    (
        "study-counts",
        Example(tuning(maxFailedTrialCount=9), "is above maxTrialCount 8", (tuning(maxFailedTrialCount=8),)),
    ),
)
