"""A progress bar is one line that moves. # N25"""

from collections.abc import Sequence
from dataclasses import replace

from slipway.front.cli.terminal.log_lines import LogLines
from slipway.google.jobs import VertexJob
from slipway.google.logging import LogEntry
from slipway.model.kinds import CUSTOM_JOB

JOB = VertexJob.read({}, CUSTOM_JOB)
BARS = [f"{share:3}%|{'█' * (share // 10)}| {share}/100 [00:00<00:00, 9it/s]" for share in (10, 50, 100)]


def entry(text: str, task: str = "workerpool0-0") -> LogEntry:
    return LogEntry(None, "", "ERROR", task, task, text, "", {}, job="4711")


def shown(*entries: LogEntry, every: bool = False) -> tuple[list[str], list[Sequence[str]]]:
    """Return the lines that were written, and the bars that were shown meanwhile."""
    written: list[str] = []
    moved: list[Sequence[str]] = []
    lines = LogLines(written.append, lambda each, _: each.text, moved.append, every=every)
    for each in entries:
        lines.add(each, JOB)
    lines.close()
    return written, moved


def test_of_a_bar_the_last_state_is_a_line_once_its_writer_goes_on() -> None:
    written, moved = shown(entry("begins"), *map(entry, BARS), entry("ends"))
    assert written == ["begins", BARS[-1], "ends"]
    assert moved == [[BARS[0]], [BARS[1]], [BARS[2]], [], []]


def test_each_replica_has_its_own() -> None:
    other = replace(entry(BARS[1]), task="workerpool1-0")
    written, moved = shown(entry(BARS[0]), other, entry("a"), replace(other, text="b"))
    assert written == [BARS[0], "a", BARS[1], "b"] and moved[1] == [BARS[0], BARS[1]]


def test_a_bar_at_the_end_is_a_line() -> None:
    assert shown(*map(entry, BARS))[0] == [BARS[-1]]


def test_a_program_gets_each_state() -> None:
    assert shown(*map(entry, BARS), every=True) == (BARS, [[]])
