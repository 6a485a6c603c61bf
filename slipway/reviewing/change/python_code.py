"""Python code of a job read as text: its arguments, imports, variables and places of checkpoints. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from slipway.reviewing.change.files import MOST_READ
from slipway.reviewing.change.lines import PARSE_ERRORS

_BY_PLATFORM = r"SLIPWAY_(?:OUTPUT|CHECKPOINTS)|AIP_(?:CHECKPOINT|MODEL)_DIR"
_OWN = rf"{_BY_PLATFORM}|--output|\.output\b"
PLACE_OF_PLATFORM = re.compile(_BY_PLATFORM)
OWN_PLACE = re.compile(_OWN)
PLACE = re.compile(rf"{_OWN}|gs://|/gcs/|/mnt/")
"""A place that outlives a machine."""
LOCAL_PLACE = re.compile(r"""["'](/tmp|/var/tmp|/root|/home)\b|\btempfile\.""")
SAVES = re.compile(
    r"\bos\.(replace|rename)\(|\bshutil\.(move|copy\w*)\(|\.(replace|rename)\([^,()=\n]+\)|\bsave(\w*\(|_\w+)"
    r"|\b(pickle|joblib)\.dump\(|Checkpoint\w*\("
)
RESTORES = re.compile(
    r"\b(torch|pickle|joblib|np|numpy)\.load\(|\bload_(state|model|checkpoint|weights)|from_checkpoint|latest_checkpoint"
    r"|\b(restore|resume)|\bread_(text|bytes)\("
)
OUTPUT_LINE = re.compile(rf"^.*(?:{_OWN}|(?i:checkpoint|ckpt)|\b(?i:output)\b).*$", re.MULTILINE)
CHECKPOINT_LINE = re.compile(r"(?i)^.*(?:checkpoint|ckpt).*$", re.MULTILINE)
_NAME_IN_PATH = re.compile(r"""(?:/|\bjoin\([^()]*,|\bPath\([^()]*,)\s*f?["']([\w.{}-]+)["']""")
_FLAG = re.compile(r"""["'](--[\w-]+)""")
_OPEN = re.compile(r"""["']--["'{%]|\bparents=|parse_known|ignore_unknown_options|\b(?!def)\w+\.\w+\(\w*parser[,)]""")
"""Signs of arguments that have computed names, or that other packages declare."""
_OF_LIST = re.compile(r"""for (\w+) in [(\[]([^()\[\]]*)[)\]]:\s+\w+\.add_argument\(f["']--\{\1\}""")
"""Arguments that have the names of a list."""
_QUOTED = re.compile(r"""["']([\w-]+)["']""")
_VARIABLE = re.compile(r"""\benviron\[\s*["'](\w+)["']\s*\](?!\s*=[^=])|\b(SLIPWAY_INPUT_\w+)""")
_COMPUTED_METRIC = re.compile(r"""metric_tag\s*=\s*(?!["'])|\.items\(\)""")
_UNKNOWN = re.compile(r"|None|.*\$\{.*", re.DOTALL)
_ANY = re.compile(r".*", re.DOTALL)
_WHOLE = re.compile(r"\s*[+-]?\d[\d_]*\s*")


@dataclass(frozen=True)
class Argument:
    """An argument that code declares with argparse or click."""

    names: tuple[str, ...]
    is_required: bool
    #: The literal choices; none if it takes any value.
    choices: tuple[str, ...] = ()
    is_whole: bool = False

    def accepts(self, value: str) -> bool:
        """Return whether a value is accepted; a placeholder and a missing value are."""
        if _UNKNOWN.fullmatch(value):
            return True
        pattern = _WHOLE if self.is_whole else _ANY
        return value in (self.choices or (value,)) and pattern.fullmatch(value) is not None


@dataclass(frozen=True)
class JobCode:
    """The Python files of a job's folders, by dotted names of modules and packages."""

    files: Mapping[str, str]
    #: The packages that the folders are: `lora` for `jobs/lora/`.
    packages: frozenset[str] = frozenset()

    @classmethod
    def within(cls, texts: Mapping[str, str], folders: tuple[str, ...]) -> JobCode:
        """Return the code of folders such as `jobs/lora/`."""
        files = {}
        for path, text in texts.items():
            if path.startswith(folders) and path.endswith(".py") and len(text) <= MOST_READ:
                files[module_of(path)] = text
        return cls(files, frozenset(module_of(folder.rstrip("/")) for folder in folders))

    @cached_property
    def text(self) -> str:
        """All code without comments."""
        return re.sub(r"#[^\n]*", "", "\n".join(self.files.values()))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(re.findall(r"[\w.-]+", self.text))

    @cached_property
    def known(self) -> frozenset[str]:
        """The modules, and the packages that have some."""
        return frozenset({*self.files, *[name.rpartition(".")[0] for name in self.files]})

    def is_own(self, name: str) -> bool:
        """Return whether a dotted name is of one of the folders."""
        return name.partition(".")[0] in self.packages

    @cached_property
    def imported(self) -> frozenset[str]:
        """The first names of all imports: `torch`."""
        imports = chain.from_iterable(map(self.imports, self.files))
        return frozenset(name.partition(".")[0] for name in imports)

    @property
    def has_computed_metrics(self) -> bool:
        """Return whether it may report metrics whose names are no literals."""
        return _COMPUTED_METRIC.search(self.text) is not None

    def lines(self, pattern: re.Pattern[str]) -> frozenset[str]:
        """Return the lines that have a match."""
        return frozenset(map(str.strip, filter(pattern.search, self.text.splitlines())))

    @cached_property
    def flags(self) -> frozenset[str]:
        """The flags that it knows; none if it reads no arguments or accepts any."""
        if _OPEN.search(_OF_LIST.sub("", self.text)) or not re.search(r"\bparse_args\(|\bclick\.option\(", self.text):
            return frozenset()
        listed = " ".join(names for _, names in _OF_LIST.findall(self.text))
        flags = {*_FLAG.findall(self.text), *map("--{}".format, _QUOTED.findall(listed))}
        return frozenset({*flags, *[flag.replace("--", "--no-", 1) for flag in flags]})

    @cached_property
    def variables(self) -> frozenset[str]:
        """Environment variables without which it fails, `os.environ["NAME"]`, and all inputs that it names."""
        return frozenset(map("".join, _VARIABLE.findall(self.text)))

    def names(self, lines: re.Pattern[str]) -> frozenset[str]:
        """Return names of files and folders on some lines."""
        return frozenset(_NAME_IN_PATH.findall("\n".join(lines.findall(self.text))))

    def positions(self, module: str) -> int:
        """Return the number of arguments that a module reads by their place: two for `sys.argv[2]`."""
        return max(map(int, re.findall(r"\bargv\[(\d+)\]", self.files.get(module, ""))), default=0)

    def arguments(self, module: str) -> tuple[Argument, ...]:
        """Return the arguments that a module declares; none if it has subcommands."""
        text = self.files.get(module, "")
        if re.search(r"add_subparsers|\.group\(", text):
            return ()
        calls = [node for node in ast.walk(_parsed(text)) if isinstance(node, ast.Call)]
        return tuple(_argument(call) for call in calls if _called(call) in ("add_argument", "option"))

    def imports(self, module: str) -> list[str]:
        """Return dotted names that a module imports whenever it is loaded: `common.data`, `enum.StrEnum`."""
        found: list[str] = []
        for node in _parsed(self.files.get(module, "")).body:
            if isinstance(node, ast.ImportFrom):
                start = self._origin(module, node)
                found += [f"{start}.{alias.name}".lstrip(".").removesuffix(".*") for alias in node.names]
            elif isinstance(node, ast.Import):
                found += [alias.name for alias in node.names]
        return found

    def _origin(self, module: str, node: ast.ImportFrom) -> str:
        """Return the dotted name from which a module imports: `lora.data` for `from .data import x` in `lora.task`."""
        if not node.level:
            return node.module or ""
        is_package = any(name.startswith(f"{module}.") for name in self.files)
        parents = module.split(".")
        own = parents if is_package else parents[:-1]
        start = own[: len(own) + 1 - node.level]
        return ".".join(filter(None, (*start, node.module)))

    def syntax_problem(self, module: str, minor: int) -> str:
        """Return why Python 3.`minor` can't parse a module: `near line 7: invalid syntax`; empty if it can."""
        try:
            ast.parse(self.files[module], feature_version=(3, minor))
        except SyntaxError as error:
            return f"near line {error.lineno}: {error.msg}"
        except PARSE_ERRORS:
            return ""
        return ""


def module_of(path: str) -> str:
    """Return `lora.task` for `jobs/lora/task.py`."""
    return path.removeprefix("jobs/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text.encode())
    except PARSE_ERRORS:
        return ast.parse("")


def _called(call: ast.Call) -> str:
    return getattr(call.func, "attr", "")


def _argument(call: ast.Call) -> Argument:
    given = {word.arg: word.value for word in call.keywords}
    texts = [text for node in call.args for text in _literals(node)]
    names = tuple(filter(re.compile("-").match, texts))
    type_name = getattr(given.get("type", ast.Name("str")), "id", "")
    # A type of its own converts the text, and an action or several values read it differently.
    is_plain = type_name in ("int", "str") and given.keys().isdisjoint({"action", "nargs", "multiple", "is_flag", None})
    choices = _literals(given.get("choices")) if is_plain else ()
    is_required = _literals(given.get("required")) == ("True",)
    return Argument(names, is_required and bool(names), choices, is_plain and type_name == "int")


def _literals(node: ast.expr | None) -> tuple[str, ...]:
    """Return the text of a literal, or the texts of a list; none of another expression."""
    try:
        value = ast.literal_eval(node) if node else ()
    except (ValueError, TypeError, RecursionError):
        return ()
    return tuple(map(str, value if isinstance(value, list | tuple | set) else (value,)))
