"""What a pool is worth, as people read it. # B2 # B4"""

from __future__ import annotations

from bench.pool import MACHINE_S, Sample, load, started


def test_each_start_shows_what_it_waits_for() -> None:
    own, first, warm = started(own=MACHINE_S + 4.5, first=4.0, warm=0.5)[1:]
    assert own.split()[-8:] == ["5", "s", "4.0", "s", "0.5", "s", "9.5", "s"]
    assert first.split()[-7:] == ["–", "3.5", "s", "0.5", "s", "4.0", "s"]
    assert warm.split()[-6:] == ["–", "–", "0.5", "s", "0.5", "s"]


def test_machines_are_drawn_look_by_look() -> None:
    assert load([Sample(2, 2, 7), Sample(4, 4, 1), Sample(2, 0, 0)]) == [
        "machines      242",
        "busy          240",
        "jobs waiting  710",
    ]
