"""Python code read as text: its arguments, imports, environment variables and places of checkpoints. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from slipway.reviewing.change.files import MOST_READ
from slipway.reviewing.change.lines import PARSE_ERRORS

_OWN = r"SLIPWAY_(?:OUTPUT|CHECKPOINTS)|AIP_(?:CHECKPOINT|MODEL)_DIR|--output|\.output\b"
PLACE = re.compile(rf"{_OWN}|gs://|/gcs/|/mnt/")
"""A place that outlives a machine."""
SAVES = re.compile(
    r"\bos\.(replace|rename)\(|\bshutil\.(move|copy\w*)\(|\.(replace|rename)\([^,()=\n]+\)|\bsave(\w*\(|_\w+)"
    r"|\b(pickle|joblib)\.dump\(|Checkpoint\w*\("
)
RESTORES = re.compile(
    r"\b(torch|pickle|joblib|np|numpy)\.load\(|\bload_(state|model|checkpoint|weights)|from_checkpoint|latest_checkpoint"
    r"|\b(restore|resume)|\bread_(text|bytes)\("
)
_CHECKPOINT_LINE = re.compile(rf"^.*(?:{_OWN}|(?i:checkpoint|ckpt)|\b(?i:output)\b).*$", re.MULTILINE)
_NAME_IN_PATH = re.compile(r"""(?:/|\bjoin\([^()]*,|\bPath\([^()]*,)\s*f?["']([\w.{}-]+)["']""")
_FLAG = re.compile(r"""["'](--[\w-]+)""")
_COMPUTED = re.compile(r"""["']--["'{%]|\bparents=|parse_known|ignore_unknown_options""")
_OF_LIST = re.compile(r"""for (\w+) in [(\[]([^()\[\]]*)[)\]]:\s+\w+\.add_argument\(f["']--\{\1\}""")
"""Arguments that have the names of a list."""
_QUOTED = re.compile(r"""["']([\w-]+)["']""")
_PARSER_PASSED = re.compile(r"\b(\w+)\(\w*parser[,)]")
_VARIABLE = re.compile(r"""\benviron\[\s*["'](\w+)["']\s*\](?!\s*=[^=])|\b(SLIPWAY_INPUT_\w+)""")
_ARGV = re.compile(r"\bargv\[(\d+)\]")
_WHOLE = re.compile(r"\s*[+-]?\d[\d_]*\s*")
_WIDEST = 4096


@dataclass(frozen=True)
class Argument:
    """An argument that code declares with argparse or click."""

    names: tuple[str, ...]
    is_required: bool = False
    #: The literal choices; none if it takes any value.
    choices: tuple[str, ...] = ()
    is_whole: bool = False

    def rejects(self, value: str) -> bool:
        is_wrong = self.is_whole and not _WHOLE.fullmatch(value)
        return is_wrong or value not in (self.choices or (value,))

    def is_missing(self, flags: Collection[str]) -> bool:
        return self.is_required and not any(name.startswith(tuple(flags)) for name in self.names)


@dataclass(frozen=True)
class PythonFile:
    """A file of a job's code, such as `jobs/lora/task.py`."""

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
    def code(self) -> str:
        """The text without comments."""
        lines = self.text[:MOST_READ].splitlines()
        return "\n".join(line[:_WIDEST].partition("#")[0] for line in lines)

    @cached_property
    def positions(self) -> int:
        """The number of arguments that it reads by their place: two for `sys.argv[2]`."""
        return max(map(int, _ARGV.findall(self.code)), default=0)

    @cached_property
    def flags(self) -> frozenset[str]:
        """The flags that it knows; none if it reads no arguments or accepts any."""
        listed = [name for _, names in _OF_LIST.findall(self.code) for name in _QUOTED.findall(names)]
        reads = "parse_args(" in self.code or "click.option(" in self.code
        is_open = _COMPUTED.search(_OF_LIST.sub("", self.code)) is not None
        helpers = _PARSER_PASSED.findall(self.code)
        if not reads or is_open or not all(f"def {name}(" in self.code for name in helpers):
            return frozenset()
        return frozenset((*_FLAG.findall(self.code), *[f"--{name}" for name in listed]))

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """Its declared arguments; none if it has subcommands."""
        if re.search(r"add_subparsers|\.group\(", self.code):
            return ()
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        found = [_argument(call) for call in calls if getattr(call.func, "attr", "") in ("add_argument", "option")]
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
                module = filter(None, [*start, node.module])
                before = ".".join(module)
                found += [f"{before}.{alias.name}".lstrip(".").removesuffix(".*") for alias in node.names]
        return tuple(found)

    def syntax_problem(self, minor: int) -> str:
        """Return why Python 3.`minor` can't parse the file: `line 7: invalid syntax`; empty if it can."""
        try:
            ast.parse(self.text if len(self.text) <= MOST_READ else "", feature_version=(3, minor))
        except SyntaxError as error:
            return f"line {error.lineno}: {error.msg}"
        except PARSE_ERRORS:
            return ""
        return ""


@dataclass(frozen=True)
class JobCode:
    """The Python files of a job's folders, by path."""

    files: Mapping[str, PythonFile]

    @classmethod
    def within(cls, texts: Mapping[str, str], folders: tuple[str, ...]) -> JobCode:
        own = [path for path in texts if path.startswith(folders) and path.endswith(".py")]
        return cls({path: PythonFile(path, texts[path]) for path in own})

    @cached_property
    def text(self) -> str:
        return "\n".join(file.code for file in self.files.values())

    @cached_property
    def flags(self) -> frozenset[str]:
        return frozenset[str]().union(*(file.flags for file in self.files.values()))

    @cached_property
    def variables(self) -> frozenset[str]:
        """Environment variables without which it fails, `os.environ["NAME"]`, and all inputs that it names."""
        return frozenset(name or given for name, given in _VARIABLE.findall(self.text))

    @cached_property
    def checkpoint_names(self) -> frozenset[str]:
        """Names of files and folders on lines about checkpoints and outputs."""
        return frozenset(_NAME_IN_PATH.findall("\n".join(_CHECKPOINT_LINE.findall(self.text))))

    @cached_property
    def modules(self) -> dict[str, PythonFile]:
        """Its files by the dotted names of their modules and packages."""
        names = {path: path[len("jobs/") : -len(".py")].removesuffix("/__init__") for path in self.files}
        return {name.replace("/", "."): self.files[path] for path, name in names.items()}


def _argument(call: ast.Call) -> Argument:
    given = {word.arg: word.value for word in call.keywords}
    texts = [text for node in call.args for text in _literals(node)]
    names = tuple(text for text in texts if text.startswith("-"))
    is_required = "True" in _literals(given.get("required"))
    # A type of its own converts the text, and an action or several values read it differently.
    type_name = getattr(given.get("type"), "id", "str" if "type" not in given else "")
    if type_name not in ("int", "str") or {"action", "nargs", "multiple", "is_flag", None} & given.keys():
        return Argument(names, is_required)
    return Argument(names, is_required, _literals(given.get("choices")), type_name == "int")


def _literals(node: ast.expr | None) -> tuple[str, ...]:
    """Return the text of a literal, or the texts of a list; none of another expression."""
    try:
        value = ast.literal_eval(node) if node else None
    except (ValueError, TypeError, RecursionError):
        return ()
    listed = value if isinstance(value, list | tuple | set) else (value,)
    return tuple(str(item) for item in listed if item is not None)
