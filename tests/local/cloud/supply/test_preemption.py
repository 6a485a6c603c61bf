"""Who loses a Spot machine when, as pure deciding (X2)."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from local.cloud.supply.preemption import Target, Victim, victims
from local.cloud.supply.scenario import Chance, Preemption, Scenario

KIND = ("us-central1", "m")
TARGET = Target(1, "7001", "spot-digits", 1, 0, ("workerpool0-0", "workerpool1-0"), 5.0, {KIND: 2})


def once(*preemptions: Preemption, target: Target = TARGET) -> tuple[Victim, ...]:
    return victims(Scenario(preemptions=preemptions), [target], {})


def test_a_job_is_preempted_when_it_has_run_so_long() -> None:
    entry = Preemption("spot", "workerpool1-0", 5, 1)
    assert once(entry) == (Victim(1, "workerpool1-0"),)
    assert once(replace(entry, after=5.1)) == ()
    assert once(replace(entry, job="digits")) == ()
    assert once(entry, target=replace(TARGET, running_s=None)) == (), "it does not run yet"
    assert once(replace(entry, replica="workerpool1-7")) == (), "it has no such replica"


def test_each_entry_counts_for_as_many_preemptions_as_it_says() -> None:
    entries = (Preemption("spot", "workerpool0-0", 1, 2), Preemption("spot", "workerpool1-0", 2, 1))
    found = [once(*entries, target=replace(TARGET, preempted=count)) for count in range(4)]
    assert found == [(Victim(1, "workerpool0-0"),)] * 2 + [(Victim(1, "workerpool1-0"),), ()]
    always = Preemption("spot", "workerpool0-0", 0, -1)
    assert once(always, target=replace(TARGET, preempted=1000)) == (Victim(1, "workerpool0-0"),)


def preempted_after(seed: int, target: Target, rate: float = 60.0) -> int:
    scenario = Scenario(chance=Chance(rate, seed))
    return next(s for s in range(10**6) if victims(scenario, [replace(target, running_s=float(s))], {}))


def test_the_same_seed_preempts_at_the_same_time_and_another_at_another() -> None:
    first = [preempted_after(seed, TARGET) for seed in range(5)]
    assert first == [preempted_after(seed, TARGET) for seed in range(5)]
    assert len(set(first)) > 1
    attempts = {preempted_after(1, replace(TARGET, attempt=attempt)) for attempt in range(1, 6)}
    assert len(attempts) > 1, "each attempt has a time of its own"


def test_the_rate_is_that_of_each_replica() -> None:
    times = [preempted_after(seed, TARGET, rate=36) for seed in range(300)]
    # Two replicas at 36 an hour each: every 50 seconds; the mean of 300 draws is within a fifth of that.
    assert 40 < sum(times) / len(times) < 60


@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=6),
    excess=st.integers(0, 12),
    scheduled=st.booleans(),
)
def test_a_shortage_takes_from_the_newest_no_more_than_it_must(sizes: list[int], excess: int, scheduled: bool) -> None:
    targets = [replace(TARGET, number=n, machines={KIND: size}) for n, size in enumerate(sizes, 1)]
    first = replace(targets[0], display_name="first")
    entries = (Preemption("first", "workerpool0-0", 0, 1),) if scheduled else ()
    found = victims(Scenario(preemptions=entries), [first, *targets[1:]], {KIND: excess})
    given = Counter({victim.number: sizes[victim.number - 1] for victim in found})
    assert given.total() >= min(excess, sum(sizes))
    by_shortage = [victim.number for victim in found if not (scheduled and victim.number == 1)]
    assert by_shortage == sorted(by_shortage, reverse=True)
    if by_shortage:
        assert given.total() - sizes[by_shortage[-1] - 1] < excess, "the last one was needed"
