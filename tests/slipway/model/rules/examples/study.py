"""Hyperparameter tuning. # W5"""

from collections.abc import Mapping
from typing import Any

from ..bodies import choice, discrete, double, example, integer, tuning, under


def given(inner: Mapping[str, str], both: str = "") -> dict[str, Any]:
    """Return the choice of svm or tree, with a parameter for each, and perhaps one for both."""
    ways = [([value], name) for value, name in inner.items()] + ([(["svm", "tree"], both)] if both else [])
    conditions = [{"parameterSpec": integer(name), "parentCategoricalValues": {"values": way}} for way, name in ways]
    return choice(conditionalParameterSpecs=conditions)


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
    example(
        "study-parameters",
        tuning(integer("inner"), under(choice(), "parentCategoricalValues", "svm")),
        "inner is given twice",
        tuning(under(choice(), "parentCategoricalValues", "svm")),
    ),
    example(
        "study-parameters",
        tuning(given({"svm": "c", "tree": "c"}, both="c")),
        "c is given twice",
        tuning(given({"svm": "c", "tree": "c"})),
    ),
    example("study-parameters", tuning(study={"parameters": []}), "no parameter to search", tuning()),
    example("study-parameters", tuning({**integer(), **double(0, 1)}), "exactly one of", tuning(integer())),
    example("study-parameters", tuning(double(2, 1)), "min 2 is above max 1", tuning(double(1, 2))),
    example("study-parameters", tuning(discrete(4, 2)), "must ascend", tuning(discrete(2, 4))),
    example("study-parameters", tuning(discrete(1, 1 + 1e-11)), "by 1e-10 or more", tuning(discrete(1, 1 + 1e-9))),
    example("study-parameters", tuning(discrete(*range(1001))), "1,001 values", tuning(discrete(*range(1000)))),
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
    example("study-counts", tuning(maxFailedTrialCount=-1), "maxFailedTrialCount -1", tuning(maxFailedTrialCount=0)),
    example("study-counts", tuning(maxFailedTrialCount=9), "is above maxTrialCount 8", tuning(maxFailedTrialCount=8)),
)
