"""`slipway review`: sources, outputs, exit codes. What it says of a change: tests/slipway/reviewing. # N5 N14"""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.answers.cost import Costs
from slipway.model.findings.finding import Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.render.comment import MARKER
from slipway.reviewing.review import Review as Told
from slipway.reviewing.review import write
from tests.checkouts.shell import Done, slipway

RECORDED = Path(__file__).parents[2] / "deploying" / "engine" / "recorded"
EDIT, REFUSED = str(RECORDED / "edit.jsonl"), str(RECORDED / "refused.jsonl")


Review = Callable[..., Done]


@pytest.fixture
def review(tmp_path: Path) -> Review:
    def call(*arguments: str) -> Done:
        return slipway(("review", *arguments, "--no-live"), {"PATH": "/usr/bin"}, tmp_path)

    return call


def test_what_nobody_read_is_said_before_all_findings(review: Review) -> None:
    done = review(EDIT)
    assert done.code == 0 and done.out.splitlines()[1].startswith("incomplete: ")
    assert "live clusters, jobs and quota" in done.out
    assert "the program read no published catalog" in done.out and "what is deployed is not compared" in done.out
    first, second = review(REFUSED).out.splitlines()[:2]
    assert "⛔ rejected" in first and second.startswith("nothing is deployed: until this is fixed")
    assert "(on main already)" in review(REFUSED, "--main", REFUSED).out, "the base branch's own are not yours"


def test_a_review_imports_neither_yaml_nor_a_forge_that_nobody_asks() -> None:
    """A review answers within a second, half of which are its imports (`bench/review.py`)."""
    program = f"import sys\nfrom slipway.front.cli import main\nmain(['review', {EDIT!r}, '--no-live'])\n"
    program += "print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    imported = {*done.stderr.split()}
    assert "slipway.reviewing.review" in imported
    assert not imported & {"yaml", "google.protobuf", "slipway.reviewing.forges.github", "slipway.operating.history"}


def test_markdown_is_a_comment_and_json_a_source_too(review: Review, tmp_path: Path) -> None:
    done = review(EDIT, "--output", "markdown", "--tree", "a" * 40, "--base", "b" * 40)
    assert done.out.startswith(MARKER)
    assert "the tree `aaaaaaaaaaaa`" in done.out and "reviewed by the code of `bbbbbbbbbbbb`" in done.out
    (tmp_path / "local.json").write_text(review(EDIT, "--output", "json").out)
    assert review("local.json").out == review(EDIT).out
    both = review("local.json", EDIT, "--output", "json").json
    assert both["kind"] == "reviews"
    assert [each["stack"] for each in both["reviews"]] == ["local", f"local in {RECORDED}"], "of two projects"


@pytest.mark.parametrize(
    ("folder", "mark"), [("./ml/a b/", "of ml/a b -->"), ("ml/a b", "of ml/a b -->"), ("./", "-->"), (".", "-->")]
)
def test_a_folder_may_be_typed_in_several_ways(review: Review, folder: str, mark: str) -> None:
    assert review(EDIT, "--output", "markdown", "--folder", folder).out.startswith(f"<!-- slipway-review {mark}\n")


def test_the_gate_is_shut_and_a_deployment_by_itself_does_what_was_announced(review: Review) -> None:
    """Who approved is GitHub's to say: tests/ci/test_gate.py."""
    shut = review(EDIT, "--gate")
    assert shut.code == 5 and "not approved" in shut.err
    shut = review(EDIT, "--scheduled")
    assert shut.code == 5 and "not announced" in shut.err and "pull request" not in shut.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing.jsonl",), "'missing.jsonl' can't be read"),
        ((EDIT, "--head", "nosuch"), "nosuch"),
        ((EDIT, "--gate", "--github", "ask"), "GITHUB_SHA and GH_TOKEN are not"),
        (("--main", "missing", EDIT), "'missing' can't be read"),
        ((), "Missing argument"),
        ((EDIT, REFUSED, EDIT), "is named twice"),
        (("-",), "stdin is closed"),
        ((EDIT, "--files", "-"), "stdin is closed"),
    ],
)
def test_what_can_t_be_used(
    review: Review, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    done = review(*arguments)
    assert done.code == 2 and said in done.err


def document(amount: float = 1, **of_finding: object) -> str:
    """Return a review of one finding, with the fields that are given in its JSON."""
    changed = KINDS["submission-changed"].of(Subject("template", "lora"), "changes")
    body = write(Told("prod", (changed,), costs=Costs(amount, amount, amount, amount)))
    body["findings"][0] |= of_finding
    return json.dumps(body)


def test_a_whole_document_is_read(review: Review, tmp_path: Path) -> None:
    (tmp_path / "whole").write_text(document())
    assert review("whole").code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"kind": "reviews"}', "odd is not a whole document"),
        ('{"kind": "reviews", "reviews": [5]}', "odd is not a review that this version reads"),
        ('{"kind": "review", "schema": 2}', "odd is not a review that this version reads"),
        ('{"kind": "review", "schema": 3}', "odd is not a whole review"),
        *((document(amount), "not JSON compliant") for amount in (math.nan, math.inf, -math.inf)),
        (document(costPerHour=math.nan), "not JSON compliant"),
        (document(kind="later"), "types that this version does not know: 'later'"),
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
    assert "is rejected: stacks/Pulumi.prod.yaml:9 gcp:region: no region. Fix: name one" in done.out
    assert "fix: correct it" in done.err, "an approval would not have it deployed"
    written = review("check.json", "--output", "json").out
    (tmp_path / "told.json").write_text(written.replace("no `region`", "as the preview says"))
    assert "no region" not in review("told.json", "check.json").out, "of what was previewed too, the preview is told"
    (tmp_path / "check.json").write_text(json.dumps({**body, "findings": 5}))
    assert review("check.json").code == 2


def test_the_gate_s_notes_hide_what_the_comment_hides(review: Review, tmp_path: Path) -> None:
    gone = KINDS["access-lost"].of(Subject("member", "user:eve.adams@acme.example"), "goes", grade=Grade.BLOCKING)
    (tmp_path / "one.json").write_text(json.dumps(write(Told("prod", (gone,)))))
    done = review("one.json", "--gate", "--redact")
    assert done.code == 5 and "e…@acme.example: goes" in done.err
    assert "eve.adams" not in done.said
