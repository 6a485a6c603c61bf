"""The file of the names of rows as a type: `python -m tests.review.row_names` writes it."""

import textwrap
from pathlib import Path

from slipway.reviewing.rules.table import ROWS

FILE = Path(__file__).parents[2] / "slipway/reviewing/rules/row_names.py"


def text() -> str:
    names = textwrap.fill(" ".join(f'"{name}",' for name in ROWS), 114, break_on_hyphens=False).splitlines()
    return "\n".join(
        (
            '"""The names of the rows of `table.json` as a type, made by `python -m tests.review.row_names`."""',
            "",
            "from typing import Literal",
            "",
            "# fmt: off",
            "RowName = Literal[",
            *(f"    {line}" for line in names),
            "]",
            "",
        )
    )


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
