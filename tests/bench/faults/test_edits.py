"""Random edits are those of their seed, and each is a stack file that people may write. # N1 # B6"""

from __future__ import annotations

from bench.faults import edits


def test_a_seed_is_a_sequence_that_begins_with_a_cluster_and_a_job() -> None:
    assert edits.sequence(3) == edits.sequence(3) != edits.sequence(4)
    first, *others = edits.sequence(3, length=6)
    assert list(first.file.clusters) == ["cpu"] and first.work == "job"
    assert len(others) == 6


def test_all_that_people_do_to_a_stack_comes_within_the_five_hundred() -> None:
    steps = [step for seed in range(11, 511) for step in edits.sequence(seed)]
    words = " ".join(step.edit for step in steps)
    for edit in (
        "is added",
        "is removed",
        "becomes",
        "bounds",
        "machine",
        "generation",
        "season",
        "template",
        "nothing",
    ):
        assert edit in words
    for step in steps:
        for entry in step.file.keys()["persistentResources"].values():
            replicas = entry["pools"]["all"]["replicas"]
            assert 1 <= replicas["min"] < replicas["max"]
