"""Mistakes of a stack file, each with its line, its key and the way out: mistakes.txt has all of them. # D1 D6

`python -m tests.slipway.authoring.stack.test_mistakes` writes it.
"""

from pathlib import Path

from tests.slipway.authoring.mistakes import written

from .files import FILE, wrong

TABLE = Path(__file__).with_name("mistakes.txt")


def said(text: str) -> str:
    return "\n".join(map(str, wrong(text))).replace(f"{FILE}:", "")


def test_each_is_told_with_its_line_its_key_and_the_way_out() -> None:
    assert written(TABLE, said) == TABLE.read_text("utf-8")


if __name__ == "__main__":
    TABLE.write_text(written(TABLE, said), "utf-8")
