"""A comment as a page: only what GitHub would show, and nothing that loads or runs. # N5"""

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from slipway.model.findings.finding import Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.render.comment import comment
from slipway.reviewing.review import Review
from tests import chromium
from tests.docs import goldens
from tests.review.pictures import draw, html_of

ALLOWED = {
    *("html", "head", "meta", "style", "body", "h3", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "p"),
    *("code", "strong", "em", "blockquote", "details", "summary", "sub", "pre", "br"),
}
HOSTILE = (
    "`x` @ada <img src=x onerror=alert(1)> ![a](http://evil.example/i.png) [a](javascript:alert(1)) | --> </details>"
)


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_hostile_names_are_shown_and_do_nothing() -> None:
    hostile = replace(
        KINDS["submission-rejected"].of(Subject("template", HOSTILE), f"is {HOSTILE}", HOSTILE), details=(HOSTILE,)
    )
    page = html_of(comment((Review("prod", (hostile,), plan=(HOSTILE,), quoted=(HOSTILE,)),)))
    found = Elements()
    found.feed(page)
    assert found.tags <= ALLOWED
    assert found.attributes <= {"charset", "http-equiv", "content", "class"}


@pytest.mark.long
def test_a_comment_is_drawn(tmp_path: Path) -> None:
    if isinstance(found := chromium.find(), str):
        pytest.skip(found)
    picture = tmp_path / "comment.png"
    draw(html_of(goldens.rolls()), picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
