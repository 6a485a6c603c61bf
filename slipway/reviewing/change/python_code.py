"""Python code read as text: its arguments, imports, environment variables and places of checkpoints. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from slipway.reviewing.change.lines import MOST_READ, PARSE_ERRORS

_OWN = re.compile(r"SLIPWAY_(OUTPUT|CHECKPOINTS)|AIP_(CHECKPOINT|MODEL)_DIR|--output|\.output\b")
_PLACE = re.compile(rf"{_OWN.pattern}|gs://|/gcs/|/mnt/")
_SAVES = re.compile(
    r"\bos\.(replace|rename)\(|\bshutil\.(move|copy\w*)\(|\.(replace|rename)\([^,()=]+\)|\bsave(\w*\(|_\w+)"
    r"|\b(pickle|joblib)\.dump\(|Checkpoint\w*\("
)
_RESTORES = re.compile(r"(\b|_)(load|restore|resume)(\w*\(|_\w+)|\b(read_text|read_bytes|exists|iterdir|glob)\(")
_CHECKPOINT = re.compile(rf"{_OWN.pattern}|(?i:checkpoint|ckpt)|\bOUTPUT\b|\boutput\b")
_NAME_IN_PATH = re.compile(r"""(?:/|\bjoin\([^()]*,|\bPath\([^()]*,)\s*f?["']([\w.{}-]+)["']""")
_FLAG = re.compile(r"""["'](--[\w-]+)""")
_COMPUTED = re.compile(r"""["']--["'{%]|\bparents=""")
_OF_LIST = re.compile(r"""for (\w+) in [(\[]([^()\[\]]*)[)\]]:\s+\w+\.add_argument\(f["']--\{\1\}""")
"""Arguments that have the names of a list."""
_QUOTED = re.compile(r"""["']([\w-]+)["']""")
_PARSER_PASSED = re.compile(r"\b(\w+)\(\w*parser[,)]")
_READ = re.compile(r"""\benviron\[\s*["'](\w+)["']\s*\](?!\s*=[^=])""")
_MENTIONED = re.compile(r"""\bSLIPWAY_INPUT_\w+""")
_ARGV = re.compile(r"\bargv\[(\d+)\]")
_WIDEST = 4096


@dataclass(frozen=True)
class Argument:
    """An argument that code declares."""

    names: tuple[str, ...]
    is_required: bool = False
    #: The literal choices; none if it takes any value, or numbers that can be written in several ways.
    choices: tuple[str, ...] = ()
    is_whole: bool = False

    def rejects(self, value: str) -> bool:
        if self.choices and value not in self.choices:
            return True
        return self.is_whole and re.fullmatch(r"\s*[+-]?\d[\d_]*\s*", value) is None


@dataclass(frozen=True)
class PythonFile:
    """A file of a job's code."""

    #: Such as `jobs/lora/task.py`.
    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed file; empty if it does not parse or is too long."""
        try:
            return ast.parse(self.text.encode() if len(self.text) <= MOST_READ else b"")
        except PARSE_ERRORS:
            return ast.parse("")

    @cached_property
    def lines(self) -> list[str]:
        """The lines without comments."""
        return [line[:_WIDEST].partition("#")[0] for line in self.text[:MOST_READ].splitlines()]

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self.text[:MOST_READ]))

    def has_line(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.search(line) for line in self.lines)

    @property
    def has_place(self) -> bool:
        """Return whether a line names a place that outlives the machine."""
        return self.has_line(_PLACE)

    @property
    def saves(self) -> bool:
        return self.has_line(_SAVES)

    @property
    def restores(self) -> bool:
        return self.has_line(_RESTORES)

    @cached_property
    def checkpoint_names(self) -> tuple[str, ...]:
        """Names of files and folders on lines about checkpoints and outputs."""
        found: list[str] = []
        for line in self.lines:
            if _CHECKPOINT.search(line):
                found += _NAME_IN_PATH.findall(line)
        return tuple(dict.fromkeys(found))

    @cached_property
    def required_variables(self) -> frozenset[str]:
        """Environment variables without which it fails: `os.environ["NAME"]`."""
        return frozenset(name for line in self.lines for name in _READ.findall(line))

    @cached_property
    def inputs(self) -> frozenset[str]:
        return frozenset(name for line in self.lines for name in _MENTIONED.findall(line))

    @cached_property
    def positions(self) -> int:
        """The number of arguments that it needs by their place: `sys.argv[2]` needs two."""
        found = [int(number) for line in self.lines for number in _ARGV.findall(line)]
        return max(found, default=0)

    @cached_property
    def flags(self) -> frozenset[str]:
        """The flags that it knows; none if it reads no arguments, or accepts any."""
        text = self.text[:MOST_READ]
        if not self._is_strict(text):
            return frozenset()
        listed = [name for _, names in _OF_LIST.findall(text) for name in _QUOTED.findall(names)]
        return frozenset({*_FLAG.findall(text), *[f"--{name}" for name in listed]})

    def _is_strict(self, text: str) -> bool:
        if "click.option(" in text:
            return "ignore_unknown_options" not in text and "allow_extra_args" not in text
        if "parse_args(" not in text or "parse_known" in text:
            return False
        if _COMPUTED.search(_OF_LIST.sub("", text)):
            return False
        return all(f"def {name}(" in text for name in _PARSER_PASSED.findall(text))

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of argparse and click, unless the file has subcommands."""
        if "add_subparsers" in self.text or ".group(" in self.text:
            return ()
        found = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in ("add_argument", "option"):
                    found.append(_argument(node))
        return tuple(argument for argument in found if argument.names)

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """Dotted names that it imports whenever it is loaded: `common.data`, `enum.StrEnum`."""
        own = self.path.split("/")[1:-1]
        found: list[str] = []
        for node in self.tree.body:
            if isinstance(node, ast.Import):
                found += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                start = own[: len(own) + 1 - node.level] if node.level else []
                module = [node.module] if node.module else []
                found += [".".join((*start, *module, alias.name)) for alias in node.names]
        return tuple(found)

    def syntax_problem(self, minor: int) -> str:
        """Return why Python 3.`minor` can't parse the file: `line 7: invalid syntax`; empty if it can, or if that is not
        known."""
        try:
            ast.parse(self.text[:MOST_READ], feature_version=(3, minor))
        except SyntaxError as error:
            return f"line {error.lineno}: {error.msg}" if len(self.text) <= MOST_READ else ""
        except PARSE_ERRORS:
            return ""
        return ""


@cache
def python_file(path: str, text: str) -> PythonFile:
    return PythonFile(path, text)


def _argument(call: ast.Call) -> Argument:
    given = {word.arg: word.value for word in call.keywords}
    texts = [text for node in call.args for text in _literals(node)]
    names = tuple(text for text in texts if text.startswith("-"))
    is_required = "True" in _literals(given.get("required"))
    # A type of its own converts the text, and an action or several values read it differently.
    type_name = getattr(given["type"], "id", "") if "type" in given else "str"
    if type_name not in ("int", "str") or {"action", "nargs", "multiple", None} & given.keys():
        return Argument(names, is_required)
    return Argument(names, is_required, _literals(given.get("choices")), type_name == "int")


def _literals(node: ast.expr | None) -> tuple[str, ...]:
    """Return the text of a literal, or the texts of a list; none of another expression."""
    if node is None:
        return ()
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return ()
    listed = value if isinstance(value, list | tuple | set) else (value,)
    return tuple(str(item) for item in listed if item is not None)


