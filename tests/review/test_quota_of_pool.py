"""A pool's quota, counted by hand: whether what is created fits, and whether the pool can grow. # N6"""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.review.case import Case, World, stack
from tests.review.play import play

GPUS, LIVING = 8, (2, 4)
"""The GPUs of a machine; the fewest and the most machines of the deployed pool."""


@settings(max_examples=60, deadline=None, derandomize=True)
@given(low=st.integers(1, 5), more=st.integers(1, 4), limit=st.integers(LIVING[1], 9), in_place=st.booleans())
def test_the_quota_of_a_pool_is_as_counted(low: int, more: int, limit: int, in_place: bool) -> None:
    high, mode = low + more, "in-place" if in_place else "rollover"
    assume((low, high) != LIVING)
    edited = stack("{ min: 2, max: 4 }", f"{{ min: {low}, max: {high} }}")
    deployed = (stack("replacement: rollover", f"replacement: {mode}"),)
    limited = World(limits={"nvidia_h100_gpus": limit * GPUS})
    kinds = {finding.kind for finding in play(Case("a pool", (edited,), given=deployed, world=limited)).findings}
    # Of two generations at once each has its minimum.
    created = low if in_place else low + LIVING[0]
    assert ("quota-short-now" in kinds) == (created > limit)
    assert ("quota-short-at-most" in kinds or created > limit) == (high > limit or created > limit)
