"""What must hold after each step of a sequence of edits. # N2"""

from bench.faults.sequences import burning


def test_what_retired_and_was_idle_is_to_go_unless_an_edit_takes_it_back() -> None:
    assert burning({"cpu-1"}, {"cpu-2"}, {"cpu-2"}) == []
    assert burning({"cpu-1"}, {"cpu-1", "cpu-2"}, {"cpu-1"}) == []
    (told,) = burning({"cpu-1"}, {"cpu-1", "cpu-2"}, {"cpu-2"})
    assert told.startswith("cpu-1 was idle and retiring")
