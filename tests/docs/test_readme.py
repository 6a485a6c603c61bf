"""What the README shows is compared with what a reader sees. (D8)

The two commands and all that it tells to type after the demo are typed by tests/end_to_end/test_demo.py.
"""

from __future__ import annotations

import re
from pathlib import Path

from .console import Typed, commands, missing, normal

README = Path(__file__).resolve().parents[2] / "README.md"
DOCS = README.parent / "docs"


def test_it_is_one_screen_with_two_commands_and_leads_to_all_pages() -> None:
    told = [typed.command for typed in commands(README)]
    assert [command for command in told if command.startswith("make")] == ["make demo", "make test"]
    text = README.read_text("utf-8")
    assert len(text.splitlines()) <= 62 and "](docs/README.md)" in text


def test_each_page_has_its_place_in_the_list() -> None:
    listed = re.findall(r"\]\(([^)#]*)\)", (DOCS / "README.md").read_text("utf-8"))
    pages = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert {link for link in listed if not link.startswith(("../", "https:"))} == pages


def test_no_page_and_no_printed_text_leads_to_what_google_keeps_no_longer() -> None:
    """Google has renamed Vertex AI: pages of the old name are left as they were, and the console has moved."""
    top = README.parent
    written = [*top.glob("*.md"), *DOCS.glob("*.md")]
    for folder in ("slipway", "components", "policy", "local", "vertex-local", "journey", "templates", "jobs"):
        written += (
            path for ending in ("py", "md", "json", "html", "yaml") for path in (top / folder).rglob(f"*.{ending}")
        )
    old = re.compile(r"cloud\.google\.com/vertex-ai")
    assert [str(path.relative_to(top)) for path in written if old.search(path.read_text("utf-8"))] == []
    assert "Gemini Enterprise Agent Platform" in README.read_text("utf-8")


def test_numbers_and_names_may_differ_and_words_may_not() -> None:
    shown = Typed("slipway pools", ("cpu  head  0 / 1 / 1   2 s", "…", "done"))
    assert missing(shown.shown, "cpu head 1 / 1 / 3 14 min\nmore\ndone\n") == []
    assert missing(shown.shown, "cpu tail 1 / 1 / 3 14 min\ndone\n") != []
    assert missing(shown.shown, "done\ncpu head 1 / 1 / 3 14 min\n") == ["done"]
    assert normal("dask-digits-lxyht5gh  waited 9.4 s") == "dask-digits-JOB waited N"
