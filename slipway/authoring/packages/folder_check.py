"""One look at a folder before it is sent: what its command names and it lacks, and what of it is not packed."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import accumulate, pairwise
from pathlib import Path, PurePosixPath

from slipway.authoring.packages.command_script import commands, modules_of, script_of
from slipway.authoring.packages.folder_packages import FILES, REQUIREMENTS
from slipway.authoring.packages.foreign_paths import OF_PEOPLE, foreign, of_this_machine
from slipway.authoring.packages.missing_modules import missing_modules
from slipway.authoring.packages.own_modules import near_module
from slipway.authoring.packages.project_file import PROJECT, read_project
from slipway.authoring.packages.shell_check import read_by_shell
from slipway.authoring.packages.source_package import syntax_error
from slipway.authoring.packages.submodules import unfetched, way_to_fetch
from slipway.authoring.packages.working_tree import IGNORES, MOST_BYTES, WorkingTree
from slipway.authoring.stack.secrets import programs_with_keys
from slipway.base.errors import ConfigError
from slipway.base.formatting import join, nearest, short

_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_PATH = re.compile(r"(?:\.{1,2}/|/|~/)?[\w.-]+(?:/[\w.-]+)*")
_FILE = re.compile(r"[\w-][\w./-]*\.(ya?ml|json|toml|cfg|ini|csv|tsv|txt|parquet|npz?|jsonl)")
_WRITES = re.compile(r"out|save|log|write|dest|result|metric|dump")
"""Flags whose file a command makes."""
_FREEZE = "pip list --format=freeze > requirements.txt"
_NOT_READ = {
    **{f"{name}.{end}": _FREEZE for name in ("environment", "conda", "env") for end in ("yml", "yaml")},
    "Pipfile": "pipenv requirements > requirements.txt",
    "pixi.toml": _FREEZE,
    "poetry.lock": "poetry export --without-hashes --output requirements.txt",
}
"""Files that list packages for another installer, and what writes them as pip reads them."""
_OF_PIP = re.compile(
    r"(?!.*(?:dev|test|doc|lint|build))(?:(?:[\w-]+/)?[\w-]*requirements[\w.-]*\.(?:txt|in)|requirements/[\w.-]+\.txt)"
)
"""A list of packages that pip reads, under another name or in another folder than the one that is installed."""
_WRITTEN = frozenset({"runs/", "wandb/", "mlruns/", "lightning_logs/", "tb_logs/", "outputs/", "multirun/"})
"""Folders that TensorBoard, W&B, MLflow, Lightning and Hydra write into: code that names one reads nothing there."""
_DEFAULT_OUTPUT = re.compile(rb"[\"']SLIPWAY_OUTPUT[\"']\s*,\s*([\"'])[^\"']*\1")
_IMPORT = re.compile(rb"(?m)^\s*(?:from|import)\s.*$")
_OF_DVC = re.compile(rb"(?m)^\s*(?:-\s+)?path:\s*[\"']?(.+?)[\"']?\s*$")
_OF_KERNEL = re.compile(rb"(?m)^\s*(?:\w+ = )?get_ipython\(\)")
_BUCKET = "data goes into a bucket: -p data=gs://BUCKET/FOLDER"
_MOST = 3
_OF_SYSTEM = ("/bin/", "/etc/", "/lib", "/opt/", "/sbin/", "/usr/")
"""Folders whose files an image may have as well."""


def require_named(tree: WorkingTree, folder: Path, command: str) -> None:
    """Raise ConfigError where the command starts a script that is not packed: it would fail once it has a machine."""
    script = script_of(command)
    if script in tree.files:
        _require_startable(tree, script, command)
    elif _is_outside(script, folder):
        raise _outside(script)
    elif script and (not script.startswith("/") or Path(script).is_relative_to(folder) or script[1:] in tree.files):
        raise _absent(tree, folder, script)
    read = read_by_shell(command)
    if read and not read.startswith("/") and read not in tree.files:
        raise _unread(tree, folder, read)


def _unread(tree: WorkingTree, folder: Path, name: str) -> ConfigError:
    """Return the error for a file that a shell reads by `source`, and that is not packed."""
    path = PurePosixPath(name)
    way = ""
    if path.parts[-2:] == ("bin", "activate"):
        way = "leave it out, as the folder's packages are installed before the command starts"
    elif path.name.startswith(".env") and (folder / name).is_file():
        way = f"in place of it: --env-file {shlex.quote(name)}, and --secret NAME=SECRET for a key"
    if way:
        why = "no job has virtual environments or files with keys of this machine"
        return ConfigError(f"the command reads {name}, which is not packed", why=why, fix=way)
    return _absent(tree, folder, name)


def _is_outside(script: str, folder: Path) -> bool:
    """Return whether a script is a file of this machine, outside of the folder, that no image has at that place."""
    if not script.startswith("/") or script.startswith(_OF_SYSTEM) or Path(script).is_relative_to(folder):
        return False
    try:
        return Path(script).is_file()
    except OSError:  # A file that may not be read is none.
        return False


def _outside(script: str) -> ConfigError:
    place, name = map(shlex.quote, os.path.split(script))
    return ConfigError(
        f"the command starts {script}, which is not packed",
        why="it is a file of this machine, outside of the folder, which is all that the job has",
        fix=f"--code {place}, and {name} in the command",
    )


def _absent(tree: WorkingTree, folder: Path, script: str) -> ConfigError:
    path = folder / script
    if script.startswith("/") and path.is_file():
        return ConfigError(
            f"the command starts {script}",
            why="it is a path of this machine, and the job has the folder elsewhere",
            fix=f"did you mean {path.relative_to(folder)}?",
        )
    if path.is_file():
        return ConfigError(
            f"the command starts {script}, which is not packed",
            why=_why_not(tree, folder, script),
            fix=_way_in(tree, folder, script),
        )
    if script[1:] in tree.files:
        why = "the folder is elsewhere in the job, and the command starts at its top"
        return ConfigError(f"the command starts {script}", why=why, fix=f"did you mean {script[1:]}?")
    lacking = f"{tree.source or f'the folder {folder.name}'} has no {script}, which the command starts"
    if module := next((name for name in unfetched(tree) if script.startswith(f"{name}/")), ""):
        return ConfigError(
            lacking, why=f"{module} is a submodule that is not fetched", fix=way_to_fetch(tree, folder, module)
        )
    if above := _above(folder, script):
        place = shlex.quote(os.path.relpath(above))
        return ConfigError(lacking, why=f"it lies in {above.name}, above", fix=f"cd {place}; or --code {place}")
    names = [name for name in tree.files if PurePosixPath(name).suffix == PurePosixPath(script).suffix]
    bare = PurePosixPath(script).name
    elsewhere = next((name for name in names if name.endswith(f"/{script}")), "")
    near = elsewhere or nearest(script, names) or nearest(bare, names)
    return ConfigError(
        lacking,
        why=f"it has {join(names[:_MOST]) or 'no such script'}{' and others' if len(names) > _MOST else ''}",
        fix=f"did you mean {near}?" if near else "name a file of the folder, from its top",
    )


def _above(folder: Path, script: str) -> Path | None:
    """Return the folder further up in its checkout that has the script."""
    checkout = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)
    return next((each for each in folder.parents if each.is_relative_to(checkout) and (each / script).is_file()), None)


def _require_startable(tree: WorkingTree, script: str, command: str) -> None:
    """Raise ConfigError for a script that is packed, and that no machine can start so."""
    content, quoted_name = tree.files[script], shlex.quote(script)
    direct = any(words[:1] and str(PurePosixPath(words[0])) == script for words in commands(command))
    why, fix = "", ""
    if script.endswith(".ipynb"):
        why = "it is a notebook, which Python does not run"
        fix = f"--code {quoted_name}, and python {shlex.quote(PurePosixPath(script).stem)}.py as the command"
    elif b"\r\n" in content and (script.endswith(".sh") or direct):
        why, fix = "its line ends are those of Windows, which no shell reads", f"sed -i 's/\\r$//' {quoted_name}"
    elif direct and not content.startswith((b"#!", b"\x7fELF")):
        why = "it does not begin with #!, which names what runs it"
        fix = f"{'python' if script.endswith('.py') else 'bash'} {quoted_name}"
    if why:
        raise ConfigError(f"the command starts {script}, which can't start", why=why, fix=fix)


def about(tree: WorkingTree, folder: Path, command: str) -> Iterator[str]:
    """Yield lines about what is not packed, of the command's files or others; about files that Git LFS has not fetched;
    about packages that are not installed; about keys in programs; and about a script that this machine's Python can't
    read, which may be another than the image's."""
    words = [word for words in commands(command) for word in _without_program(words)]
    named = dict.fromkeys(word for word in words if _names_file(tree, folder, word))
    code = b"\n".join(content for name, content in tree.files.items() if _names_files(PurePosixPath(name)))
    told = {name: _why_not(tree, folder, name) for name in named}
    read = _DEFAULT_OUTPUT.sub(b"", code) + b"".join(b"\nimport " + os.fsencode(each) for each in modules_of(command))
    text = _IMPORT.sub(b"", read)
    sought = (
        name
        for name in (*tree.ignored, *tree.links)
        if name not in _WRITTEN and (_mentions(text, name) or _imports(read, folder, name))
    )
    told |= {name: _why_not(tree, folder, name) for name in sought}
    told |= dict(foreign(tree, folder, command))
    if told:
        yield f"! not packed, and named: {_listed(f'{name} ({why})' for name, why in told.items())}"
        ignored = {*tree.ignored} - {*_of_dvc(tree)}  # DVC takes no file that git has.
        small = next((name for name in told if name in ignored and _is_small(folder / name)), "")
        way = f"to pack it: {_way_in(tree, folder, small)}; " if small else ""
        if PurePosixPath(small).name.startswith(".env"):
            way = f"in place of {small}: --env NAME=VALUE, and --secret NAME=SECRET for a key; "
        yield f"  {way}{_BUCKET}"
    elif rest := [
        name
        for name in (*(() if tree.source else tree.ignored), *tree.links)
        if not PurePosixPath(name).name.startswith(".") and not _ignores_itself(folder, name)
    ]:
        yield f"not packed: {_listed(f'{name} ({_why_not(tree, folder, name)})' for name in rest)}"
    yield from _lacking(tree, folder, command)
    ways = {name: way_to_fetch(tree, folder, name) for name in unfetched(tree)}
    for way in dict.fromkeys(ways.values()):
        yield f"! {_listed(name for name in ways if ways[name] == way)}: a submodule that is not fetched: {way}"
    reasons = (*tree.ignored, *tree.left_out, *tree.links, *ways)
    known = tuple(f"{each.removesuffix('.py').rstrip('/')}/" for each in reasons)
    missing = (pair for pair in missing_modules(tree.files) if not f"{pair[0]}/".startswith(known))
    yield from _missing(tree, dict(missing))
    if pointers := [name for name, content in tree.files.items() if content.startswith(_POINTER)]:
        fix = "git lfs install, then this again" if tree.source else "git lfs pull"
        yield f"! {_listed(pointers)}: packed as pointers, as Git LFS has not fetched the content: {fix}"
    if absent := [name for name in _of_dvc(tree) if not (folder / name).exists()]:
        yield f"! {_listed(absent)}: DVC has the content, and has not fetched it: dvc pull"
    beside = [name for name in FILES if tree.source and name in tree.ignored and name not in told]
    if REQUIREMENTS not in tree.files:
        yield from (f"! what {name} lists is not installed: {way}" for name, way in _not_installed(tree))
        yield from (f"! what {name} lists is not installed: {_way_in(tree, folder, name)}" for name in beside[:1])
    yield from _project_above(tree, folder)
    if keys := programs_with_keys(tree.files):
        yield f"! {_listed(keys)}: what looks like a key is in it, and others can read it: --secret NAME=SECRET"
    script = script_of(command)
    if _OF_KERNEL.search(tree.files.get(script, b"")):
        yield f"! {script} calls get_ipython(), which only the kernel of a notebook has"
    if script.endswith(".py") and (wrong := syntax_error(script, tree.files.get(script, b""))):
        yield f"! {wrong}, as Python {sys.version_info.major}.{sys.version_info.minor} of this machine reads it"


def _project_above(tree: WorkingTree, folder: Path) -> Iterator[str]:
    """Yield a line for the project whose code the folder is, and whose packages are not installed from there."""
    above = folder.absolute().parent
    project = above / PROJECT
    is_code = folder.absolute().name == "src" or "__init__.py" in tree.files
    if not is_code or any(name in tree.files for name in FILES) or not project.is_file():
        return
    text = project.read_bytes()
    if b"[project]" in text or b"[tool.poetry" in text:
        place = shlex.quote(os.path.relpath(above))
        yield f"! {PROJECT} of {above.name}, one folder up, is not installed: cd {place}, or --code {place}"


def _missing(tree: WorkingTree, missing: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for the modules that the code imports and the folder lacks; `missing` has the file that imports
    each."""
    if not missing:
        return
    known = [name.removesuffix(".py").removesuffix("/__init__") for name in tree.files if name.endswith(".py")]
    near = (near_module(module.replace("/", "."), [name.replace("/", ".") for name in known]) for module in missing)
    meant = next(filter(None, near), "") if len(missing) == 1 else ""
    question = f": did you mean {meant.removeprefix('src.')}?" if meant else ""
    listed = _listed(f"{module} (by {name})" for module, name in missing.items())
    yield f"! {listed}: imported, and not in {tree.source or 'the folder'}{question}"


def _lacking(tree: WorkingTree, folder: Path, command: str) -> Iterator[str]:
    """Yield a line for each file that the command reads, by its name, and that nobody has: neither the folder nor git,
    nor this disk beside the folder."""
    every = [*commands(command)]
    at_top = all(words[:1] != ["cd"] for words in every)
    for before, word in (pair for words in every for pair in pairwise(words)):
        flag, _, name = word.rpartition("=")
        path = PurePosixPath(name)
        leads_out = _PATH.fullmatch(name) and os.path.normpath(name).startswith("../")
        if str(path) in tree.files or _WRITES.search(flag or before) or not (leads_out or _FILE.fullmatch(name)):
            continue
        if leads_out:
            if at_top and not os.path.lexists(folder / name):
                yield f"! {name} is not in the folder, which is all that the job has: {_BUCKET}"
            continue
        others = map(PurePosixPath, tree.files)
        alike = [str(each) for each in others if (each.parent, each.suffix) == (path.parent, path.suffix)]
        if near := nearest(str(path), alike, cutoff=0.9):
            yield f"! {path} is not in the folder: did you mean {near}?"
        elif alike and path.parent.name:
            yield f"! {path} is not in the folder, which has {alike[0]} beside it"


def _not_installed(tree: WorkingTree) -> Iterator[tuple[str, str]]:
    """Yield each file that lists packages and that no job reads, and how they are written as one does."""
    for name, way in _NOT_READ.items():
        if name in tree.files and not (name == "poetry.lock" and PROJECT in tree.files):
            yield name, way
    try:
        project = read_project(tree.files)
    except ValueError:  # Packing tells it.
        return
    if not project.is_readable:
        yield project.file, "write a literal list as install_requires, or a requirements.txt"
    elif not project.dependencies and not project.members:
        named = sorted(name for name in tree.files if _OF_PIP.fullmatch(name))
        yield from ((name, f"cp {shlex.quote(name)} requirements.txt") for name in named[:1])


def _ignores_itself(folder: Path, name: str) -> bool:
    """Tell whether a folder, or one above, ignores all that it has, as those do that `jobs download` makes."""
    path = PurePosixPath(name)
    lists = (folder / each / ".gitignore" for each in (path, *path.parents) if each.name)
    with suppress(OSError):
        return any(b"*" in file.read_bytes().splitlines() for file in lists if file.is_file())
    return False


def _without_program(words: list[str]) -> list[str]:
    """Return the words of a command; without its program where an image has that at the same place."""
    return words[1:] if words[:1] and words[0].startswith("/") and not words[0].startswith(OF_PEOPLE) else words


def _names_file(tree: WorkingTree, folder: Path, word: str) -> bool:
    """Tell whether a word, or the value of `--flag=word`, names what lies on this disk and is not packed."""
    word = _path(word)
    if word.startswith(OF_PEOPLE):
        return True
    if not _PATH.fullmatch(word) or ("/" not in word and "." not in word) or word.startswith("/dev/"):
        return False
    inner = os.path.normpath(word)
    packed = inner == "." or inner in tree.files or any(name.startswith(f"{inner}/") for name in tree.files)
    return not packed and os.path.exists(Path(folder, word).expanduser())  # noqa: PTH110


def _path(word: str) -> str:
    return word.rpartition("=")[2].removeprefix("file://")


def _of_dvc(tree: WorkingTree) -> list[str]:
    """Return the files whose content DVC keeps; git has a `.dvc` file of each."""
    return [
        str(PurePosixPath(name).parent / path.decode(errors="replace"))
        for name, content in tree.files.items()
        if name.endswith(".dvc")
        for path in _OF_DVC.findall(content.partition(b"outs:")[2])
    ]


def _why_not(tree: WorkingTree, folder: Path, name: str) -> str:
    bare = _path(name).rstrip("/")
    if target := next((tree.links[link] for link in tree.links if bare == link or bare.startswith(f"{link}/")), ""):
        return f"a link to {short(target)}"
    if bare.startswith(("/", "~", "..")):
        return of_this_machine(os.path.normpath(folder / Path(bare).expanduser()), folder)
    if _left_out(tree, bare):
        return f"{IGNORES} leaves it out"
    return f"{short(tree.source)} is all there is" if tree.source else "git ignores it"


def _left_out(tree: WorkingTree, bare: str) -> bool:
    return any(bare == each.rstrip("/") or (each[-1] == "/" and bare.startswith(each)) for each in tree.left_out)


def _way_in(tree: WorkingTree, folder: Path, name: str) -> str:
    """Return what to type to have a file of the folder packed."""
    quoted_name = shlex.quote(name)
    if name.startswith(".."):
        top = os.path.commonpath([folder, os.path.normpath(folder / name)])
        inner = shlex.quote(os.path.relpath(folder / name, top))
        return f"--code {shlex.quote(os.path.relpath(top))}, and {inner} in the command"
    if name in tree.links:
        return f"cp --remove-destination {shlex.quote(os.path.realpath(folder / name))} {quoted_name}"
    if _left_out(tree, name):
        return f"take its line out of {IGNORES}"
    if tree.source:
        return f"--code {shlex.quote(os.path.relpath(folder))}"
    checkout = any((each / ".git").exists() for each in (folder, *folder.parents))
    return f"git add -f {quoted_name}" if checkout else "take its line out of .gitignore"


def _names_files(path: PurePosixPath) -> bool:
    """Tell whether a file may say what a job reads: code and settings; those of tools begin with a dot."""
    return path.suffix in (".py", ".sh") or (path.suffix in (".yaml", ".yml") and not path.as_posix().startswith("."))


def _mentions(code: bytes, name: str) -> bool:
    """Tell whether code has a name in quotes or between spaces."""
    bare = re.escape(os.fsencode(name.rstrip("/")))
    return len(name) > 2 and re.search(rb"[\"'/\s=]" + bare + rb"[/\"'\s]", code) is not None


def _imports(code: bytes, folder: Path, name: str) -> bool:
    """Tell whether code imports the module of that name, or one of the folder of that name."""
    module = re.escape(os.fsencode(name.removesuffix(".py").rstrip("/").replace("/", ".")))
    listed = rb"import\s+(?:[\w., ]*[ ,])?" + module + rb"\b"
    of_it = rb"(?m)^\s*(?:from\s+\.*" + module + rb"[.\s]|(?:from\s+\.+\s+)?" + listed + rb")"
    return re.search(of_it, code) is not None and (name.endswith(".py") or _has_modules(folder / name))


def _has_modules(folder: Path) -> bool:
    return any(next(folder.glob(pattern), None) for pattern in ("*.py", "*/*.py"))


def _is_small(path: Path) -> bool:
    """Tell whether a file, or a folder whose files come to less than a quarter of what is packed, may as well be."""
    sizes = (_size(Path(parent, name)) for parent, _, names in os.walk(path) for name in names)
    return all(total <= MOST_BYTES // 4 for total in accumulate(sizes))


def _size(path: Path) -> int:
    """Return a file's size in bytes, 0 where it was deleted meanwhile."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _listed(names: Iterable[str]) -> str:
    each = [name.encode(errors="replace").decode() for name in names]
    more = f" and {len(each) - _MOST} more" if len(each) > _MOST else ""
    return f"{', '.join(each[:_MOST])}{more}"
