"""A sweep's journal survives kills, is one process's at a time, and knows its sweep by what was asked for. # N7"""

import resource
from dataclasses import replace
from pathlib import Path

import pytest

from slipway.base.errors import ConfigError, SlipwayError
from slipway.using.submission.delivery import SendState
from slipway.using.submission.request import RequestOverrides
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.sweeps.points import Given, Point
from slipway.using.sweeps.runs import Run
from slipway.using.sweeps.sweep_journal import SweepDigests, SweepHeader, SweepJournal, instead, was_begun

HEAD = SweepHeader("digits-1", "digits", "abc", 3, "3f9c2e1", "2026-11-20T12:00:00+00:00", "work")


def opened(file: Path, head: SweepHeader = HEAD) -> SweepJournal:
    journal = SweepJournal(file)
    journal.begin(head)
    return journal


def test_what_was_written_is_known_again(tmp_path: Path) -> None:  # N7
    with opened(tmp_path / "deep" / "s.jsonl") as journal:
        for index in range(3):
            journal.write(Run(index), SendState.SENDING, 5.0)
        journal.write(Run(0), SendState.ACCEPTED, 6.0, "jobs/1")
        journal.write(Run(1), SendState.REQUEUED, 6.0)
    with opened(tmp_path / "deep" / "s.jsonl") as journal:
        assert journal.jobs == {Run(0): "jobs/1"} and journal.open == {Run(2): 5.0}


def test_a_line_that_a_kill_tore_is_cut_off(tmp_path: Path) -> None:  # N7
    with opened(tmp_path / "s.jsonl") as journal:
        journal.write(Run(0), SendState.SENDING, 5.0)
    whole = (tmp_path / "s.jsonl").read_bytes()
    for length in range(whole.index(b"\n") + 1, len(whole)):
        (tmp_path / "s.jsonl").write_bytes(whole[:length])
        with opened(tmp_path / "s.jsonl") as journal:
            assert journal.open == {}
            journal.write(Run(1), SendState.SENDING, 7.0)
        with opened(tmp_path / "s.jsonl") as journal:
            assert journal.open == {Run(1): 7.0}


OTHER = SweepHeader("digits-1", "digits", "def", 4, "3f9c2e1", "2026-11-21T12:00:00+00:00", "work")


def test_a_sweep_of_which_nothing_was_sent_leaves_its_name_to_another(tmp_path: Path) -> None:
    with opened(tmp_path / "s.jsonl"):
        assert not was_begun(tmp_path / "s.jsonl")
    with opened(tmp_path / "s.jsonl", OTHER) as journal:
        journal.write(Run(0), SendState.SENDING, 5.0)
    assert was_begun(tmp_path / "s.jsonl") and not was_begun(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="was begun with other runs") as error:
        opened(tmp_path / "s.jsonl")
    assert "begun 2026-11-21" in error.value.why and "request_id='NAME'" in error.value.fix


@pytest.mark.parametrize("line", ["no json", '{"i": 0}', '{"i": "x", "a": 0, "s": "sending", "t": 1}', "[]", "null"])
def test_a_journal_that_makes_no_sense_stops_the_sweep_and_is_left_alone(tmp_path: Path, line: str) -> None:
    with opened(tmp_path / "s.jsonl"):
        pass
    text = "" if line in ("[]", "null") else (tmp_path / "s.jsonl").read_text()
    (tmp_path / "s.jsonl").write_text(f"{text}{line}\n")
    with pytest.raises(SlipwayError):
        opened(tmp_path / "s.jsonl")
    assert (tmp_path / "s.jsonl").read_text() == f"{text}{line}\n"


RUN = '{"i":1,"a":0,"s":"sending","t":5.0}\n'


@pytest.mark.parametrize("line", [b"no json", b"[]", b"7", b'{"i": 0}', b"\0" * 40, b"\xff", b"[" * 100_000])
def test_a_line_that_makes_no_sense_is_told_and_done_without_where_jobs_have_claims(
    tmp_path: Path, line: bytes
) -> None:
    """It made the same command fail for ever."""
    file, said = tmp_path / "s.jsonl", list[str]()
    with opened(file) as journal:
        journal.write(Run(0), SendState.SENDING, 5.0)
    file.write_bytes(file.read_bytes() + line + b"\n" + RUN.encode())
    for skipping in (SweepJournal.begin, SweepJournal.read):
        with SweepJournal(file, said.append) as journal:
            skipping(journal, HEAD)
            assert journal.open == {Run(0): 5.0, Run(1): 5.0}
    assert len(said) == 2 and f"({file}, line 3: " in said[0]
    with SweepJournal(file, said.append) as journal, pytest.raises(ConfigError, match="begun with other runs"):
        journal.begin(OTHER)


@pytest.mark.parametrize("what", ["null\n", "[]\n" + RUN, RUN, "folder"])
def test_what_is_no_journal_is_moved_aside_and_told_where_jobs_have_claims(tmp_path: Path, what: str) -> None:
    file, said = tmp_path / "s.jsonl", list[str]()
    if what == "folder":
        file.mkdir()
    else:
        file.write_text(what)
    assert not (what == "folder" and was_begun(file))
    with SweepJournal(file, said.append) as journal:
        journal.read(HEAD)
        assert journal.open == {} and (file.is_dir() or file.read_text() == what), "a dry run moves nothing"
    with SweepJournal(file, said.append) as journal:
        journal.begin(HEAD)
        journal.write(Run(2), SendState.SENDING, 7.0)
    (aside,) = tmp_path.glob("s.jsonl.*")
    assert aside.is_dir() or aside.read_text() == what
    with opened(file) as journal:
        assert journal.open == {Run(2): 7.0}
    assert len(said) == 2 and all("the journal of sweep digits-1 can't be read" in text for text in said)


def test_a_disk_that_takes_nothing_stops_the_sweep(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SlipwayError, match="nothing is sent unless it is recorded"):
        opened(tmp_path / "file" / "s.jsonl")


def test_a_disk_that_fills_up_meanwhile_stops_the_sweep_and_forgets_nothing_that_was_written(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(SlipwayError, match="nothing is sent unless it is recorded"), opened(file) as journal:
            journal.write(Run(0), SendState.SENDING, 5.0)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 10, before[1]))
            journal.write(Run(1), SendState.SENDING, 5.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with opened(file) as journal:
        assert journal.open == {Run(0): 5.0}


def test_other_runs_of_a_name_that_is_being_sent_are_a_mistake_at_once(tmp_path: Path) -> None:
    """They were to wait for its end, and were refused then."""
    with opened(tmp_path / "s.jsonl") as sending:
        sending.write(Run(0), SendState.SENDING, 5.0)
        with pytest.raises(SlipwayError, match="is being sent by another process"):
            opened(tmp_path / "s.jsonl")
        with pytest.raises(ConfigError, match="was begun with other runs"):
            opened(tmp_path / "s.jsonl", OTHER)


ASKED = SubmissionRequest("digits")


def test_what_is_to_be_typed_for_the_other_sweep_is_what_it_has_and_this_one_lacks() -> None:
    spot = replace(ASKED, capacity_type="spot")
    assert instead(ASKED, spot) == ({"capacity": "spot"},) == instead(replace(ASKED, capacity_type="pool"), spot)
    assert instead(spot, ASKED) == ("without ", {"capacity": "spot"})


def points(*values: dict[str, str]) -> list[Point]:
    return [Point({name: Given(text, "", "") for name, text in value.items()}, "") for value in values]


def test_code_of_ones_own_is_told_by_the_code_whatever_is_packed_beside_it() -> None:
    """A version with another launcher would make another sweep of the same code, and every run once more."""
    code = RequestOverrides(package="gs://w/code/1/digits-1.tar.gz", code="abc")
    same, other = replace(code, package="gs://w/code/2/digits-2.tar.gz"), replace(code, code="abd")
    now, later, others = (
        SweepDigests(points({"seed": "1"})).of(replace(ASKED, overrides=item)) for item in (code, same, other)
    )
    assert now == later != others
