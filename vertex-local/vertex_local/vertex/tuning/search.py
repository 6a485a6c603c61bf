"""The next point of a study: the same point for the same study and trial, however often it is requested."""

import itertools
import random
from collections.abc import Iterator, Sequence

from . import space
from .space import Assignment, Parameter
from .study import Study


def suggested(study: Study, seed: str, earlier: int) -> Assignment | None:
    """Return the parameters of the trial after so many `earlier` ones, or None when a grid has no more points. `seed`
    tells studies apart. What is no grid is searched at random: the service's Bayesian search is not public."""
    if study.grid:
        return next(itertools.islice(grid(study.space), earlier, None), None)
    chance = random.Random(f"{seed}/{earlier + 1}")
    return tuple((parameter.id, space.at(parameter, chance.random())) for parameter in study.space)


def grid(parameters: Sequence[Parameter]) -> Iterator[Assignment]:
    """Yield all points of a space; the last parameter changes soonest."""
    if not parameters:
        yield ()
        return
    first, *others = parameters
    for value in first.choices():
        for rest in grid(others):
            yield ((first.id, value), *rest)
