"""Mistyped modules and programs of the folder's own project in a command, and relative imports in scripts. Pure."""

from __future__ import annotations

import ast
import posixpath
import re
import shlex
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from slipway.authoring.packages.command_script import MAKERS, commands
from slipway.authoring.packages.imported_modules import Modules
from slipway.authoring.packages.project_file import PROJECT
from slipway.authoring.packages.slipway_start import OF_GPUS, OF_SHELLS, PACKAGES, RUNNERS
from slipway.base.errors import ConfigError
from slipway.base.formatting import nearest

_STARTERS = re.compile(r"python[\d.]*|torchrun|accelerate")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_NEAR = 0.8
"""The likeness of a name that is most likely mistyped, where it may be a name of the image as well."""
_SCRIPTS = re.compile(r"^\[ *(?:project|tool\.poetry)\.scripts *\](.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
_SCRIPT = re.compile(r"""^\s*["']?(\w[\w.-]*)["']?\s*=""", re.MULTILINE)
_KNOWN = frozenset({*PACKAGES, *RUNNERS, *OF_GPUS, *OF_SHELLS, "bash", "env", "make", "pip", "python", "sh", "time"})


def require_own_modules(files: Mapping[str, bytes], command: str, code: Collection[str] = ()) -> None:
    """Raise ConfigError if the command runs a module that the folder's package does not have, or a script with a
    relative import by its path. `code` are folders as for `Modules`."""
    if _may_change_files(command):
        return
    folder, known = Modules(files, code), modules_in(files, code)
    for words in commands(command):
        if module := _run_module(words):
            _require_module(folder, known, module)
        elif script := _run_script(folder, words):
            _require_absolute(folder, words, script)


def mistyped(files: Mapping[str, bytes], command: str, code: Collection[str] = ()) -> Iterator[str]:
    """Yield a line for each module and program of a command that is nearly one of the folder's."""
    known = modules_in(files, code)
    tops = {module.partition(".")[0] for module in known}
    for words in commands(command):
        module = _run_module(words)
        top = module.partition(".")[0]
        near = nearest(module, known, _NEAR) if top and not _is_known(top, tops) else None
        if near:
            yield f"! {module} is not in the folder: did you mean {near}?"
        yield from _program(next(iter(words), ""), files, code)


def _program(program: str, files: Mapping[str, bytes], code: Collection[str]) -> Iterator[str]:
    """Yield a line for a program that is nearly one of the folder's projects, or one of a project that no job has."""
    texts = {posixpath.dirname(name): content for name, content in files.items() if posixpath.basename(name) == PROJECT}
    projects = {folder: text.decode(errors="replace") for folder, text in texts.items()}
    has_program = [folder for folder, text in projects.items() if program in _programs(text)]
    is_found = any(not folder or _is_below(folder, code) for folder in has_program)
    if has_program and not is_found:
        folder = has_program[0]
        yield f"! {program} is a program of {folder}, which {PROJECT} does not require: uv add ./{folder}"
    elif not has_program and (near := nearest_program(program, "\n".join(projects.values()))):
        yield f"! {program} is not a program of the folder's project: did you mean {near}?"


def _is_below(folder: str, code: Collection[str]) -> bool:
    return any(f"{each}/".startswith(f"{folder}/") for each in code)


def _programs(project: str) -> list[str]:
    return [name for section in _SCRIPTS.findall(project) for name in _SCRIPT.findall(section)]


def nearest_program(program: str, project: str) -> str | None:
    """Return the program of a pyproject.toml's text that was most likely meant; None for one that it names, and if none
    is near."""
    names = _programs(project)
    return None if program in {*names, *_KNOWN} else nearest(program, names, _NEAR)


def modules_in(files: Collection[str], code: Collection[str] = ()) -> list[str]:
    """Return the modules of a folder, by the names by which they are imported and run."""
    roots = sorted({"src", *code}, key=len, reverse=True)
    names = (_module_name(path, roots) for path in files if path.endswith(".py"))
    return sorted({name for name in names if _MODULE.fullmatch(name)})


def near_module(module: str, known: Collection[str]) -> str | None:
    """Return the module of the same package that was most likely meant; None if none is near."""
    package, _, last = module.rpartition(".")
    beside = {name.rpartition(".")[2]: name for name in known if name.rpartition(".")[0] == package}
    near = nearest(last, beside)
    others = [name for name in known if not module.startswith(f"{name}.")]
    return beside[near] if near else nearest(module, others, _NEAR)


def script_module(script: str, roots: Collection[str]) -> str:
    """Return the module that a script is, such as `mytrain.train`; empty for one that no package has."""
    name = _module_name(script, sorted(filter(None, roots), key=len, reverse=True))
    return name if "." in name and _MODULE.fullmatch(name) else ""


def _module_name(path: str, roots: Sequence[str]) -> str:
    root = next((root for root in roots if path.startswith(f"{root}/")), "")
    inner = path.removeprefix(f"{root}/") if root else path
    return inner.removesuffix(".py").removesuffix("/__init__").removesuffix("/__main__").replace("/", ".")


def _may_change_files(command: str) -> bool:
    """Return whether a part of the command moves elsewhere or makes files, so that the folder does not tell enough."""
    programs = {next(iter(words), "") for words in commands(command)}
    return not programs.isdisjoint({*MAKERS, "cd", "make", "pip", "export"})


def _run_module(words: Sequence[str]) -> str:
    """Return the module that a command runs by `-m`; empty for none."""
    if not words or not _STARTERS.fullmatch(PurePosixPath(words[0]).name) or "-m" not in words[:-1]:
        return ""
    place = words.index("-m")
    before, module = words[:place], words[place + 1]
    is_of_script = any(word == "-c" or word.endswith(".py") for word in before)
    return module if _MODULE.fullmatch(module) and not is_of_script else ""


def _run_script(folder: Modules, words: Sequence[str]) -> str:
    """Return the first Python file of the folder in a command, unless a shell or a tool reads it; empty for none."""
    program = next(iter(words), "")
    starts = _STARTERS.fullmatch(PurePosixPath(program).name) or program.endswith(".py")
    named = (str(PurePosixPath(word)) for word in words if starts and word.endswith(".py"))
    return next((name for name in named if name in folder.files), "")


def _is_known(top: str, own: Collection[str]) -> bool:
    return top in own or top in sys.stdlib_module_names or top in _KNOWN


def _require_module(folder: Modules, known: Sequence[str], module: str) -> None:
    top = module.partition(".")[0]
    if not _has_file(folder, top, "/__init__.py"):
        return  # What is installed may have more modules of that package.
    others = [name for name in known if name != module]
    if module not in known and not _has_other_kind(folder, module):
        near = near_module(module, others)
        fix = f"did you mean {near}?" if near else "name a module of the folder, or add it"
        raise ConfigError(f"the command runs {module}, which is not in the folder", why=_which(known, top), fix=fix)
    is_package = _has_file(folder, module, "/__init__.py")
    if is_package and not _has_file(folder, module, "/__main__.py"):
        inner = next((name for name in others if name.startswith(f"{module}.")), "")
        raise ConfigError(
            f"the command runs {module}, which is a package without a __main__.py",
            why="Python can't run a package that has none",
            fix=f"did you mean {inner}?" if inner else f"add {module.replace('.', '/')}/__main__.py",
        )


def _has_file(folder: Modules, module: str, end: str) -> bool:
    places = (f"{root}/{module.replace('.', '/')}{end}".lstrip("/") for root in folder.roots)
    return any(place in folder.files for place in places)


def _has_other_kind(folder: Modules, module: str) -> bool:
    """Return whether the folder has the module in another kind of file, such as one that a compiler reads."""
    places = [f"{root}/{module.replace('.', '/')}".lstrip("/") for root in folder.roots]
    return any(name.startswith((f"{place}.", f"{place}/")) for place in places for name in folder.files)


def _which(known: Sequence[str], top: str) -> str:
    names = [name for name in known if name.startswith(f"{top}.")]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{top} has {', '.join(names[:3])}{more}" if names else f"{top} has no modules"


def _require_absolute(folder: Modules, words: Sequence[str], script: str) -> None:
    line = relative_import(folder.files[script])
    if not line:
        return
    module = script_module(script, folder.roots)
    typed = next(word for word in words if str(PurePosixPath(word)) == script)
    place = words.index(typed)
    begin = ["python"] if place == 0 else list(words[:place])
    fixed = shlex.join([*begin, "-m", module, *words[place + 1 :]])
    raise ConfigError(
        f"{script} has a relative import, `{line}`, and is started by its path",
        why="Python knows no package of a script that is started so",
        fix=f"slipway run {fixed}" if module else "import it without the dots",
    )


def relative_import(content: bytes) -> str:
    """Return the first relative import at the top level of a file; empty for none, and for a file that names its own
    package."""
    if b"__package__" in content:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    found = (each for each in tree.body if isinstance(each, ast.ImportFrom) and each.level)
    return next((ast.unparse(each) for each in found), "")
