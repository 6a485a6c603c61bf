"""Faults of code that are faults whatever it does otherwise: it prints all variables, opens a bucket's address as a
folder, or looks for a file that it writes no more. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from slipway.reviewing.change.plain import UNREADABLE

PRINTS, OPENS, SEEKS = "print os.environ", "open ", "seek "
_TELLS = re.compile(r"p?print|pprint\.pprint|(log|logger|logging|console)\.\w+|sys\.std(out|err)\.write")
_ITEMS = re.compile(r"os\.environ\.(items|values|copy)\(\)")
_WHOLE = re.compile(rf"{_ITEMS.pattern}|(dict|str|repr)\(os\.environ\)|\*\*os\.environ|^os\.environ$|\{{os\.environ\}}")
_OPENS = re.compile(r"(pathlib\.)?Path|open|torch\.save|os\.(makedirs|mkdir)|np\.savez?")
_GIVEN, _ELSEWHERE = re.compile(r"\b\w*args\.(\w+)"), re.compile(r"replace\(|removeprefix|gcs|open as|as Path|AnyPath")
_WRITES = re.compile(r"(.*[._])?(save\w*|dump|write\w*|rename|replace|copy\w*|move|to_\w+)")
_READS = re.compile(r"(.*[._])?(load\w*|read\w*|exists|is_?file|i?glob|restore\w*)")
_FILE = re.compile(r"[\w*.-]+\.[A-Za-z]\w{0,6}")


def faults(before: str, after: str) -> Iterator[str]:
    """Yield what a file does that it did not: `print os.environ`; `open --output` for an argument that it opens as it
    is given; `seek checkpoint.pt`. None where either side can't be parsed."""
    try:
        old, new = (_Code(ast.parse(text.encode())) for text in (before, after))
    except UNREADABLE:
        return
    known = {*old.faults()}
    yield from (fault for fault in dict.fromkeys(new.faults()) if fault not in known)
    lost = (name for name in dict.fromkeys(new.files(_READS)) if old.writes(name) and not new.writes(name))
    yield from (f"{SEEKS}{name}" for name in lost)


class _Code:
    """A file's calls, and the values of its variables, whatever their scope."""

    def __init__(self, tree: ast.Module) -> None:
        nodes = [*ast.walk(tree)]
        self.calls = [(node, ast.unparse(node.func)) for node in nodes if isinstance(node, ast.Call)]
        self.loops = [node for node in nodes if isinstance(node, ast.For)]
        self.values: dict[str, list[ast.expr]] = {}
        for node in (node for node in nodes if isinstance(node, ast.Assign)):
            for name in (name for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)):
                self.values.setdefault(name.id, []).append(node.value)
        self.imports = "".join(ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))

    def made_of(self, part: ast.expr) -> list[ast.expr]:
        """Return a value with the values of its variables."""
        names = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
        return [part, *(value for name in sorted(names) for value in self.values.get(name, ()))]

    def faults(self) -> Iterator[str]:
        each = {id(part) for loop in self.loops if _ITEMS.search(ast.unparse(loop.iter)) for part in _of_values(loop)}
        for call, name in self.calls:
            told = " ".join(map(ast.unparse, call.args))
            if _TELLS.fullmatch(name) and (id(call) in each or (_WHOLE.search(told) and " if " not in told)):
                yield PRINTS
            if not _OPENS.fullmatch(name) or _ELSEWHERE.search(self.imports):
                continue
            for part in call.args:
                made = " ".join(map(ast.unparse, self.made_of(part)))
                flags = [] if _ELSEWHERE.search(made) else _GIVEN.findall(made)
                yield from (f"{OPENS}--{flag.replace('_', '-')}" for flag in flags)

    def files(self, does: re.Pattern[str]) -> Iterator[str]:
        """Yield the names of files of such calls, with `*` for what only running tells."""
        for call, name in self.calls:
            parts = [*call.args, call.func]
            mode = "".join(map(_text, call.args[1:]))
            opens = name == "open" and bool(re.search(r"[wax]", mode)) is (does is _WRITES)
            made = [value for part in parts for value in self.made_of(part)] if opens or does.fullmatch(name) else []
            for node in (node for value in made for node in ast.walk(value)):
                file = _text(node).rpartition("/")[2]
                yield from [file] if _FILE.fullmatch(file) else []

    def writes(self, name: str) -> bool:
        return any(fnmatchcase(name, file) or fnmatchcase(file, name) for file in self.files(_WRITES))


def _of_values(loop: ast.For) -> Iterator[ast.Call]:
    """Yield the calls that take the last thing of each turn, without a condition."""
    last = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
    inner = [*ast.walk(loop)]
    for call in () if any(isinstance(node, ast.If | ast.IfExp) for node in inner) else inner:
        if isinstance(call, ast.Call) and any(
            isinstance(name, ast.Name) and name.id == ast.unparse(last) for name in ast.walk(call)
        ):
            yield call


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "*" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
