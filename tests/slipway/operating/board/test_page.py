"""The page's file: what may run in it, what it holds, and how large it is. # Z5"""

import base64
import hashlib
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import slipway.operating.board
from bench import month
from slipway.base.errors import HARMFUL
from slipway.base.files import OWN_PAGE, OWN_PAGE_WITHIN
from slipway.operating.board.document import as_json, board_of
from slipway.operating.board.page import page
from slipway.operating.history.model import History
from tests.slipway.operating.board.moment import now_of

FOLDER = Path(slipway.operating.board.__file__).parent
VENDORED = json.loads((FOLDER / "vendor" / "vendor.json").read_text("utf-8"))


class Parts(HTMLParser):
    """Texts of scripts and styles, and every attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[tuple[str, str]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kind = dict(attrs).get("type") or tag
        self._inside = kind if tag in ("script", "style") else ""
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if self._inside:
            self.texts.append((kind, ""))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            kind, text = self.texts[-1]
            self.texts[-1] = (kind, text + data)


@cache
def past() -> History:
    return month.history(300)


def test_a_session_is_shown_by_its_name() -> None:
    known = past()
    labels = {"slipway-session": "1", "slipway-name": "lr"}
    known = replace(known, jobs=(replace(known.jobs[-1], labels=labels), *known.jobs[:-1]))
    assert "session/lr" in {
        value
        for row in as_json(board_of(known, now_of(known)), 2)["jobs"]["rows"]
        for value in row
        if isinstance(value, str)
    }


@cache
def data() -> dict[str, Any]:
    return as_json(board_of(past(), now_of(past())), 2)


@cache
def html() -> str:
    return page(data())


@pytest.fixture(scope="module")
def parts() -> Parts:
    found = Parts()
    found.feed(html())
    return found


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_lets_run_what_the_page_brings_and_nothing_else(parts: Parts) -> None:
    policy = next(value for tag, name, value in parts.attributes if tag == "meta" and value.startswith("default-src"))
    rules = {key: values for key, *values in (word.split() for word in policy.split("; "))}
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == ["'none'"]
    assert rules.pop("script-src") == [digest(text) for kind, text in parts.texts if kind == "script"]
    assert rules.pop("style-src") == [digest(text) for kind, text in parts.texts if kind == "style"]
    assert rules == {}


def test_the_page_says_at_its_beginning_who_wrote_it() -> None:
    """Else it would travel with the folder's code."""
    assert OWN_PAGE in html()[:OWN_PAGE_WITHIN]


def test_nothing_is_loaded_from_anywhere(parts: Parts) -> None:
    loads = {"src", "srcset", "data", "action", "poster", "background", "style"}
    assert [attribute for attribute in parts.attributes if attribute[1] in loads or attribute[1].startswith("on")] == []
    assert {value[:1] for tag, name, value in parts.attributes if name == "href"} == {"#"}


@pytest.mark.parametrize("one", VENDORED, ids=lambda item: item["name"])
def test_what_others_wrote_is_what_was_fetched(one: dict[str, str]) -> None:
    content = (FOLDER / "vendor" / one["file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == one["sha256"]
    assert re.search(rb"</script|<!--|sourceMappingURL", content) is None
    assert one["licence"] == "BSD-3-Clause"
    assert f"{one['name']} {one['version']}" in (FOLDER / "vendor" / "LICENSES.txt").read_text("utf-8")


def test_the_data_is_one_versioned_document_under_the_keys_of_other_commands(parts: Parts) -> None:
    (text,) = (text for kind, text in parts.texts if kind == "application/json")
    told = json.loads(text)["data"]
    assert (told["schema"], told["kind"], told["stack"]) == (2, "board", "prod")
    assert len(told["jobs"]["rows"]) == len(past().jobs)
    assert all(len(row) == len(told["jobs"]["columns"]) for row in told["jobs"]["rows"])
    assert told == json.loads(json.dumps(data()))


def test_no_text_turns_what_is_read_and_none_is_endless() -> None:
    text = json.dumps(data(), ensure_ascii=False)
    assert re.search(f"[{HARMFUL}]", text) is None
    assert max(map(len, re.findall(r'"((?:[^"\\]|\\.)*)"', text))) <= 500


def test_a_month_of_3000_jobs_is_a_page_of_2_mb_at_most() -> None:
    history = month.history(3000)
    assert len(history.jobs) == 3000
    assert len(page(as_json(board_of(history, now_of(history)), 2)).encode()) <= 2_000_000


def test_idle_machines_that_nobody_recorded_are_unknown_and_cost_not_nothing() -> None:
    html = page(as_json(board_of(replace(past(), samples=()), now_of(past())), 2))
    rows = re.findall(r"<tr><th scope=\"row\">idle h100/workers</th>(.*?)</tr>", html)
    assert rows and all(re.findall(r">([^<>]+)</td>", row) == ["?"] * 4 for row in rows)


def test_of_very_many_users_the_page_says_how_many_it_leaves_out() -> None:
    many = tuple(replace(job, user=f"user-{number}") for number, job in enumerate(past().jobs))
    found = board_of(replace(past(), jobs=many))
    rows = found["usage"]["user"].rows
    assert len(rows) + found["namesLeftOut"]["user"] == len(many) > len(rows) and not found["namesLeftOut"]["team"]
    assert f"and {found['namesLeftOut']['user']} more" in page(as_json(found, 2))
