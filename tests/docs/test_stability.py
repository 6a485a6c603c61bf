"""The table of what is stable names what there is: a number or a name that changes, changes it."""

from __future__ import annotations

import re
from pathlib import Path

import slipway
from slipway.front.cli.terminal import screen
from slipway.model.catalog import model

PAGE = Path(__file__).resolve().parents[2] / "docs" / "stability.md"
ROWS = dict(
    re.findall(r"^\| ([^|]+) \| ([^|]+) \| (?:always|a major version) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
)


def test_a_document_has_its_schema() -> None:
    assert {f"the catalog, `schema` {model.SCHEMA}", f"`--output json`, `schema` {screen.SCHEMA}"} <= ROWS.keys()


def test_python_s_names_are_those_of_the_package() -> None:
    assert len(ROWS) >= 8
    assert set(re.findall(r"`slipway\.(\w+)`", ROWS["Python"])) == set(slipway.__all__)
