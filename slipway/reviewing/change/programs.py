"""Code on two sides, read as text: whether a file is the same program, its edited lines, and the lines that report
metrics. Pure; nothing here judges code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import count

from slipway.authoring.stack.secrets import looks_secret
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.secret_values import HIDDEN, bare

_REPORTS = re.compile(r"report_hyperparameter_tuning_metric|hyperparameter_metric_tag|^\s*METRIC\s*=")
_ASSIGNED = re.compile(r"""(?<![\w-])([\w-]{1,60})["']?\]?\s*[:=]\s*(?:["']([^"']+)|([\w./+-]{8,})\s*$)""")
_LONGEST = 100
_WIDEST = 4096
_MOST_READ = 200_000
"""Characters of a file whose lines are compared."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_OWN_SCOPES = (ast.Lambda, ast.NamedExpr)


def same_program(file: str, before: str, after: str) -> bool:
    """Tell whether a file has the same code, with other comments, in another form, or with other names of a
    comprehension's variables. It is parsed as bytes, since a first line may declare another coding."""
    try:
        return file.endswith(".py") and _form(before) == _form(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _form(text: str) -> str:
    tree, numbers = _parsed(text), count()
    for node in ast.walk(tree):
        if isinstance(node, _COMPREHENSIONS):
            _rename(node, numbers)
    return ast.dump(tree)


@lru_cache(maxsize=2)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text.encode())


def _rename(node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, numbers: Iterator[int]) -> None:
    """Give a comprehension's variables names by their order. They are seen nowhere else, except in its first iterable,
    which is another scope, and unless a scope within has names of its own."""
    if any(isinstance(inner, _OWN_SCOPES) for inner in ast.walk(node)):
        return
    targets = {name.id: "" for each in node.generators for name in _names(each.target)}
    if targets.keys() & {name.id for name in _names(node.generators[0].iter)}:
        return
    # A character that no name has.
    targets = {name: f"{next(numbers)}." for name in targets}
    for name in _names(node):
        name.id = targets.get(name.id, name.id)


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))


def edited_lines(file: str, before: str, after: str) -> tuple[Edit, ...]:
    """Return the edited places of a file, each by the number of its first line; none of a file that no person reads."""
    if max(len(before), len(after)) > _MOST_READ:
        return ()
    # Needed only for edited code: importing it costs time.
    from difflib import SequenceMatcher

    old, new = before.splitlines(), after.splitlines()
    blocks = SequenceMatcher(None, old, new).get_opcodes()
    return tuple(
        Edit(f"{file}:{start + 1}", _lines(old[first:last]), _lines(new[start:end]))
        for what, first, last, start, end in blocks
        if what != "equal" and any(line.strip() for line in (*old[first:last], *new[start:end]))
    )


def _lines(lines: list[str]) -> str:
    pairs = (match for line in lines for match in _ASSIGNED.finditer(line[:_WIDEST]))
    if any(looks_secret(match[2] or match[3], match[1]) for match in pairs):
        return HIDDEN
    return bare(" ⏎ ".join(line.strip() for line in lines), longest=_LONGEST)


def newly_asked(before: str, after: str) -> tuple[str, ...]:
    """Return what code asks for that it did not: `--trees` for an argument that it requires, with its other spellings
    after `/`, and `EVERY=20` for a variable with the value that counts where nothing sets it."""
    known = set(_asked(before))
    return tuple(ask for ask in dict.fromkeys(_asked(after)) if ask not in known)


def _asked(text: str) -> Iterator[str]:
    try:
        nodes = [*ast.walk(_parsed(text))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    # Arguments of a subcommand are asked of nobody else.
    commands = set[str]()
    for node in nodes:
        made = ast.unparse(node.value) if isinstance(node, ast.Assign) else ""
        if isinstance(node, ast.Assign) and (".add_parser(" in made or made.partition(".")[0] in commands):
            commands |= {ast.unparse(target) for target in node.targets}
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        name, texts = ast.unparse(call.func), [str(arg.value) for arg in call.args if isinstance(arg, ast.Constant)]
        requires = any(key.arg == "required" and ast.unparse(key.value) == "True" for key in call.keywords)
        of = name.rpartition(".")[0]
        if name.endswith("add_argument") and requires and not (of in commands or ".add_parser(" in of):
            yield from filter(None, ["/".join(text for text in texts if text.startswith("--"))])
        elif name.endswith(("environ.get", "getenv")) and len(texts) == 2:
            yield f"{texts[0]}={bare(texts[1], texts[0])}"


def reported(file: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines that report a metric, by their places."""
    for number, line in enumerate(text.splitlines(), 1):
        if _REPORTS.search(line):
            yield f"{file}:{number}", f"`{bare(line.strip(), longest=_LONGEST)}`"
