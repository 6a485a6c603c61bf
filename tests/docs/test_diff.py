"""The page on promotions shows the command's output for the stacks of this repository.

`python -m tests.docs.test_diff` writes it.
"""

import re
from pathlib import Path

from slipway.front.cli.diff import promotion
from slipway.reviewing.render.text import plain_text
from tests.builders.place import NOW

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "diff.md"
_OUTPUT = re.compile(r"(?<=<!-- diff -->\n).*?(?=<!-- /diff -->)", re.DOTALL)


def made() -> str:
    stacks = ROOT / "stacks"
    review = promotion(stacks / "Pulumi.staging.yaml", stacks / "Pulumi.prod.yaml", NOW)
    settings = plain_text(review).partition("\nsettings\n")[2]
    return f"```\n{plain_text(review, details=False)}\nsettings\n{settings}\n```\n"


def test_the_page_shows_what_the_command_prints() -> None:
    match = _OUTPUT.search(PAGE.read_text(encoding="utf-8"))
    assert match and match[0] == made(), "python -m tests.docs.test_diff writes it"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    found = _OUTPUT.search(page)
    assert found
    PAGE.write_text(page[: found.start()] + made() + page[found.end() :], encoding="utf-8")
