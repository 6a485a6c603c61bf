"""A key in a comment leads to its requirement, and what is built has a test that names it. (D8)"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = dict(re.findall(r"^\| ([A-Z]\d+) \| (.+) \|$", (ROOT / "docs/requirements.md").read_text(), re.MULTILINE))
# In brackets there are machines as well, such as A100.
KEYS = re.compile(r"(?:# (?=[A-Z])|\((?=[BDNPWXZ]))([A-Z]\d{1,2}(?:,? (?:# )?[A-Z]\d{1,2})*)\b")


def cited(folder: str) -> set[str]:
    texts = (file.read_text(encoding="utf-8") for file in (ROOT / folder).rglob("*.py"))
    return {key for text in texts for match in KEYS.findall(text) for key in re.findall(r"\w\d+", match)}


def test_every_key_is_explained() -> None:
    folders = ("slipway", "components", "local", "vertex-local", "journey", "bench", "tests")
    everywhere = set[str]().union(*map(cited, folders))
    assert sorted(everywhere - ROWS.keys()) == []


def test_every_requirement_has_a_test_or_is_said_to_come_later() -> None:
    built = {key for key, words in ROWS.items() if not words.endswith("(*later*)")}
    tested = cited("tests") | cited("vertex-local/tests")
    assert sorted(built - tested) == []
