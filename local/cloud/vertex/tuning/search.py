"""The next point of a study: the same point for the same study and trial, however often it is requested."""

import random
from collections.abc import Iterator, Sequence
from itertools import islice

from . import bayesian, space
from .space import Assignment, Parameter
from .study import Study
from .trial import Trial


def suggested(study: Study, seed: str, trials: Sequence[Trial]) -> Assignment | None:
    """Return the parameters of the trial after `trials`, or None when a grid has no more points.

    `seed` tells studies apart. Bayesian search is a stand-in: the service's own is not public.
    """
    number = len(trials) + 1
    if study.algorithm == "grid":
        return next(islice(grid(study.space), len(trials), None), None)
    if study.algorithm == "random":
        chance = random.Random(f"{seed}/{number}")
        return space.assigned(study.space, lambda parameter: space.at(parameter, chance.random()))
    return bayesian.suggested(study, random.Random(f"{seed}/{number}").randrange(2**32), trials)


def grid(parameters: Sequence[Parameter]) -> Iterator[Assignment]:
    """Yield all points of a space without doubles; the last parameter changes soonest."""
    if not parameters:
        yield ()
        return
    first, *others = parameters
    for value in first.choices():
        for inner in grid(first.active(value)):
            for rest in grid(others):
                yield ((first.id, value), *inner, *rest)
