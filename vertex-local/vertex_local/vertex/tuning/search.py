"""The next point of a study: the same point for the same study and trial, however often it is requested."""

import itertools
import random
from collections.abc import Iterator, Sequence

from . import space
from .space import Assignment, Parameter, Value
from .study import Study


def suggested(study: Study, seed: str, earlier: int) -> Assignment | None:
    """Return the parameters of the trial after so many `earlier` ones, or None when a grid has no more points. `seed`
    tells studies apart. What is no grid is searched at random: the service's Bayesian search is not public."""
    if study.grid:
        return next(itertools.islice(grid(study.space), earlier, None), None)
    return tuple(_drawn(study.space, random.Random(f"{seed}/{earlier + 1}")))


def _drawn(parameters: Sequence[Parameter], chance: random.Random) -> Iterator[tuple[str, Value]]:
    for parameter in parameters:
        value = space.at(parameter, chance.random())
        yield parameter.id, value
        yield from _drawn(parameter.below(value), chance)


def grid(parameters: Sequence[Parameter]) -> Iterator[Assignment]:
    """Yield all points of a space; the last parameter changes soonest, and conditional ones come after their parent."""
    if not parameters:
        yield ()
        return
    first, *others = parameters
    for value in first.choices():
        for rest in grid((*first.below(value), *others)):
            yield ((first.id, value), *rest)
