"""Edits of the program itself, of what deploys it, and previews that fail. # N14 # D7"""

from collections.abc import Iterable
from typing import Any

from syrupy.assertion import SnapshotAssertion

from components.guard import NAME
from slipway.findings.finding import Finding, Grade
from slipway.review.change import Files
from slipway.review.events import read
from slipway.review.preview import Preview
from slipway.review.program import GUARD, program
from tests.slipway.review.builders import STACK, change, facts
from tests.slipway.review.recordings import lines, recorded


def edited(*files: str) -> list[Finding]:
    return list(program(change(facts(), facts(), files=Files(frozenset(files)))))


def kinds(some: Iterable[Finding]) -> list[tuple[str, str]]:
    return [(one.kind, one.subject) for one in some]


def test_files_that_deploy_or_judge_are_one_consequence_that_names_them(snapshot: SnapshotAssertion) -> None:
    (one,) = edited("components/guard.py", "__main__.py", "templates/lora.py", *(f"slipway/{n}.py" for n in "abcd"))
    assert (one.kind, one.subject, one.grade) == ("program-edited", "program", Grade.BLOCKING)
    assert one.sentence == snapshot
    assert len(one.details) == 6
    (one,) = edited("Makefile")
    assert one.sentence.endswith("1 file to read: `Makefile`")


def test_a_link_is_read_whatever_it_stands_for() -> None:
    file = frozenset({"templates/lora.py"})
    (one,) = program(change(facts(), facts(), files=Files(file, links=file)))
    assert one.kind == "program-edited"


def test_packages_of_several_files_are_one_consequence(snapshot: SnapshotAssertion) -> None:
    pins = {"requirements.txt": ("`a` 1 → 2", "`b` 1 → 2"), "requirements-local.txt": ("`a` 1 → 2",)}
    (one,) = program(change(facts(), facts(), files=Files(frozenset(pins), pins=pins)))
    assert (one.kind, one.subject, one.grade) == ("pins-changed", "program packages", Grade.BLOCKING)
    assert one.sentence == snapshot
    assert one.details == ("`a` 1 → 2", "`b` 1 → 2")


def test_nobody_told_which_files() -> None:
    assert list(program(change(facts(), facts()))) == []


def without(*files: str, **fields: Any) -> list[Finding]:
    return list(program(change(facts(), facts(), files=Files(removed=frozenset(files)), **fields)))


def test_a_stack_file_that_is_deleted() -> None:
    (here,), (other,) = without(f"stacks/Pulumi.{STACK}.yaml"), without("stacks/Pulumi.dev.yaml")
    assert (here.kind, here.subject, here.grade) == ("stack-gone", f"stack {STACK}", Grade.BLOCKING)
    assert (other.subject, other.grade) == ("stack dev", Grade.BLOCKING)
    assert without("stacks/schema.json") == []


def test_a_guard_that_is_not_registered() -> None:
    assert GUARD == NAME
    for hooks, removed in ((None, False), (frozenset({GUARD}), False), (frozenset({"slipway-create-v1"}), True)):
        found = program(change(facts(), facts(), preview=Preview(hooks=hooks)))
        assert kinds(found) == ([("guard-removed", "guard")] if removed else [])
    cut = Preview(hooks=frozenset(), why="the engine was killed")
    assert kinds(program(change(facts(), facts(), preview=cut))) == []


def test_the_hooks_of_a_recorded_preview() -> None:
    assert read(lines("buckets")).hooks == frozenset({GUARD, "slipway-create-v1"})
    unguarded = [line for line in lines("buckets") if GUARD not in line]
    found = program(change(facts(), facts(), preview=read(unguarded)))
    assert kinds(found) == [("guard-removed", "guard")]
    assert read(line for line in unguarded if "diagnosticEvent" not in line).hooks is None


def test_a_preview_that_fails_says_what_the_program_said(snapshot: SnapshotAssertion) -> None:
    said = "error: quota does not suffice\n  why: needs 8, limit 4\n  fix: slipway quota --request\n"
    preview = Preview(errors=(said, "error: update failed"), why="the preview failed")
    (one,) = program(change(facts(), None, preview=preview))
    assert (one.kind, one.grade) == ("preview-failed", Grade.BLOCKING)
    assert one.sentence == snapshot
    assert one.details == ("why: needs 8, limit 4", "fix: slipway quota --request", "update failed")


def test_a_recorded_preview_that_failed(snapshot: SnapshotAssertion) -> None:
    (one,) = program(recorded("refused"))
    assert one.sentence == snapshot
    assert len(one.sentence) < 400


def test_a_stream_that_is_cut_is_no_failure() -> None:
    assert list(program(change(facts(), facts(), preview=read(lines("buckets")[:-2])))) == []
