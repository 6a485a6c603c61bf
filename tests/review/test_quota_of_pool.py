"""A pool's quota, counted by hand: how it stands, and how far the pool grows. # N6"""

import re

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from slipway.reviewing.rules.quota import quota_in_words

from slipway.reviewing.review import review
from tests.review.case import Case, World, stack
from tests.review.play import change_of

GPUS, LIVING = 8, (2, 4)
"""The GPUs of a machine; the fewest and the most machines of the deployed pool."""


def stands(at_once: int, most: int) -> str:
    return "short" if at_once > 0 else "ok now, short if pools grow" if most > 0 else "ok"


@settings(max_examples=60, deadline=None, derandomize=True)
@given(low=st.integers(1, 5), more=st.integers(1, 4), limit=st.integers(LIVING[0], 9), in_place=st.booleans())
def test_the_quota_of_a_pool_is_as_counted(low: int, more: int, limit: int, in_place: bool) -> None:
    high, mode = low + more, "in-place" if in_place else "rollover"
    assume((low, high) != LIVING)
    edited = stack("{ min: 2, max: 4 }", f"{{ min: {low}, max: {high} }}")
    deployed = (stack("replacement: rollover", f"replacement: {mode}"),)
    change = change_of(
        Case("a pool", (edited,), given=deployed, world=World(limits={"nvidia_h100_gpus": limit * GPUS}))
    )
    held = 0 if in_place else LIVING[0]
    made = low + held
    assert quota_in_words(change) == stands(made - limit, high - limit)
    for part in review(change).consequences:
        if found := re.search(r"`h100/workers` can't grow beyond (\d+) of (\d+) machines", part.sentence):
            assert [*map(int, found.groups())] == [min(limit, high), high] and limit < high, part.sentence
        if found := re.search(r"is short by (\d+) for what is made", part.sentence):
            assert int(found[1]) == (made - limit) * GPUS and low > limit, part.sentence
        if "beside an old one" in part.sentence:
            assert low <= limit < made, part.sentence
