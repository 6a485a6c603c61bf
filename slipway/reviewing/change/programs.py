"""Code on two sides, read as text: whether a file is the same program, its edited lines, and the lines that report
metrics. Pure; nothing here judges code."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from types import CodeType
from warnings import catch_warnings

from slipway.authoring.stack.secrets import looks_secret
from slipway.reviewing.change.edits import Edit, JobFile, Sign
from slipway.reviewing.change.faults import faults
from slipway.reviewing.change.plain import UNREADABLE, plain
from slipway.reviewing.change.secret_values import HIDDEN, bare

_REPORTS = re.compile(r"report_hyperparameter_tuning_metric|hyperparameter_metric_tag|^\s*METRIC\s*=")
_KEEPS = re.compile(r"SLIPWAY_(OUTPUT|CHECKPOINTS)|AIP_(CHECKPOINT|MODEL)_DIR|--output|\.output\b|gs://|/gcs/|/mnt/")
_EXPORTS = re.compile(r"""AIP_MODEL_DIR|["'/]model(/|["'])""")
_FLAG, _MADE_UP = re.compile(r"""["'](--[\w-]+)"""), re.compile(r"""["']--["'{%]""")
_IMPORTS = re.compile(r"^[ \t]*(?:from[ \t]+(\w[\w.]*)[ \t]+import\b|import[ \t]+(\w[\w., \t]*))", re.MULTILINE)
_ASSIGNED = re.compile(r"""(?<![\w-])([\w-]{1,60})["']?\]?\s*[:=]\s*(?:["']([^"']+)|([\w./+-]{8,})\s*$)""")
_LONGEST = 100
_WIDEST = 4096
_MOST_READ = 200_000
"""Characters of a file whose lines are compared."""
_HAS_BODY = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_READS_NAMES = frozenset({"locals", "vars", "eval", "exec", "dir", "globals"})
SIGNS: Mapping[str, list[dict[str, str]]] = json.loads(Path(__file__).with_name("signs.json").read_text("utf-8"))
"""The known looks of edited lines, by group, the gravest first."""


def same_program(file: str, before: str, after: str) -> bool:
    """Tell whether a file has the same code, with other comments, docstrings or annotations, in another form, or with
    other names of functions' own variables. It is parsed as bytes, since a first line may declare another coding."""
    try:
        return file.endswith(".py") and _compiled(before) == _compiled(after)
    except UNREADABLE:
        return False


def _compiled(text: str) -> tuple[object, ...]:
    """Return the code as the interpreter would run it. Nothing runs it here."""
    tree = ast.parse(plain(text).encode())
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, _HAS_BODY):
            node.body = [each for each in node.body if not isinstance(each, ast.Pass)] or [ast.Pass()]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "print" and not node.keywords:
            spaced = [part for arg in node.args for part in (ast.Constant(" "), *_printed(arg))]
            if not any(isinstance(arg, ast.Starred) for arg in node.args):
                node.args = [ast.JoinedStr(spaced[1:])]
    body = [node for node in tree.body if not _only_types(node, used)]
    # Imports beside each other are made in any order.
    runs = groupby(body, lambda node: isinstance(node, ast.Import | ast.ImportFrom))
    tree.body = [node for imports, run in runs for node in (sorted(run, key=ast.dump) if imports else run)]
    with catch_warnings(action="ignore"):
        return _parts(compile(ast.unparse(tree), "", "exec", dont_inherit=True))


def _parts(code: CodeType) -> tuple[object, ...]:
    """Return what a piece of compiled code does. It finds its own variables by their places, unless it asks for their
    names; callers may name its arguments."""
    arguments = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames if _READS_NAMES & {*code.co_names} else code.co_varnames[:arguments]
    constants = tuple(_parts(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts)
    numbers = arguments, code.co_posonlyargcount, code.co_flags, len(code.co_freevars)
    return code.co_name, code.co_code, code.co_exceptiontable, code.co_names, names, numbers, constants


def _only_types(node: ast.stmt, used: Collection[str]) -> bool:
    """Tell whether it imports names for annotations alone."""
    if not isinstance(node, ast.ImportFrom) or node.module not in ("typing", "collections.abc"):
        return False
    return not any(alias.name == "*" or (alias.asname or alias.name) in used for alias in node.names)


def _printed(part: ast.expr) -> list[ast.expr]:
    """Return an argument of `print` as parts of a text, whether it stands alone or in one."""
    if isinstance(part, ast.JoinedStr):
        return [each for value in part.values for each in _printed(value)]
    if isinstance(part, ast.FormattedValue):
        return [part] if part.conversion != -1 or part.format_spec else _printed(part.value)
    return [ast.Constant(str(part.value)) if isinstance(part, ast.Constant) else ast.FormattedValue(part, -1)]


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


def signs(sides: Mapping[str, tuple[str, str]]) -> Mapping[str, tuple[Sign, ...]]:
    """Return the signs of edited files, by the folder of a job, and by `deploys` for what deploys or judges. A line
    that only moves, be it to another file of its group, is none; nor is a docstring, or an annotation."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for file, texts in sides.items():
        group = "/".join(file.split("/")[:2]) if file.startswith("jobs/") else "deploys"
        try:
            both = (plain(texts[0]), plain(texts[1])) if file.endswith(".py") else texts
        except UNREADABLE:
            both = texts
        groups.setdefault(group, []).append(both)
    return {
        group: signs_of(group.partition("/")[0], *("\n".join(side) for side in zip(*texts, strict=True)))
        for group, texts in groups.items()
    }


def signs_of(group: str, before: str, after: str) -> tuple[Sign, ...]:
    """Return the signs of lines that go, come, or do either, each line once; a comment is none."""
    both = [[line.strip()[:_WIDEST] for line in text[:_MOST_READ].splitlines()] for text in (before, after)]
    others = map(frozenset, both[::-1])
    gone, came = ([line for line in side if line not in other] for side, other in zip(both, others, strict=True))
    # A line in another one's place is told with it, by the parts that differ.
    beside = dict(zip(came + gone, gone + came, strict=True)) if len(gone) == len(came) else {}
    found: dict[str, Sign] = {}
    for place, row in enumerate(SIGNS[group]):
        pattern = re.compile(row.get("goes") or row.get("comes") or row["moves"], re.IGNORECASE)
        old, new = (
            {
                m[0].casefold(): line
                for line in side
                if line[:1] != "#" and (m := pattern.search(_differing(line, beside.get(line, ""))))
            }
            for side in (gone, came)
        )
        told = old | new if "moves" in row else old if "goes" in row else new
        known = new if "goes" in row else old if "comes" in row else {}
        if line := next((line for text, line in told.items() if text not in known and line not in found), ""):
            kept = new or any(_KEEPS.search(other) for other in came)
            loses = "loses" in row and not kept and bool(re.search(row["loses"], line, re.IGNORECASE))
            sign = Sign(place, _so(row, beside.get(line, ""), line), row.get("instead", ""), _lines([line]), loses)
            found |= dict.fromkeys((line, beside.get(line, "")), sign)
    return tuple(dict.fromkeys(found.values()))


def _so(row: Mapping[str, str], before: str, after: str) -> str:
    """Return how a line may end: where it has one number on each side, as the row says of one that rises or falls."""
    both = [re.findall(r"(?<![\w.])\d[\d_]*(?![\w.])", side.partition("#")[0]) for side in (before, after)]
    old, new = (int(numbers[0]) if len(numbers) == 1 else 0 for numbers in both)
    way = "rises" if new > old > 0 else "falls" if old > new > 0 else "so"
    return row[way].format(old=old, new=new, times=new / (old or 1)) if way in row else row["so"]


def _differing(line: str, other: str) -> str:
    parts = [list(_arguments(side)) for side in (line, other)]
    own, theirs = ([part for part in side if part not in beside] for side, beside in (parts, parts[::-1]))
    return ", ".join(own) if other and (own or theirs) else line


def _arguments(line: str) -> Iterator[str]:
    """Yield the parts of a line between commas, each with the last name before it."""
    name = ""
    for part in line.split(","):
        name = part.rpartition("=")[0] or name
        yield f"{name}= {part}".strip(" =()[]{}")


def _lines(lines: list[str]) -> str:
    pairs = (match for line in lines for match in _ASSIGNED.finditer(line[:_WIDEST]))
    if any(looks_secret(match[2] or match[3], match[1]) for match in pairs):
        return HIDDEN
    return bare(" ⏎ ".join(line.strip() for line in lines), longest=_LONGEST)


def newly_asked(before: str, after: str) -> tuple[str, ...]:
    """Return what code asks for that it did not: `--trees` for an argument that it requires, with its other spellings
    after `/`, `--trees=9` and `EVERY=20` for an argument and a variable with the value that counts where nothing sets
    it, `EVERY=` for one that it can't do without, `import wandb`, `!--trees` for an argument that
    it lost, `__main__` where it starts by itself, and its new faults."""
    old, new = ([*dict.fromkeys(_asked(text))] for text in (before, after))
    flags, left = (tuple(flag for ask in side for flag in re.findall(r"--[\w-]+", ask)) for side in (old, new))
    # Of an argument the beginning will do. Where none is left they are read elsewhere.
    lost = [flag for flag in flags if left and not any(each.startswith(flag) for each in left)]
    kept = [ask for ask in new if ask not in old and ask[-1] != "?"]
    return (
        *kept,
        *(f"!{flag}" for flag in dict.fromkeys(lost) if "parse_known" not in after),
        *(["__main__"] if "__main__" in after else []),
        *faults(before, after),
    )


def _asked(text: str) -> Iterator[str]:
    try:
        nodes = [*ast.walk(ast.parse(text.encode()))]
    except UNREADABLE:
        return
    # Arguments of a subcommand are asked of nobody else.
    commands = set[str]()
    for node in nodes:
        made = ast.unparse(node.value) if isinstance(node, ast.Assign) else ""
        if isinstance(node, ast.Assign) and (".add_parser(" in made or made.partition(".")[0] in commands):
            commands |= {ast.unparse(target) for target in node.targets}
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            read = re.fullmatch(r"(?:os\.)?environ\['(\w+)'\]", ast.unparse(node))
            yield from [f"{read[1]}="] if read else []
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            roots = (name.partition(".")[0] for name in names if not getattr(node, "level", 0))
            yield from (f"import {root}" for root in roots if root not in sys.stdlib_module_names)
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        name, texts = ast.unparse(call.func), [str(arg.value) for arg in call.args if isinstance(arg, ast.Constant)]
        given = {key.arg: ast.unparse(key.value) for key in call.keywords}
        of, flags = name.rpartition(".")[0], "/".join(text for text in texts if text.startswith("--"))
        if name.endswith("add_argument") and flags and not (of in commands or ".add_parser(" in of):
            default = f"{flags}={given['default'].strip(chr(39))}" if "default" in given else f"{flags}?"
            yield flags if given.get("required") == "True" else default
        elif name.endswith(("environ.get", "getenv")) and len(texts) == 2:
            yield f"{texts[0]}={bare(texts[1], texts[0])}"


def job_file(file: str, text: str) -> JobFile:
    """Return what a file of a job's code names. It is not parsed, as most files of a repository are not edited."""
    lines = [line[:_WIDEST] for line in text[:_MOST_READ].splitlines()]
    reads_all = "parse_args(" in text and "parse_known" not in text and not _MADE_UP.search(text)
    return JobFile(
        reports={
            f"{file}:{number}": f"`{bare(line.strip(), longest=_LONGEST)}`"
            for number, line in enumerate(lines, 1)
            if _REPORTS.search(line)
        },
        keeps=any(_KEEPS.search(line.partition("#")[0]) for line in lines),
        exports=any(_EXPORTS.search(line.partition("#")[0]) for line in lines),
        flags=frozenset(_FLAG.findall(text) if reads_all else ()),
        imports=frozenset(
            re.split(r"\W", name.strip(), maxsplit=1)[0]
            for match in _IMPORTS.finditer(text[:_MOST_READ])
            for name in (match[1] or match[2]).split(",")
        ),
    )
