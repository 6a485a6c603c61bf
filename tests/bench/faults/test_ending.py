"""Sequences of random edits, the endings of runs, and what differs between two. # N1 # N2 # B6"""

from dataclasses import replace

import pytest

from bench.faults import edits
from bench.faults.ending import Ending, Job, judged
from bench.faults.sequences import burning

QUEUED, RUNNING = "JOB_STATE_QUEUED", "JOB_STATE_RUNNING"
CLEAN = Ending(
    frozenset({("cpu-a", "RUNNING")}),
    frozenset({"cpu-a", "bucket"}),
    frozenset({"gs://b"}),
    (Job("stays", RUNNING), Job("wanted", QUEUED)),
    stays=True,
)


@pytest.mark.parametrize(
    ("now", "outcome", "why"),
    [
        (CLEAN, "survived", ""),
        (replace(CLEAN, stays=False), "killed", "does not run any more"),
        (replace(CLEAN, jobs=(Job("stays", RUNNING),)), "lost", "wanted"),
        (replace(CLEAN, jobs=(*CLEAN.jobs, Job("wanted", QUEUED))), "doubled", "wanted"),
        (replace(CLEAN, jobs=(*CLEAN.jobs, Job("wanted", "JOB_STATE_SUCCEEDED", ran=False))), "survived", ""),
        (replace(CLEAN, jobs=(*CLEAN.jobs, Job("wanted-2", "JOB_STATE_CANCELLED"))), "survived", ""),
        (replace(CLEAN, jobs=(*CLEAN.jobs, Job("wanted", QUEUED, races=True))), "orphaned", "wait on"),
        (replace(CLEAN, clusters=CLEAN.clusters | {("cpu-b", "RUNNING")}), "orphaned", "cpu-b"),
        (
            replace(CLEAN, clusters=CLEAN.clusters | {("cpu-b", "RUNNING")}, known=CLEAN.known | {"cpu-b"}),
            "other",
            "cpu-b RUNNING",
        ),
        (replace(CLEAN, clusters=frozenset()), "other", "missing: cpu-a"),
        (replace(CLEAN, clusters=frozenset({("cpu-a", "STOPPING")})), "other", "cpu-a STOPPING"),
        (replace(CLEAN, clusters=frozenset({("cpu-a", "UPDATING")})), "survived", ""),
        (replace(CLEAN, things=frozenset({"gs://c"})), "other", "+ gs://c; - gs://b"),
    ],
)
def test_an_ending_is_held_to_that_of_the_clean_run(now: Ending, outcome: str, why: str) -> None:
    found, said = judged(CLEAN, now)
    assert found == outcome
    assert why in said


def test_a_cluster_that_was_made_after_a_failed_one_that_kept_the_name_is_the_one_asked_for() -> None:
    first, second = "cpu-1a2b3c4", "cpu-1a2b3c4-2"
    clean = replace(
        CLEAN, clusters=frozenset({(first, "RUNNING")}), known=frozenset({first}), things=frozenset({f"urn {first}"})
    )
    now = replace(
        clean, clusters=frozenset({(second, "RUNNING")}), known=frozenset({second}), things=frozenset({f"urn {second}"})
    )
    assert judged(clean, now) == ("survived", "")
    both = replace(now, clusters=now.clusters | {(first, "ERROR")}, known=now.known | {first})
    judgment, why = judged(clean, both)
    assert judgment == "other" and why.endswith(f": {first} ERROR")
    assert judged(clean, replace(now, known=frozenset({first})))[0] == "orphaned"


def test_a_seed_is_a_sequence_that_begins_with_a_cluster_and_a_job() -> None:
    assert edits.sequence(3) == edits.sequence(3) != edits.sequence(4)
    first, *others = edits.sequence(3, length=6)
    assert list(first.file.clusters) == ["cpu"] and first.work == "job"
    assert len(others) == 6


def test_what_retired_and_was_idle_is_to_go_unless_an_edit_takes_it_back() -> None:
    assert burning({"cpu-1"}, {"cpu-2"}, {"cpu-2"}) == []
    assert burning({"cpu-1"}, {"cpu-1", "cpu-2"}, {"cpu-1"}) == []
    (told,) = burning({"cpu-1"}, {"cpu-1", "cpu-2"}, {"cpu-2"})
    assert told.startswith("cpu-1 was idle and retiring")
