"""Code on two sides, read as text: whether a file is the same program, its edited lines, and what a job's file names.
Pure; nothing here judges code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from slipway.authoring.stack.secrets import lines_have_secret
from slipway.base.formatting import counted
from slipway.reviewing.change.edits import OWN, PLACE, SAVING, Argument, Edit, JobFile
from slipway.reviewing.change.secret_values import HIDDEN, bare

_OWN = re.compile(r"SLIPWAY_(OUTPUT|CHECKPOINTS)|AIP_(CHECKPOINT|MODEL)_DIR|--output|\.output\b")
_KEEPS = re.compile(rf"{_OWN.pattern}|gs://|/gcs/|/mnt/")
_SAVES = re.compile(
    r"\bos\.(replace|rename)\(|\bshutil\.(move|copy\w*)\(|\.(replace|rename)\([^,()=]+\)|\bsave(\w*\(|_\w+)"
    r"|\b(pickle|joblib)\.dump\(|Checkpoint\w*\("
)
_FLAG, _MADE_UP = re.compile(r"""["'](--[\w-]+)"""), re.compile(r"""["']--["'{%]|\bparents=""")
_NAMED = re.compile(r"""["']([\w-]+)["']""")
_EACH = re.compile(r"""for (\w+) in [(\[]([^()\[\]]*)[)\]]:\s+\w+\.add_argument\(f["']--\{\1\}""")
"""Arguments of which each has a name of a list."""
_HANDED = re.compile(r"\b(\w+)\(\w*parser[,)]")
_LONGEST, _BREAK = 400, " ⏎ "
_WIDEST = 4096
_MOST_READ, _MOST_LINES = 200_000, 5_000
"""Characters and lines of a file that is compared, as a person reads it."""
_UNREAD = re.compile("\ufffd|^# /// ", re.MULTILINE)
"""Bytes that are not UTF-8, and comments that declare what to install (PEP 723)."""
_ACTS = re.compile(r"\b(docopt|defopt|dspy|__doc__|getdoc)\b|@[\w.]*tool\b")
"""Names by which code acts by docstrings."""
_HAS_BODY = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)


def same_program(file: str, before: str, after: str) -> bool:
    """Tell whether a file has the same code, with other comments and docstrings or in another form."""
    both = f"{before}\n{after}"
    if not file.endswith(".py") or len(both) > 2 * _MOST_READ or _UNREAD.search(both):
        return False
    whole = bool(_ACTS.search(both))
    try:
        return _parsed(before, whole) == _parsed(after, whole)
    except _PARSE_ERRORS:
        return False


def _parsed(text: str, whole: bool) -> str:
    """Return the code, without docstrings unless it is `whole`. It is parsed as bytes, since a first line may declare
    another coding."""
    tree = ast.parse(text.encode())
    for node in () if whole else ast.walk(tree):
        if isinstance(node, _HAS_BODY) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def edited_lines(file: str, before: str, after: str) -> tuple[Edit, ...]:
    """Return the edited places of a file, each by the number of its first line; none of a file that no person reads."""
    if max(len(before), len(after)) > _MOST_READ:
        return ()
    # Needed only for edited code: importing it costs time.
    from difflib import SequenceMatcher

    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > _MOST_LINES:
        return ()
    blocks = SequenceMatcher(None, old, new).get_opcodes()
    leads = (next((at for at in range(start, end) if new[at].strip()), start) for *_, start, end in blocks)
    return tuple(
        Edit(
            f"{file}:{lead + 1}",
            _lines(old[first:last], new[start:end], old[:first]),
            _lines(new[start:end], old[first:last], new[:start]),
        )
        for lead, (what, first, last, start, end) in zip(leads, blocks, strict=True)
        if what != "equal" and any(line.strip() for line in (*old[first:last], *new[start:end]))
    )


def _lines(lines: list[str], beside: list[str], above: list[str]) -> str:
    if lines_have_secret(lines, above):
        return HIDDEN
    stripped = ([line.strip() for line in some if line.strip()] for some in (lines, beside))
    text, other = (_BREAK.join([line for line in some if line[0] != "#"] or some) for some in stripped)
    told = bare(text, longest=_LONGEST, beside=other)
    left = text.count(_BREAK) - told.count(_BREAK)
    return told if told == HIDDEN or not left else f"{told} and {counted(left, 'more lines')}"


def forgetting(sides: Mapping[str, tuple[str, str]]) -> Mapping[str, frozenset[str]]:
    """Return what checkpoints need that files of jobs had, and have no more: a place, or a line that saves."""
    kept = {file: (_keeps(before), _keeps(after)) for file, (before, after) in sides.items()}
    gone = {file: was - now - ({OWN} if PLACE in now else set()) for file, (was, now) in kept.items()}
    return {file: lost for file, lost in gone.items() if lost}


def _keeps(text: str) -> frozenset[str]:
    lines = [line[:_WIDEST].partition("#")[0] for line in text[:_MOST_READ].splitlines()]
    needs = {PLACE: _KEEPS, OWN: _OWN, SAVING: _SAVES}
    return frozenset(what for what, pattern in needs.items() if any(map(pattern.search, lines)))


def job_file(text: str, file: str = "") -> JobFile:
    """Return what a file of a job's code names. It is parsed for its arguments, and with its path for its imports."""
    listed = {f"--{name}" for _, names in _EACH.findall(text) for name in _NAMED.findall(names)}
    reads_all = "parse_args(" in text and "parse_known" not in text and not _MADE_UP.search(_EACH.sub("", text))
    reads_all = reads_all and all(f"def {name}(" in text for name in _HANDED.findall(text))
    # Arguments of a subcommand are asked of nobody else.
    parses = "add_argument(" in text and "add_subparsers" not in text
    try:
        tree = ast.parse(text.encode() if (parses or file) and len(text) <= _MOST_READ else b"")
    except _PARSE_ERRORS:
        tree = ast.parse("")
    return JobFile(
        keeps=_keeps(text),
        flags=frozenset({*_FLAG.findall(text), *listed} if reads_all else ()),
        arguments=tuple(_arguments(tree)) if parses else (),
        imports=frozenset(_imports(file, tree)) if file else frozenset(),
        words=frozenset(re.findall(r"\w+", text)),
    )


def _arguments(tree: ast.Module) -> Iterator[Argument]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            given = {word.arg: word.value for word in node.keywords}
            names = tuple(text for each in node.args for text in _literals(each) if text.startswith("-"))
            # Another type makes its value of the text.
            type_ = getattr(given["type"], "id", "") if "type" in given else "str"
            plain = type_ in ("int", "str") and not {"action", "nargs", None} & given.keys()
            choices = _literals(given.get("choices")) if plain else ()
            if names:
                yield Argument(names, "True" in _literals(given.get("required")), choices, plain and type_ == "int")


def _literals(node: ast.expr | None) -> tuple[str, ...]:
    """Return the text of a literal, or those of a list; none of another expression."""
    try:
        value = ast.literal_eval(node) if node else None
        some = value if isinstance(value, list | tuple | set) else (value,)
        return tuple(str(each) for each in some if each is not None)
    except (ValueError, TypeError):
        return ()


def _imports(file: str, tree: ast.Module) -> Iterator[str]:
    """Yield what a file imports whenever it is loaded, and can't do without: `common.data`."""
    own = file.split("/")[1:-1]
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = (*(own[: len(own) + 1 - node.level] if node.level else ()), *filter(None, [node.module]))
            yield from (".".join((*start, each.name)) for each in node.names)
