"""Tables of mistakes: a text file of sections, each a file with a gap and what is said of it for each text in the gap.

# A heading above the file, in which GAP is the gap
replicas: GAP

0
! 1  replicas: a pool can't have 0 machines
"""

from collections.abc import Callable, Iterator
from pathlib import Path

GAP, SAID = "GAP", "! "


def texts(table: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the heading, the text and the whole file of each entry."""
    heading = frame = ""
    for block in table.read_text("utf-8").strip("\n").split("\n\n"):
        if block.startswith("# "):
            heading, _, frame = block.partition("\n")
            continue
        text = "\n".join(line for line in block.split("\n") if not line.startswith(SAID))
        line = next(line for line in frame.split("\n") if GAP in line)
        indent = " " * (len(line) - len(line.lstrip(" -")))
        yield heading, text, frame.replace(GAP, text.replace("\n", f"\n{indent}")) + "\n"


def written(table: Path, said: Callable[[str], str]) -> str:
    """Return the table with what is `said` of each file."""
    content = table.read_text("utf-8")
    entries = texts(table)
    blocks = content.strip("\n").split("\n\n")
    for index, block in enumerate(blocks):
        if not block.startswith("# "):
            _, text, whole = next(entries)
            lines = said(whole).splitlines()
            assert lines, f"nothing is said of {text}"
            blocks[index] = "\n".join([text, *(f"{SAID}{line}" for line in lines)])
    return "\n\n".join(blocks) + "\n"
