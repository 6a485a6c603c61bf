"""The record of an approval, as a run keeps it. # N14"""

import io
import json
import zipfile

import pytest

from slipway.model.findings.finding import Subject
from slipway.reviewing.consequence import consequence
from slipway.reviewing.record import Record, name_of, record_of, unpacked, written_with
from slipway.reviewing.review import Review

GOES = consequence("cluster-deleted", Subject("cluster", "h100"), "goes")
MINE = record_of([Review("prod", (GOES,), ("jobs can't be read",), plan=("create x",))], "tree")
KEPT = json.dumps(MINE.body)


def packed(name: str, text: str) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(name, text)
    return whole.getvalue()


def test_it_has_what_an_approval_is_compared_with_and_no_sentence() -> None:
    assert "goes" not in KEPT and "create x" not in KEPT
    (found,) = unpacked(packed("a.json", KEPT), "a.json").reviews("tree")
    assert [(one.key, one.grade) for one in found.consequences] == [(GOES.key, GOES.grade)]
    assert found.incomplete == ("jobs can't be read",)


def test_a_comment_names_the_one_it_was_written_with() -> None:
    """Two may have one name, by an older base or forged, and whatever names in the comment look like its end."""
    other = record_of([Review("prod")], "tree")
    comment = f"```\n{other.remark}\n```\n{MINE.remark}"
    assert written_with(comment, [other, Record(json.loads(KEPT))]) == MINE
    assert written_with(comment, [other]) is None


@pytest.mark.parametrize(
    "body",
    [None, [5], {"tree": "tree"}, {"tree": "tree", "reviews": [{}]}, record_of([Review("prod")], "other").body],
    ids=["damaged", "a list", "without reviews", "of another version", "of another tree"],
)
def test_what_is_no_record_of_this_tree_covers_nothing(body: object) -> None:
    assert Record(body).reviews("tree") == ()


def test_it_is_the_one_file_of_its_name_in_an_artifact() -> None:
    for odd in (b"", b"{}", packed("b.json", "{}"), packed("a.json", "{"), packed("a.json", "[" * 100_000)):
        assert unpacked(odd, "a.json") == Record(None)


def test_each_folder_of_a_repository_has_its_own() -> None:
    assert name_of("t", ".") == name_of("t", "./") == name_of("t", "") == "slipway-review-t.json"
    assert name_of("t", "./ml/a b/") == "slipway-review-t-ml~2Fa~20b.json"
