"""The guide to reviews shows comments as the product makes them, and so does the README. # N5"""

import re
from pathlib import Path

import pytest

from slipway.findings.finding import Grade
from slipway.review.rendering.headline import SIGNS

from . import goldens

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "review.md"


def between(text: str, name: str) -> str:
    found = re.search(rf"<!-- comment: {name} -->\n(.*?)\n<!-- /comment -->", text, re.S)
    assert found, f"no comment {name}"
    return found[1].strip()


@pytest.mark.parametrize(("name", "made"), [("rolls", goldens.rolls), ("goes", goldens.goes)])
def test_the_guide_s_comments(name: str, made: object) -> None:
    assert callable(made)
    assert between(GUIDE.read_text(encoding="utf-8"), name) == goldens.framed(made())


def test_the_readme_s_comment() -> None:
    assert between((ROOT / "README.md").read_text(encoding="utf-8"), "rolls") == goldens.seen(goldens.rolls())


def test_grades_and_their_signs() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    assert all(f"| {SIGNS[grade]} | {grade.review_word} |" in guide for grade in Grade)
