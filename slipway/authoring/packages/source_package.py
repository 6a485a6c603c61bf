"""The code of a job as it lies in a bucket: its import package, the launcher, and a setup.py with its requirements; or
the launcher of an image alone, and a folder for one."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from slipway.authoring.packages.folder_packages import REQUIREMENTS, FolderPackages, packages_of
from slipway.authoring.packages.requirements import is_for_launcher, together
from slipway.authoring.packages.working_tree import WorkingTree, read
from slipway.authoring.stack.secrets import files_with_keys
from slipway.authoring.template.worker_pool import Code, Package
from slipway.base.errors import ConfigError
from slipway.base.files import write_atomically
from slipway.base.formatting import nearest
from slipway.model.rules.code import SCRIPT

# Not 0: setuptools builds a wheel from it, and a zip file has no time before 1980.
_MTIME = 946_684_800
_HASH_LENGTH = 12
_SHOWN = 3
_PARTS = (
    *(
        "attempts",
        "beside",
        "command",
        "exchange",
        "files",
        "growing",
        "http",
        "hub",
        "idle",
        "index",
        "inputs",
        "launcher",
    ),
    *("notify", "output", "pass", "placed", "race", "results", "round", "session", "start", "storage", "warm", "yield"),
)
_START = b"import os, sys\n\nfrom slipway_launcher import main\n\nsys.exit(main(sys.argv[1:], os.environ))\n"
"""The module that `python3 FILE.pyz` runs."""


@dataclass(frozen=True)
class SourcePackage:
    """A job's package, a folder for an image, or an image's launcher."""

    #: The archive's name, which carries 12 digits of the digest, as its version does.
    name: str
    #: The digest of the archive's contents.
    sha256: str
    content: bytes
    requirements: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The object's name in the catalog bucket."""
        return f"packages/{self.name}"

    def save(self, folder: Path) -> Path:
        """Write the archive into `folder`, whole or not at all, unless it is there. Raises ConfigError."""
        path = folder / self.name
        if not path.is_file():
            try:
                write_atomically(path, self.content, durable=False)
            except OSError as error:
                raise ConfigError(
                    f"can't write the package {self.name}",
                    why=f"{folder}: {error.strerror or error}",
                    fix="make the checkout's .slipway folder writable, or make room",
                ) from error
        return path


def built(template: str, code: Code, checkout: Path) -> SourcePackage:
    """Return what the catalog's bucket has for a template's code. Raises ConfigError as `build` does."""
    if isinstance(code, Package):
        return build(template, checkout / code.folder, code.module, [checkout / each for each in code.shared])
    return launcher(template)


def build(template: str, folder: Path, module: str = "", shared: Iterable[Path] = ()) -> SourcePackage:
    """Return the package of a template's code: of the import packages in `folder` and `shared`, or of any files there
    where `module` is SCRIPT. Raises ConfigError where there is no such package or module, a file that can't be part of
    it, a module that is no Python, or requirements that differ."""
    if module == SCRIPT:
        if not folder.is_dir():
            raise ConfigError(
                f"template {template}: no folder {folder.parent.name}/{folder.name}",
                fix="code.folder names the folder in which its command runs",
            )
        tree = read(folder, reviewed=True)
        _packed(template, {folder: tree}, python=False)  # The image's Python reads them, which may be another one.
        return assemble(template, script_sources(tree.files, tree.executable), _packages(folder, tree))
    every = (folder, *shared)
    if lacking := [each for each in every if not (each / "__init__.py").is_file()]:
        beside, name = lacking[0].parent, f"{lacking[0].parent.name}/{lacking[0].name}"
        others = [] if lacking[0].is_dir() else [path.parent for path in beside.glob("*/__init__.py")]
        near = nearest(lacking[0].name, [other.name for other in others if other not in every])
        raise ConfigError(
            f"template {template}: no import package in {name}",
            why=f"{name}/__init__.py is not there",
            fix=f"did you mean {beside.name}/{near}?" if near else f"add {name}/__init__.py, or name a folder with one",
        )
    inside = module.replace(".", "/")
    if module and not any((folder.parent / name).is_file() for name in (f"{inside}.py", f"{inside}/__main__.py")):
        raise ConfigError(
            f"template {template}: no module {module}",
            why=f"{folder.parent.name}/{inside}.py is not there",
            fix="code.module names the module to run: PACKAGE.MODULE",
        )
    trees = {each: read(each, reviewed=True) for each in every}
    needed = merged({f"{each.name}/{REQUIREMENTS}": _packages(each, tree) for each, tree in trees.items()})
    require_no_code(needed, f"template {template}")
    return assemble(template, _packed(template, trees), needed)


def launcher(template: str) -> SourcePackage:
    """Return the launcher as one file that Python runs, for a template's images. The same bytes as in `assemble`."""
    sources, buffer = {**launcher_sources(), "__main__.py": _START}, io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(sources):
            info = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            info.create_system = 3  # whatever this machine is
            archive.writestr(info, sources[name])
    content = buffer.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    return SourcePackage(name=f"{template}-{short_hash(digest)}.pyz", sha256=digest, content=content)


def require_python(sources: Mapping[str, bytes], where: str, fix: str) -> None:
    """Raise ConfigError with all syntax errors of the importable modules among some sources, as
    `lora/task.py:12: '(' was never closed`; `where` they are. No module is run."""
    wrong = []
    for name, content in sources.items():
        path = PurePosixPath(name)
        if path.suffix != ".py" or not all(part.isidentifier() for part in path.with_suffix("").parts):
            continue
        if problem := syntax_error(name, content):
            wrong.append(problem)
    if wrong:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise ConfigError(f"{where} has modules that Python {version} can't read", why="\n".join(wrong), fix=fix)


@lru_cache(maxsize=256)  # Stacks share their code.
def syntax_error(name: str, content: bytes) -> str:
    """Return `lora/task.py:12: '(' was never closed`, empty for a module that this Python can read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # The job shows its warnings when it runs.
            compile(content, name, "exec", dont_inherit=True)
    except SyntaxError as problem:
        return f"{name}:{problem.lineno or 1}: {problem.msg}"
    except (ValueError, RecursionError, MemoryError) as problem:
        return f"{name}: {problem}"
    return ""


def require_no_key(files: Mapping[str, bytes], where: str, fix: str) -> None:
    """Raise ConfigError for files with keys in them, among those of `where`: whoever may submit can read a package."""
    if not (found := files_with_keys(files)):
        return
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise ConfigError(
        f"{where} has {'a key' if len(found) == 1 else 'keys'} in {', '.join(found[:_SHOWN])}{more}",
        why="a package lies in a bucket that others can read",
        fix=f"{fix}; what the job needs of it goes into Secret Manager, and the job is told the secret's name",
    )


def folder_of(template: str, files: Mapping[str, bytes], executable: Collection[str] = ()) -> SourcePackage:
    """Return a folder's files as an image's launcher unpacks them."""
    content = _tar(files, executable)
    digest = hashlib.sha256(content).hexdigest()
    return SourcePackage(name=f"{template}-{short_hash(digest)}.tar.gz", sha256=digest, content=stored(content))


def merged(found: Mapping[str, FolderPackages]) -> FolderPackages:
    """Return the packages of several files. Raises ConfigError if two files differ about one."""
    lines = together({file: packages.lines for file, packages in found.items()})
    return FolderPackages(lines, code=tuple(folder for packages in found.values() for folder in packages.code))


def require_no_code(needed: FolderPackages, where: str) -> None:
    """Raise ConfigError for a project of the folder that is required by its name: a package takes its modules alone."""
    if needed.code:
        raise ConfigError(
            f"{where} requires the code in {needed.code[0]} by a path or as a member of its workspace",
            why="only a template that runs a command has all of the folder; others have their import packages",
            fix="put its import package beside the template's, and name that in code.shared",
        )


def assemble(template: str, sources: Mapping[str, bytes], packages: FolderPackages) -> SourcePackage:
    """Return the package of some sources, by path (`digits/task.py`; modules may be at the top), and the launcher.
    If it supports some versions of Python alone, the image's pip refuses to install it into another one.

    The bytes depend on file names and contents alone, not on times, owners, modes, or the machine's zlib.
    """
    sources, needed, python = {**sources, **launcher_sources()}, packages.lines, packages.python
    by_service = needed
    runs_any_folder = f"{SCRIPT}_folder/folder.tar" in sources
    metadata = dict(packages.metadata) if runs_any_folder else {}
    if packages.code or metadata:
        sources["slipway_sources.py"] = f"FOLDERS = {list(packages.code)!r}\nMETADATA = {metadata!r}\n".encode()
    if any(map(is_for_launcher, needed)):  # The service's own pip knows PyPI alone, and no other index.
        sources["slipway_requirements.py"] = f"LINES = {list(needed)!r}\nSOURCE = {packages.file!r}\n".encode()
        by_service = ()
    digest = hashlib.sha256(_tar({**sources, **_description(template, "0", sources, by_service, python)})).hexdigest()
    short = short_hash(digest)
    # The version tells one build from another wherever an installer compares only name and version.
    members = {**sources, **_description(template, f"1.0+{short}", sources, by_service, python)}
    content = stored(_tar({f"{template}-1.0/{name}": member for name, member in members.items()}))
    return SourcePackage(name=f"{template}-{short}.tar.gz", sha256=digest, content=content, requirements=needed)


def script_sources(files: Mapping[str, bytes], executable: Collection[str] = ()) -> dict[str, bytes]:
    """Return the sources of a package that runs a command among these files.

    They travel as one archive: of single files an installer takes only a package's data files.
    """
    return {
        f"{SCRIPT}_folder/__init__.py": b"",
        f"{SCRIPT}_folder/folder.tar": _tar(files, executable),
    }


def launcher_sources() -> dict[str, bytes]:
    """Return the modules of every package: the launcher, and what it installs packages, copies inputs, keeps results
    and tells people with."""
    here = f"from {__package__}.".encode()  # They find one another at the top of a job's package.
    files = [Path(__file__).with_name(f"slipway_{part}.py") for part in _PARTS]
    return {file.name: file.read_bytes().replace(here, b"from ") for file in files}


def short_hash(digest: str) -> str:
    """Return the first 12 digits of a digest that can't be read as a version, as `7579a4722846` can: an alpha release
    of 7579.

    An installer may read the version of an archive from its name, and refuses an archive whose metadata have another.
    """
    windows = (digest[start : start + _HASH_LENGTH] for start in range(len(digest) - _HASH_LENGTH + 1))
    # No version has a d, e or f after its digits; a, b and c begin a pre-release.
    return next((window for window in windows if set(window) & set("def")), f"{digest[: _HASH_LENGTH - 1]}f")


def requirements(folder: Path) -> tuple[str, ...]:
    """Return the requirements of a folder. Raises ConfigError."""
    return _packages(folder, read(folder, reviewed=True)).lines


def _packages(folder: Path, tree: WorkingTree) -> FolderPackages:
    return packages_of(tree.files, f"{folder.parent.name}/{folder.name}")


def _packed(template: str, trees: Mapping[Path, WorkingTree], *, python: bool = True) -> Mapping[str, bytes]:
    """Return the sources of folders by their paths from the folder's own name on. Raises ConfigError."""
    for folder, tree in trees.items():
        if link := next(iter(tree.links), ""):
            raise ConfigError(
                f"{folder.name}/{link} is a link to {tree.links[link]}, which is not packed",
                why="a link of reviewed code leads to a file of its folder that git has",
                fix="put the file itself there, or read it where the job runs",
            )
    sources = {f"{each.name}/{name}": content for each, tree in trees.items() for name, content in tree.files.items()}
    around = next(iter(trees)).parent.name
    shown = {f"{around}/{name}": content for name, content in sources.items()}
    require_no_key(shown, f"template {template}", "take the file out of the folder")
    if python:
        require_python(shown, f"template {template}", "correct it; what no job imports can lie outside the folder")
    return sources


def _description(
    template: str, version: str, sources: Mapping[str, bytes], by_service: tuple[str, ...], python: str
) -> dict[str, bytes]:
    modules = sorted(name.removesuffix(".py") for name in sources if "/" not in name)
    folders = sorted({name.partition("/")[0] for name in sources if "/" in name})
    takes = f"    python_requires={python!r},\n" if python else ""
    # No pyproject.toml: with setup.py alone, pip uses the image's own setuptools where it can.
    setup = f"""from setuptools import find_packages, setup

setup(
    name={template!r},
    version={version!r},
    packages=find_packages(),
    py_modules={json.dumps(modules)},
    include_package_data=True,
    install_requires={list(by_service)!r},
{takes})
"""
    return {
        "setup.py": setup.encode(),
        "MANIFEST.in": "".join(f"graft {folder}\n" for folder in folders).encode(),
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {template}\nVersion: {version}\n".encode(),
    }


def _tar(members: Mapping[str, bytes], executable: Collection[str] = ()) -> bytes:
    """Return a tar archive, where files that begin with `#!` are executable as well."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(members):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(members[name]), _MTIME
            info.mode = 0o755 if name in executable or members[name].startswith(b"#!") else 0o644
            archive.addfile(info, io.BytesIO(members[name]))
    return buffer.getvalue()


_BLOCK = 0xFFFF  # The most bytes of a stored block.


def stored(content: bytes) -> bytes:
    """Return `content` as a gzip file of stored blocks (RFC 1951 3.2.4, RFC 1952), without time and name."""
    starts = range(0, max(len(content), 1), _BLOCK)
    blocks = [content[start : start + _BLOCK] for start in starts]
    last = len(blocks) - 1
    body = b"".join(
        bytes([index == last]) + len(block).to_bytes(2, "little") + (len(block) ^ 0xFFFF).to_bytes(2, "little") + block
        for index, block in enumerate(blocks)
    )
    header = b"\x1f\x8b\x08\x00" + b"\x00" * 4 + b"\x00\xff"
    return header + body + zlib.crc32(content).to_bytes(4, "little") + (len(content) & 0xFFFFFFFF).to_bytes(4, "little")
