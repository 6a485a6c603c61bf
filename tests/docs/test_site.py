"""Links between pages, the site's navigation, without what `make site` builds with, and what the README shows. # D8

The two commands and all that it tells to type after the demo are typed by tests/end_to_end/test_demo.py.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from journey.site import ROOT, linked, outline, reached, stage
from tests.docs.console import Typed, commands, missing, normal

PAGES = sorted(path for path in reached() if path.suffix == ".md")
KINDS = ["Tutorials", "How to", "Reference", "Explanation"]


def _navigation() -> Iterator[tuple[str, str]]:
    """Each page with the kind that it is of, empty for the first."""

    class Loader(yaml.SafeLoader):
        """YAML, less what only the site's own packages can make."""

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)
    entries = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Loader)["nav"]
    for entry in entries:
        for kind, inside in entry.items():
            yield from (((kind if isinstance(inside, list) else ""), page) for page in _pages(inside))


def _pages(inside: object) -> Iterator[str]:
    if isinstance(inside, str):
        yield inside
    elif isinstance(inside, list):
        for entry in inside:
            for one in entry.values():
                yield from _pages(one)


@cache
def headings(page: Path) -> frozenset[str]:
    """The names of a page's headings, as GitHub makes them: the second of equal ones has `-1` behind it."""
    titles = re.findall(r"^#+ (.+)$", outline(page.read_text("utf-8")), re.MULTILINE)
    names = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
    before: Counter[str] = Counter()
    anchors = set()
    for name in names:
        anchors.add(f"{name}-{before[name]}" if before[name] else name)
        before[name] += 1
    return frozenset(anchors)


@pytest.mark.parametrize("page", [str(path.relative_to(ROOT)) for path in PAGES])
def test_each_link_leads_to_a_file_and_to_a_heading_in_it(page: str) -> None:
    own = re.findall(r"\]\(#([^)]+)\)", outline((ROOT / page).read_text("utf-8")))
    assert {anchor for anchor in own if anchor not in headings(ROOT / page)} == set()
    for target, anchor in linked(ROOT / page):
        assert target.exists(), target
        assert not anchor or target.suffix != ".md" or anchor in headings(target), f"{target}#{anchor}"


def test_all_that_people_read_is_looked_at() -> None:
    beside = {ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "vertex-local/README.md")}
    assert beside | set((ROOT / "docs").rglob("*.md")) <= set(PAGES)


def test_each_page_has_its_place_in_the_navigation_by_kind() -> None:
    entries = list(_navigation())
    assert [kind for kind in dict.fromkeys(kind for kind, _ in entries) if kind] == KINDS
    listed = [page for _, page in entries]
    assert len(set(listed)) == len(listed)
    assert set(listed) == {str(page.relative_to(ROOT)) for page in PAGES} - {"SECURITY.md"}


def test_what_a_link_leads_to_is_in_the_site_and_a_folder_is_a_list(tmp_path: Path) -> None:
    stage(tmp_path)
    assert (tmp_path / "slipway" / "front" / "starter" / "stacks" / "Pulumi.dev.yaml.in").exists()
    assert "](vertex_local/images/recipes/README.md)" in (tmp_path / "vertex-local" / "README.md").read_text("utf-8")
    listed = Path("vertex-local", "vertex_local", "images", "recipes")
    recipes = (tmp_path / listed / "README.md").read_text("utf-8")
    assert all(f"]({file.name})" in recipes for file in (ROOT / listed).glob("*.toml"))
    assert "[text|markdown|json]" in (tmp_path / "docs" / "commands.md").read_text("utf-8"), "not `\\|`, as on GitHub"
    assert '<details markdown="1">' in (tmp_path / "docs" / "review.md").read_text("utf-8"), "else it is no Markdown"


def test_it_is_one_screen_with_two_commands_and_leads_to_all_pages() -> None:
    told = [typed.command for typed in commands(ROOT / "README.md")]
    assert [command for command in told if command.startswith("make")] == ["make demo", "make test"]
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 62 and "](docs/README.md)" in text


def test_each_page_has_its_place_in_the_list() -> None:
    listed = re.findall(r"\]\(([^)#]*)\)", (ROOT / "docs" / "README.md").read_text("utf-8"))
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {link for link in listed if not link.startswith(("../", "https:"))} == pages


def test_no_page_and_no_printed_text_leads_to_what_google_keeps_no_longer() -> None:
    """Google has renamed Vertex AI: pages of the old name are left as they were, and the console has moved."""
    written = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    for folder in ("slipway", "components", "policy", "local", "vertex-local", "journey", "templates", "jobs"):
        written += (
            path for ending in ("py", "md", "json", "html", "yaml") for path in (ROOT / folder).rglob(f"*.{ending}")
        )
    old = re.compile(r"cloud\.google\.com/vertex-ai")
    assert [str(path.relative_to(ROOT)) for path in written if old.search(path.read_text("utf-8"))] == []
    assert "Gemini Enterprise Agent Platform" in (ROOT / "README.md").read_text("utf-8")


def test_numbers_and_names_may_differ_and_words_may_not() -> None:
    shown = Typed("slipway pools", ("cpu  head  0 / 1 / 1   2 s", "…", "done"))
    assert missing(shown.shown, "cpu head 1 / 1 / 3 14 min\nmore\ndone\n") == []
    assert missing(shown.shown, "cpu tail 1 / 1 / 3 14 min\ndone\n") != []
    assert missing(shown.shown, "done\ncpu head 1 / 1 / 3 14 min\n") == ["done"]
    assert normal("dask-digits-lxyht5gh  waited 9.4 s") == "dask-digits-JOB waited N"
