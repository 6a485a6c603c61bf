"""Files that `.slipwayignore` keeps out of the package of a job's code. # N14"""

import pytest

from slipway.model.findings.finding import Grade
from slipway.reviewing.change.left_out import left_out
from tests.slipway.reviewing.edited_files import CODE, TASK, edited, found, lora

LIST = "jobs/lora/.slipwayignore"
READS = f"from lora import data\nimport json\nspace = json.loads((HERE / 'space.json').read_text())\n{CODE}"
BEFORE = {TASK: READS, "jobs/lora/space.json": "{}", "jobs/lora/data.py": "x = 1\n", "jobs/lora/NOTES.md": "text"}


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("*.json", "the package leaves out `jobs/lora/space.json`, which the code reads"),
        ("/data.py", "new jobs fail: the package leaves out `jobs/lora/data.py`, which the code imports"),
        ("task.*", "new jobs fail: the package leaves out `jobs/lora/task.py`, which the code imports"),
    ],
)
def test_a_list_that_leaves_out_what_the_code_needs(pattern: str, sentence: str) -> None:
    changed, broken = found(edited(BEFORE, {**BEFORE, LIST: f"{pattern}\n"}), lora("--model=a"))
    assert (changed.kind, changed.sentence[:24]) == ("job-code-changed", "new jobs no longer have ")
    assert (broken.kind, broken.grade, broken.sentence) == ("code-contract-broken", Grade.BLOCKING, sentence)


def test_code_that_begins_to_read_what_is_left_out() -> None:
    before = {**BEFORE, LIST: "*.json\n", TASK: CODE}
    _, broken = found(edited(before, {**before, TASK: READS}), lora("--model=a"))
    assert broken.sentence == "the package leaves out `jobs/lora/space.json`, which the code reads"


def test_jobs_do_not_run_a_file_that_is_not_packed() -> None:
    before = {**BEFORE, LIST: "old.py\nNOTES.md", "jobs/lora/old.py": "x = 1\n"}
    assert found(edited(before, {**before, "jobs/lora/old.py": "x = 2\n"}), lora("--model=a")) == []
    assert found(edited(BEFORE, {**BEFORE, LIST: "*.md\n!data.py\n"}), lora("--model=a")) == []
    (packed,) = found(edited(before, {**before, LIST: ""}), lora("--model=a"))
    assert packed.sentence == "new jobs also have `jobs/lora/old.py`"


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("data/", "a/data/x data/x"),
        ("/data", "data/x"),
        ("a/*", "a/data/x a/x"),
        ("**/x\n!/a/x", "a/data/x data/x"),
        ("[a-b]", "a/data/x a/x"),
        ("# x", ""),
    ],
)
def test_patterns_are_those_of_git(pattern: str, names: str) -> None:
    paths = [f"jobs/lora/{path}" for path in ("data/x", "a/data/x", "a/x", "y")]
    lists = {LIST: pattern, "jobs/.slipwayignore": "*"}
    assert left_out(lists, paths) == {f"jobs/lora/{path}" for path in names.split()}
