"""The code cells of a notebook as a script, in their order, without what only a notebook's own kernel runs. Pure."""

from __future__ import annotations

import ast
import json
import re
import shlex
import warnings
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted, quoted, short

_TRANSPARENT = frozenset({"time", "timeit", "capture", "prun", "memit", "python", "python3"})
"""Magics of a whole cell that is Python all the same."""
_WRITES = re.compile(r"%%(?:writefile|file)\s+(?P<name>[\w./-]+)\s*")
_OF_KERNEL = re.compile(r"(?P<indent>\s*)(?:[\w.,\[\] ]+=\s*)?[!%?].*|(?P<helped>\s*)[\w.]+\?{1,2}\s*")
_PIP = re.compile(r"[%!]\s*(?:\S*python\S*\s+-m\s+|\{sys\.executable\}\s+-m\s+|uv\s+)?pip3?\s+install\s+(?P<words>.*)")
_QUIET = frozenset(
    {"-q", "-qq", "-qqq", "--quiet", "-U", "--upgrade", "--user", "--no-cache-dir", "--progress-bar=off", "--system"}
)
_REQUIREMENT = re.compile(
    r"[A-Za-z0-9][\w.-]*(\[[\w.,-]+\])?(\s*(@\s*\S+|[<>=!~]=?=?[^;]*))?(;.*)?|(git\+)?https://\S+"
)
_DISPLAY = "try:\n    from IPython.display import display\nexcept ImportError:\n    display = print\n"
_OF_HOSTS = ("google.colab", "kaggle_secrets")
_AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_SHOWN = 3


class NotebookScript:
    """The files that a notebook comes to: its script, those that its cells write, requirements.txt."""

    def __init__(self, content: bytes, name: str) -> None:
        """Read a notebook of this name. Raises ConfigError for what is none, is not in Python, or is no script."""
        self.script = f"{PurePosixPath(name).stem}.py"
        self.left_out: list[str] = []
        self._requirements: list[str] = []
        self._written: dict[str, bytes] = {}
        cells = [self._python(source) for source in _code_cells(content, name)]
        if awaiting := next((cell for cell in cells if _wrong_line(cell) and not _wrong_line(cell, _AWAITS)), ""):
            raise ConfigError(
                f"{quoted(name)} awaits outside of a function: {short(_wrong_line(awaiting), 60)}",
                why="a notebook's kernel has a loop that runs all the time, and a script has none",
                fix="asyncio.run(x) for await x, or one async def main() with all of it, and asyncio.run(main())",
            )
        text = "\n\n".join(cell for cell in cells if cell.strip()) + "\n"
        prelude = _DISPLAY if re.search(r"(?m)^[^#]*\bdisplay\(", text) else ""
        self._text, self._count = prelude + text, len(cells)

    @property
    def files(self) -> Mapping[str, bytes]:
        lines = "".join(f"{line}\n" for line in dict.fromkeys(self._requirements))
        required = {"requirements.txt": lines.encode()} if lines else {}
        return {**required, **self._written, self.script: self._text.encode()}

    @property
    def notes(self) -> list[str]:
        more = f" and {len(self.left_out) - _SHOWN} more" if len(self.left_out) > _SHOWN else ""
        lines = [f"{counted(self._count, 'code cell')} of the notebook, in their order: {self.script}"]
        if self._requirements:
            lines[0] += f"; requirements.txt: {', '.join(dict.fromkeys(self._requirements))}"
        if self.left_out:
            shown = ", ".join(short(line, 40) for line in self.left_out[:_SHOWN])
            lines.append(f"! left out, as no script has a notebook's kernel: {shown}{more}")
        lines += [f"! {name} is imported, which no job has" for name in _OF_HOSTS if name in self._text]
        return lines

    def _python(self, source: str) -> str:
        """Return a cell without magics, each line in its place."""
        first, _, rest = source.lstrip("\n").partition("\n")
        if first.startswith("%%"):
            if written := _WRITES.fullmatch(first):
                if not written["name"].startswith("/") and ".." not in PurePosixPath(written["name"]).parts:
                    self._written[str(PurePosixPath(written["name"]))] = rest.encode()
                    return ""
            elif first[2:].split()[:1] and first[2:].split()[0] in _TRANSPARENT:
                return self._python(rest)
            self.left_out.append(first)
            return ""
        return source if _is_python(source) else "\n".join(self._line(line) for line in _joined(source))

    def _line(self, line: str) -> str:
        found = _OF_KERNEL.fullmatch(line)
        if not found:
            return line
        stripped = line.strip()
        if not self._installs(stripped):
            self.left_out.append(stripped)
        return f"{found['indent'] or found['helped'] or ''}pass  # {stripped}"

    def _installs(self, line: str) -> bool:
        """Tell whether a line has pip install packages by their names, which are requirements then."""
        found = _PIP.fullmatch(line)
        if not found:
            return False
        try:
            words = shlex.split(found["words"], comments=True)
        except ValueError:
            return False
        words = [word for word in words if word not in _QUIET]
        if not words or not all(map(_REQUIREMENT.fullmatch, words)):
            return False
        self._requirements += words
        return True


def _code_cells(content: bytes, name: str) -> list[str]:
    try:
        notebook: Any = json.loads(content.decode("utf-8-sig"))
        # Before the fourth format a notebook had pages of cells.
        cells = notebook.get("cells") or [cell for sheet in notebook.get("worksheets", ()) for cell in sheet["cells"]]
        sources = [cell.get("source", cell.get("input", "")) for cell in cells if cell["cell_type"] == "code"]
        code = [source if isinstance(source, str) else "".join(source) for source in sources]
        about = notebook.get("metadata", {})
        language = about.get("kernelspec", {}).get("language") or about.get("language_info", {}).get("name") or "python"
    except (ValueError, AttributeError, KeyError, TypeError) as problem:
        raise ConfigError(
            f"{quoted(name)} is no notebook", why=str(problem), fix="save it in Jupyter once more"
        ) from problem
    if language.lower() not in ("python", "ipython"):
        raise ConfigError(
            f"{quoted(name)} is a notebook in {language}",
            why="Python runs what its cells come to",
            fix=f"--code with the folder of its script: jupyter nbconvert --to script {shlex.quote(name)}",
        )
    if not any(cell.strip() for cell in code):
        raise ConfigError(f"{quoted(name)} has no code", why="its code cells are empty", fix="save it in Jupyter")
    return code


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def _wrong_line(cell: str, flags: int = 0) -> str:
    """Return the line of a cell that Python can't compile; empty for none."""
    try:
        with warnings.catch_warnings(action="ignore"):  # The job shows them when it runs.
            compile(cell, "cell", "exec", flags, dont_inherit=True)
    except SyntaxError as problem:
        lines = cell.splitlines()
        return lines[min(problem.lineno or 1, len(lines)) - 1].strip() or "?"
    except ValueError:
        return "?"
    return ""


def _joined(source: str) -> list[str]:
    """Return the lines of a cell; a line of the kernel's that a backslash ends goes on with the next."""
    lines: list[str] = []
    for line in source.splitlines():
        if lines and lines[-1].endswith("\\") and lines[-1].lstrip().startswith(("!", "%")):
            lines[-1] = f"{lines[-1][:-1].rstrip()} {line.strip()}"
        else:
            lines.append(line)
    return lines
