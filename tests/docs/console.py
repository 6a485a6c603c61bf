"""Console blocks of a page: the commands for a reader, and their expected output."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pictures import described

# Parts that differ from run to run: numbers with their units, content hashes, job names, commits.
_VARIES = (
    (re.compile(r"@ [0-9a-f]{7}(?:-dirty)?"), "@ COMMIT"),
    (re.compile(r"\b(\w+-(?:digits|lora)|script)-[a-z2-7]{8}\b"), r"\1-JOB"),
    (re.compile(r"\bcpu-[0-9a-f]{7}\b"), "cpu-ID"),
    (re.compile(r"\((built|installed|release)\)"), "(SOURCE)"),
    (re.compile(r"\b(started|runs) at http\S+"), "at URL"),
    (re.compile(r"\d+(?:[.,]\d+)*(?: ?(?:s|min|h))?"), "N"),
    (re.compile(r"\s+"), " "),
)
_SHOWN = re.compile(r"^```console\n(.*?)^```$|^!\[\$ ([^\]]*)\]\(([^)]*\.svg)\)$", re.MULTILINE | re.DOTALL)
ELLIPSIS = "…"


@dataclass(frozen=True)
class Typed:
    """A command, and the lines shown below it; `…` stands for any number of lines."""

    command: str
    shown: tuple[str, ...]


def commands(page: Path) -> list[Typed]:
    """Return every `$ command` of the page's console blocks and pictures, in order. A picture below its command has
    that command's output."""
    found: list[Typed] = []
    for block, command, picture in _SHOWN.findall(page.read_text("utf-8")):
        if picture:
            first, *shown = described(page.parent / picture)
            assert first == f"$ {command}", f"{picture} is of another command"
            if found and found[-1] == Typed(command, ()):
                found.pop()
            found.append(Typed(command, tuple(shown)))
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            typed, *shown = part.rstrip("\n").split("\n")
            found.append(Typed(typed, tuple(shown)))
    return found


def blocks(page: Path, language: str) -> list[str]:
    """Return the text of each block of the page in a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def missing(shown: tuple[str, ...], printed: str) -> list[str]:
    """Return the shown lines that are not printed, in that order; numbers, ids and white space are not compared."""
    lines = iter([normal(line) for line in printed.splitlines()])
    return [line for line in shown if line.strip() not in ("", ELLIPSIS) and normal(line) not in lines]


def exit_code(shown: str) -> int:
    """Return what docs/cli.md says of the error that is shown."""
    return 5 if "can never run" in shown else 4 if "failed" in shown else 2 if "error:" in shown else 0


def normal(line: str) -> str:
    for pattern, word in _VARIES:
        line = pattern.sub(word, line)
    return line.strip()
