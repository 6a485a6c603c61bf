"""Every template that ships has its line in the guide, and the guide has no other. # D3"""

from __future__ import annotations

import re
from pathlib import Path

from slipway.template.load import load

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "templates.md").read_text("utf-8")


def test_the_guides_table_is_the_templates_folder() -> None:
    told = set(re.findall(r"^\| `([a-z0-9-]+)` \|", GUIDE, re.MULTILINE))
    assert told == {file.stem.replace("_", "-") for file in (ROOT / "templates").glob("[a-z]*.py")}


def test_the_kinds_told_are_the_kinds_that_a_template_has() -> None:
    rows = dict(re.findall(r"^\| `([a-z0-9-]+)` \| ([^|]+) \|", GUIDE, re.MULTILINE))
    for template in load(tuple(rows), ROOT / "templates"):
        assert rows[template.name].startswith(template.kind.replace("-", " ")), template.name
        assert all(f"--as {kind}" in rows[template.name] for kind in template.kinds[1:])
