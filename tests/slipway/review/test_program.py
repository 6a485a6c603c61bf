"""Edits of the program itself, of what deploys it, and previews that fail. # N14 # D7"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from components.guard import NAME
from slipway.findings.finding import Finding, Grade
from slipway.findings.kinds import KINDS
from slipway.review.change import Files
from slipway.review.events import read
from slipway.review.preview import Preview
from slipway.review.program import ELSEWHERE, GUARD, program
from tests.ci.test_imports import arrows
from tests.slipway.review.builders import STACK, change, facts
from tests.slipway.review.recordings import lines, recorded


def edited(*files: str) -> list[Finding]:
    return list(program(change(facts(), facts(), files=Files(frozenset(files)))))


def kinds(some: Iterable[Finding]) -> list[tuple[str, str]]:
    return [(one.kind, one.subject) for one in some]


@pytest.mark.parametrize(
    ("file", "kind", "subject"),
    [
        ("__main__.py", "guard-unproven", "program guard"),
        ("components/workspace.py", "guard-unproven", "program guard"),
        ("slipway/deployment/plan.py", "guard-unproven", "program guard"),
        ("slipway/unfinished_jobs.py", "guard-unproven", "program guard"),
        ("slipway/new.py", "guard-unproven", "program guard"),
        ("Pulumi.yaml", "guard-unproven", "program guard"),
        ("Pulumi.json", "guard-unproven", "program guard"),
        ("Pulumi.yml", "guard-unproven", "program guard"),
        ("yaml.py", "guard-unproven", "program guard"),
        ("google/__init__.py", "guard-unproven", "program guard"),
        ("google", "guard-unproven", "program guard"),
        ("sitecustomize.pyc", "guard-unproven", "program guard"),
        ("requirements.txt", "guard-unproven", "program guard"),
        ("zz.dist-info/entry_points.txt", "guard-unproven", "program guard"),
        ("docs/zz.egg-info/PKG-INFO", "guard-unproven", "program guard"),
        (".venv/lib", "guard-unproven", "program guard"),
        ("slipway/deployment", "guard-unproven", "program guard"),
        ("slipway/cli/jobs.py", "program-edited", "program"),
        ("slipway/machines/on-demand.csv", "program-edited", "program"),
        ("slipway/review/resources/people.py", "workflow-edited", "review and policy"),
        ("slipway/policy/rules.py", "workflow-edited", "review and policy"),
        ("requirements-dev.txt", "program-edited", "requirements"),
        (".github/workflows/up.yaml", "workflow-edited", "workflows"),
        (".github/CODEOWNERS", "workflow-edited", "workflows"),
        ("CODEOWNERS", "workflow-edited", "workflows"),
        ("slipway/forges/github.py", "workflow-edited", "review and policy"),
        ("policy/PulumiPolicy.yaml", "workflow-edited", "workflows"),
        ("Makefile", "workflow-edited", "workflows"),
        (".gitattributes", "workflow-edited", "workflows"),
        (".gitmodules", "workflow-edited", "workflows"),
    ],
)
def test_edits_are_named_for_what_they_are(file: str, kind: str, subject: str) -> None:
    (one,) = edited(file)
    assert (one.kind, one.subject, one.grade) == (kind, subject, KINDS[kind].usual)
    assert f"`{file}`" in one.sentence


def test_no_deployment_imports_what_counts_as_beside_it() -> None:
    found, more = {Path("__main__.py")}, {Path("__main__.py")}
    while more := {to for file in more for to in arrows()[file]} - found:
        found |= more
    assert Path("slipway/unfinished_jobs.py") in found
    assert [str(file) for file in found if str(file).startswith(ELSEWHERE)] == []


@pytest.mark.parametrize(
    "file",
    [
        "README.md",
        "docs/cli.md",
        "tests/slipway/test_facts.py",
        "components/README.md",
        "stacks/Pulumi.prod.yaml",
        "templates/lora.py",
        "jobs/lora/train.py",
        "bench/preview.py",
        "local/cloud/README.md",
    ],
)
def test_prose_tests_and_what_others_tell_are_silent(file: str) -> None:
    assert edited(file) == []


def test_a_template_that_runs_code_of_its_own_is_an_edit_of_the_program(snapshot: SnapshotAssertion) -> None:
    file = "templates/lora.py"
    (one,) = program(
        change(facts(), facts(), files=Files(frozenset({file}), template_code={file: ("imports `os` (line 3)",)}))
    )
    assert (one.kind, one.subject) == ("guard-unproven", f"template file {file}")
    assert one.sentence == snapshot
    assert "imports `os` (line 3)" in one.sentence


def test_many_files_are_one_consequence_with_all_of_them_as_details() -> None:
    (one,) = edited(*(f"slipway/cli/{name}.py" for name in "abcdef"))
    assert "and 3 more" in one.sentence
    assert len(one.details) == 6


def test_an_edited_guard_is_named_among_the_files(snapshot: SnapshotAssertion) -> None:
    (one,) = edited("components/guard.py", "__main__.py")
    assert one.sentence == snapshot


def test_nobody_told_which_files() -> None:
    assert list(program(change(facts(), facts()))) == []


def without(*files: str, **fields: Any) -> list[Finding]:
    return list(program(change(facts(), facts(), files=Files(removed=frozenset(files)), **fields)))


def test_a_stack_file_that_is_deleted() -> None:
    (here,), (other,) = without(f"stacks/Pulumi.{STACK}.yaml"), without("stacks/Pulumi.dev.yaml")
    assert (here.kind, here.subject, here.grade) == ("stack-gone", f"stack {STACK}", Grade.BLOCKING)
    assert (other.subject, other.grade) == ("stack dev", Grade.BLOCKING)
    assert without("stacks/schema.json") == []


def test_a_guard_that_is_deleted_or_not_registered() -> None:
    assert GUARD == NAME
    assert kinds(without("components/guard.py")) == [("guard-removed", "guard")]
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
