"""`slipway review`: sources, outputs, exit codes. What it says of a change: tests/slipway/reviewing. # N5 N14"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.front.cli.terminal.changed_files import files_of
from slipway.model.findings.finding import Subject
from slipway.reviewing.change.change import Files
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.programs import same_program
from slipway.reviewing.consequence import consequence
from slipway.reviewing.review import Review as Told
from slipway.reviewing.review import write
from slipway.reviewing.told.comment import MARKER
from tests.checkouts.shell import Done, slipway

RECORDED = Path(__file__).parents[2] / "reviewing" / "recorded"
EDIT, REFUSED = str(RECORDED / "edit.jsonl"), str(RECORDED / "refused.jsonl")


Review = Callable[..., Done]


@pytest.fixture
def review(tmp_path: Path) -> Review:
    def call(*arguments: str) -> Done:
        return slipway(("review", *arguments, "--no-live"), {"PATH": "/usr/bin"}, tmp_path)

    return call


def test_what_nobody_read_is_said_before_all_consequences(review: Review) -> None:
    done = review(EDIT)
    assert done.code == 0 and done.out.splitlines()[1].startswith("incomplete: ")
    assert "live clusters, jobs and quota" in done.out
    assert "published catalog can't be read" in done.out and "what is deployed is taken from" in done.out
    first, second = review(REFUSED).out.splitlines()[:2]
    assert first.startswith("⛔") and second.startswith("incomplete: the deployment is refused")
    assert "main already, not deployed yet)" in review(EDIT, "--main", EDIT).out, "the base branch's own are not yours"


def test_markdown_is_a_comment_and_json_a_source_too(review: Review, tmp_path: Path) -> None:
    done = review(EDIT, "--output", "markdown", "--tree", "a" * 40, "--base", "b" * 40)
    assert done.out.startswith(MARKER)
    assert "the tree `aaaaaaaaaaaa`" in done.out and "by the code of `bbbbbbbbbbbb`" in done.out
    (tmp_path / "local.json").write_text(review(EDIT, "--output", "json").out)
    assert review("local.json").out == review(EDIT).out
    assert review("local.json", EDIT, "--output", "json").json["kind"] == "reviews"


def test_the_gate_is_shut_and_a_deployment_by_itself_does_what_was_announced(review: Review) -> None:
    """Who approved is GitHub's to say: tests/ci/test_gate.py."""
    shut = review(EDIT, "--gate")
    assert shut.code == 5 and "not approved" in shut.err
    shut = review(EDIT, "--scheduled")
    assert shut.code == 5 and "not announced" in shut.err and "pull request" not in shut.err


def test_a_link_out_of_the_change_s_checkout_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (tmp_path, tmp_path / "head"):
        (folder / "stacks").mkdir(parents=True)
    (tmp_path / "stacks/Pulumi.prod.yaml").write_text("config: { a:b: 1 }\n")
    (tmp_path / "elsewhere").write_text("config: { a:b: hunter2 }\n")
    (tmp_path / "head/stacks/Pulumi.prod.yaml").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "files").write_text("M\tstacks/Pulumi.prod.yaml\n")
    monkeypatch.chdir(tmp_path)
    read = files_of("files", "head")
    assert read.stacks == {} and read.links == {"stacks/Pulumi.prod.yaml"}
    (tmp_path / "head/stacks/Pulumi.prod.yaml").unlink()
    (tmp_path / "head/stacks/Pulumi.prod.yaml").write_text("config: { a:b: 2 }\n")
    assert [str(one) for one in files_of("files", "head").stacks["prod"]] == ["`a:b` 1 → 2"]


def test_addresses_that_the_diff_shows_are_on_lines_that_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that stays, or only moves, may be in no diff; of a link its target is in none."""
    stays, goes, comes = (f"- user:{name}@acme.example\n" for name in ("ada", "bob", "eve"))
    for folder, lines in (("stacks", (stays, goes)), ("head/stacks", (comes, stays))):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "Pulumi.prod.yaml").write_text("".join(lines))
    for name in ("link.yaml", "head/link.yaml"):
        (tmp_path / name).write_text("")
    (tmp_path / "head/link.yaml").unlink()
    (tmp_path / "head/team.yaml").write_text("user:zoe@acme.example\n")
    (tmp_path / "head/link.yaml").symlink_to("team.yaml")
    (tmp_path / "files").write_text("M\tstacks/Pulumi.prod.yaml\nM\tlink.yaml\n")
    monkeypatch.chdir(tmp_path)
    assert files_of("files", "head").addresses == {"bob@acme.example", "eve@acme.example"}
    assert files_of("files", None).addresses == files_of("files", ".").addresses == frozenset()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing.jsonl",), "'missing.jsonl' can't be read"),
        ((EDIT, "--head", "nosuch"), "nosuch"),
        ((EDIT, "--gate", "--github", "ask"), "GITHUB_SHA and GH_TOKEN are not"),
        (("--main", "missing", EDIT), "'missing' can't be read"),
        (("--tolerance", "-1", EDIT), "not an amount of USD"),
        (("--tolerance", "nan", EDIT), "not an amount of USD"),
        ((), "Missing argument"),
    ],
)
def test_what_can_t_be_used(review: Review, arguments: tuple[str, ...], said: str) -> None:
    done = review(*arguments)
    assert done.code == 2 and said in done.err


NO_AMOUNT = {"perHour": "NaN", "complete": True}
MONEY = {"idle": {"before": NO_AMOUNT, "after": NO_AMOUNT}, "most": {"before": NO_AMOUNT, "after": NO_AMOUNT}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"kind": "reviews"}', "odd is not a whole document"),
        ('{"kind": "reviews", "reviews": [5]}', "odd is not a review that this version reads"),
        ('{"kind": "review", "schema": 2}', "odd is not a whole review"),
        (json.dumps({"kind": "review", "schema": 2, "money": {**MONEY, "overlap": NO_AMOUNT}}), "not a whole review"),
        (f"{MARKER}\n### words", "odd has no events of a preview"),
        ("[" * 200_000, "odd has no events of a preview"),
        *((text, "odd has no events of a preview") for text in ("", "no events\n", "{}\n", '{"kind": "jobs"}')),
        *((text, "odd has no events of a preview") for text in ('[{"a": 1}]\n', '{"sequence": 1}\n{"sequence')),
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.usefixtures("no_garbage")
def test_a_damaged_document_and_a_file_without_events(review: Review, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "odd").write_text(text)
    done = review("odd")
    assert done.code == 2 and said in done.err


def test_a_line_separator_in_a_name_ends_no_event(review: Review, tmp_path: Path) -> None:
    (tmp_path / "odd").write_text(Path(EDIT).read_text().replace("local-project", "slipway\u0085\u2028local"))
    assert "could not be understood" not in review("odd").out


@pytest.mark.usefixtures("no_garbage")
def test_an_event_that_is_nested_too_deeply_is_said(review: Review, tmp_path: Path) -> None:
    (tmp_path / "odd").write_text(Path(EDIT).read_text() + '{"resourcePreEvent":' * 100_000 + "\n")
    assert "engine could not be understood" in review("odd").out


def test_what_the_check_refuses_is_a_review_that_shuts_the_gate(review: Review, tmp_path: Path) -> None:  # N5
    place = {"file": "stacks/Pulumi.prod.yaml", "line": 9, "key": "gcp:region"}
    mistake = {**place, "what": "no `region`", "fix": "name one"}
    stacks = [{"stack": name, "file": f"stacks/Pulumi.{name}.yaml", "ok": name == "dev"} for name in ("dev", "prod")]
    body = {"schema": 2, "kind": "check", "ok": False, "stacks": stacks, "findings": [mistake], "warnings": []}
    (tmp_path / "check.json").write_text(json.dumps(body))
    done = review("check.json", "--gate")
    assert done.code == 5
    assert "stacks/Pulumi.prod.yaml:9 gcp:region: no region" in done.out and "name one" in done.out
    assert "fix: mend it" in done.err, "an approval would not have it deployed"
    (tmp_path / "check.json").write_text(json.dumps({**body, "findings": 5}))
    assert review("check.json").code == 2


def test_the_gate_s_notes_hide_what_the_comment_hides(review: Review, tmp_path: Path) -> None:
    gone = consequence("submitter-gone", Subject("member", "user:eve.adams@acme.example"), "goes")
    (tmp_path / "one.json").write_text(json.dumps(write(Told("prod", (gone,)))))
    done = review("one.json", "--gate", "--redact")
    assert done.code == 5 and "e…@acme.example goes" in done.err
    assert "eve.adams" not in done.said


# The files of a change, read from two checkouts of a repository, the project in a folder of it.


FOLDER = "ml/training"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's folder in the base branch's checkout, where a review runs; the change's is beside it."""
    for side, version in (("base", "0.1.0"), ("head", "0.2.0")):
        folder = tmp_path / side / FOLDER
        (folder / "jobs/a").mkdir(parents=True)
        (folder / "requirements.txt").write_text(f"slipway-vertex=={version}\n")
        (folder / "requirements-dev.txt").write_text(f"pytest==9.0  # {version}\n")
        (folder / "jobs/a/task.py").write_text(f"x = 1  # {version}\n")
        (folder / "jobs/a/other.py").write_text(f"x = '{version}'\n")
    monkeypatch.chdir(tmp_path / "base" / FOLDER)
    return tmp_path


def read(base: Path, listed: str, side: str = "head") -> Files:
    (base / "files").write_text(listed)
    return files_of(str(base / "files"), str(base / side / FOLDER), FOLDER)


def test_files_are_compared_with_another_checkout_alone(base: Path) -> None:
    """A file compared with itself would look as if nothing had changed."""
    names = ("requirements.txt", "requirements-dev.txt", "jobs/a/task.py", "jobs/a/other.py")
    listed = "".join(f"M\t{FOLDER}/{name}\n" for name in names)
    files = read(base, f"{listed}D\t{FOLDER}/jobs/a/gone.py\n")
    assert files.pins == {"requirements.txt": (Edit("slipway-vertex", "0.1.0", "0.2.0"),)}
    assert files.same == {"jobs/a/task.py"}
    assert files.lines == {"jobs/a/other.py": (Edit("jobs/a/other.py:1", "x = '0.1.0'", "x = '0.2.0'"),)}
    files = read(base, listed, "base")
    assert (files.pins, files.same) == ({}, frozenset())


HIDDEN = "# {}\n# +AAo-import os\nprint()\n"
"""Read as UTF-7, its second line is code."""


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("x = 1\n", "x = (\n    1\n)\n", True),
        ("x = 1\n", "x = 2\n", False),
        ("x = 1\n", "x =\n", False),
        ("x =\n", "x =\n", False),
        ("y = [x for x in a]\n", "y = [each for each in a]\n", True),
        ("y = [x for x in x]\n", "y = [each for each in each]\n", False),
        ("y = [(x, z) for x in a]\n", "y = [(z, z) for z in a]\n", False),
        ("y = [lambda x: x for x in a]\n", "y = [lambda x: z for z in a]\n", False),
        (HIDDEN.format("plain"), HIDDEN.format("coding: utf-7"), False),
    ],
)
def test_comments_and_form_are_no_other_code(before: str, after: str, same: bool) -> None:
    assert same_program("a.py", before, after) is same
    assert not same_program("a.txt", before, after)
