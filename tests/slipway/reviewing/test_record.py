"""What an approval covers, as a run keeps it. # N14"""

import json

import pytest

from slipway.model.findings.finding import Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.record import Record, name_of, text_of
from slipway.reviewing.review import Review

GOES = KINDS["cluster-deleted"].of(Subject("cluster", "h100"), "`h100` goes")


def test_it_has_what_an_approval_is_compared_with_and_no_sentence() -> None:
    text = text_of([Review("prod", (GOES,), ("jobs can't be read",), plan=("create x",))], "tree")
    assert "`h100` goes" not in text and "create x" not in text
    (found,) = Record(text).reviews("tree")
    assert [(one.key, one.grade) for one in found.consequences] == [(GOES.key, GOES.grade)]
    assert found.incomplete == ("jobs can't be read",)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[5]", "[" * 100_000, '{"tree": "tree"}', '{"tree": "tree", "reviews": [{}]}', text_of([], "other")],
    ids=["empty", "cut", "a list", "deep", "without reviews", "of another version", "of another tree"],
)
def test_what_is_no_record_of_this_tree_covers_nothing(text: str) -> None:
    assert Record(text).reviews("tree") == ()


def test_each_folder_of_a_repository_has_its_own() -> None:
    assert name_of("t", ".") == name_of("t", "./") == name_of("t", "") == "slipway-review-t.json"
    assert name_of("t", "./ml/a b/") == "slipway-review-t-ml%2Fa%20b.json"
    assert json.loads(text_of([], "t")) == {"tree": "t", "reviews": []}
