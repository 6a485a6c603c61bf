"""The guide to reviews shows comments as the product makes them, and so does the README; findings are listed. # N5

`python -m tests.docs.test_review` writes them.
"""

import re
from pathlib import Path

import pytest

from slipway.model.findings.finding import Grade
from slipway.reviewing.render.rows import SIGNS

from . import goldens

ROOT = Path(__file__).parents[2]
GUIDE, README, FINDINGS = ROOT / "docs" / "review.md", ROOT / "README.md", ROOT / "docs" / "findings.md"
DOCTOR = ROOT / "docs" / "doctor.md"
"""The README has the first comment as a picture, which `python -m tests.review.pictures FOLDER` draws."""
PLACES = (
    (GUIDE, "comment: rolls", goldens.framed(goldens.rolls())),
    (GUIDE, "lots", goldens.lots()),
    (FINDINGS, "grades", goldens.grades()),
    (DOCTOR, "health", goldens.health()),
)


def place(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=<!-- {name} -->\n).*?(?=\n<!-- /{name.partition(':')[0]} -->)", re.DOTALL)


@pytest.mark.parametrize(("page", "name", "made"), PLACES, ids=("rolls", "lots", "grades", "health"))
def test_what_the_product_makes_stands_on_the_page(page: Path, name: str, made: str) -> None:
    match = place(name).search(page.read_text(encoding="utf-8"))
    assert match, f"no {name}"
    assert match[0].strip() == made.strip(), "python -m tests.docs.test_review writes it"


def test_the_readme_shows_the_comment_as_a_picture() -> None:
    (words, file) = re.findall(r"!\[([^\]]*)\]\((docs/[^)]*\.png)\)", README.read_text(encoding="utf-8"))[0]
    headline = goldens.shown(goldens.rolls()).splitlines()[0].removeprefix("### ").replace("`", "")
    assert words == headline, "python -m tests.review.pictures FOLDER draws it anew"
    assert (ROOT / file).stat().st_size < 150_000


def test_grades_and_their_signs() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    assert all(f"| {SIGNS[grade]} | {grade.review_word} |" in guide for grade in Grade)


if __name__ == "__main__":
    for page, name, made in PLACES:
        text = page.read_text(encoding="utf-8")
        found = place(name).search(text)
        assert found, name
        page.write_text(text[: found.start()] + made + text[found.end() :], encoding="utf-8")
