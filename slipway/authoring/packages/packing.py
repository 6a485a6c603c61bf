"""A tree as the package of a template, which must hold the module that it runs, or as the folder of its image. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from slipway.authoring.packages.folder_packages import REQUIREMENTS, FolderPackages, packages_of, python_of
from slipway.authoring.packages.source_package import (
    SourcePackage,
    assemble,
    folder_of,
    merged,
    require_no_code,
    require_no_key,
    require_python,
    script_sources,
)
from slipway.authoring.packages.working_tree import IGNORES, WorkingTree
from slipway.base.errors import ConfigError, Fix, PolicyError
from slipway.google.storage import Location
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import PACKAGE, placeholder
from slipway.model.catalog.template import Template
from slipway.model.labels import CODE_COMMIT_LABEL, CODE_DIRTY_LABEL, CODE_LABEL, PROGRAMS_LABEL, Launched, Revision
from slipway.model.rules.code import SCRIPT

_SETUP = frozenset({"setup.py", "conftest.py"})
_NOTES = re.compile(
    r".*\.(md|rst|log|csv|tsv|ipynb|pdf|png|jpe?g|svg)|(?!.*(requirements|constraints)[^/]*$).*\.txt", re.I
)
"""Files that people write beside their runs: results, notes, notebooks."""


@dataclass(frozen=True)
class PackedCode:
    """A packed tree and its destination."""

    package: SourcePackage
    location: Location
    count: int
    revision: Revision
    #: The digest of the tree's code alone, without the launcher that is packed with it.
    digest: str
    #: The same without notes, tables and notebooks.
    programs: str

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels that tell later which code a job ran."""
        return {
            CODE_LABEL: self.package.sha256[:40],
            CODE_COMMIT_LABEL: self.revision.commit[:40],
            CODE_DIRTY_LABEL: str(bool(self.revision.dirty)).lower(),
            PROGRAMS_LABEL: self.programs[:40],
        }


def modules(template: Template) -> tuple[str, ...]:
    """Return the modules that a template runs from the package that a folder's own code replaces; an empty one for the
    command of an image. Raises PolicyError when the template or the stack does not allow that."""
    allowed = _modules(template)
    if not template.takes_code or not allowed:
        raise PolicyError(
            f"{template.name} runs the code that was reviewed with it, and no other",
            why=template.code_why or "its jobs start no package whose place a folder could take",
            fix="have that put there and deployed, or submit it without a folder"
            if template.code_why
            else "submit it without a folder",
        )
    return allowed


def runs_any_folder(template: Template) -> bool:
    """Tell whether the template runs a command in any folder."""
    return template.takes_code and _modules(template) == (SCRIPT,)


def needs_folder(command: str) -> bool:
    """Tell whether a command may name something of a folder: all but a single word that is no path."""
    return not re.fullmatch(r"[\w-]+", command.strip())


def _modules(template: Template) -> tuple[str, ...]:
    pools = [pool for offer in template.offers for pool in offer.spec.get("workerPoolSpecs", ())]
    tasks = (pool.get("pythonPackageSpec") or pool.get("containerSpec") or {} for pool in pools)
    started = [(task.get("packageUris", ()), launched) for task in tasks if (launched := Launched.of(task))]
    asked, folder = placeholder(PACKAGE), f"--code={placeholder(PACKAGE)}"
    return tuple(dict.fromkeys(each.module for uris, each in started if asked in uris or folder in each.others))


def pack(catalog: Catalog, template: Template, tree: WorkingTree, folder: str, script: str = "") -> PackedCode:
    """Pack a tree; `folder` is its name, `script` what its command starts. Raises ConfigError when the tree lacks the
    module that the template runs, or when a module of it is not valid Python."""
    wanted = modules(template)
    of_image = wanted == ("",)
    any_files = of_image or wanted == (SCRIPT,)
    sources = dict(tree.files) if any_files else _sources(tree, folder, wanted)
    if not sources and any_files:
        raise ConfigError(
            f"the folder {folder} has no files",
            why=f"what git ignores, or {IGNORES} names, is not packed",
            fix="name the folder of your code",
        )
    missing = [module for module in wanted if not any_files and not _has(sources, module)]
    if missing:
        raise ConfigError(
            f"the folder {folder} has no module {missing[0]}, which {template.name} runs",
            why=f"neither {' nor '.join(_files(missing[0]))} is in it",
            fix=_elsewhere(tree, missing[0]) or "name the folder that has it",
        )
    if lacking := [name for name in template.shared or () if not any_files and not _holds(sources, name)]:
        raise ConfigError(
            f"the folder {folder} has no package {lacking[0]}, which {template.name} shares with other templates",
            why="a folder's own code takes the place of all of the template's",
            fix="name the folder that has both",
        )
    require_no_key(sources, f"the folder {folder}", f"leave the file out, by a line in {IGNORES}")
    if not any_files:  # The image's Python reads them, which may be another one.
        fix = f"correct it; what no job imports can be kept out by a line in {IGNORES}"
        require_python(sources, f"the folder {folder}", fix)
    packages = (wanted[0].split(".")[0], *(template.shared or ()))
    needed = FolderPackages() if of_image else _packages(tree, folder, packages, script)
    _require_own_modules(needed, folder, any_files=any_files)
    packed = script_sources(sources, tree.executable) if any_files else sources
    package = (
        folder_of(template.name, sources, tree.executable) if of_image else assemble(template.name, packed, needed)
    )
    location = Location(catalog.work_bucket, f"code/{package.sha256}/{package.name}")
    return PackedCode(
        package=package,
        location=location,
        count=len(sources),
        revision=tree.revision,
        digest=_digest(sources, needed.lines),
        programs=_digest({name: text for name, text in sources.items() if not _NOTES.fullmatch(name)}, needed.lines),
    )


def _require_own_modules(needed: FolderPackages, folder: str, *, any_files: bool) -> None:
    if not any_files:
        require_no_code(needed, f"the folder {folder}")


def _digest(sources: Mapping[str, bytes], needed: tuple[str, ...]) -> str:
    files = [f"{name}\0{hashlib.sha256(content).hexdigest()}" for name, content in sorted(sources.items())]
    return hashlib.sha256("\n".join([*files, *needed]).encode()).hexdigest()


def _sources(tree: WorkingTree, folder: str, wanted: tuple[str, ...]) -> dict[str, bytes]:
    """Return the importable sources: the folder itself where it is the import package, else the packages and modules in
    it. A wanted package needs no `__init__.py` of its own."""
    packages = {module.partition(".")[0] for module in wanted}
    if _is_package(tree, folder, packages, wanted):
        sources = {f"{package}/{name}": content for package in packages for name, content in tree.files.items()}
    else:
        tops = {name.partition("/")[0] for name in tree.files if name.endswith("/__init__.py") and name.count("/") == 1}
        sources = {
            name: content
            for name, content in tree.files.items()
            if name.partition("/")[0] in tops | packages
            or ("/" not in name and name.endswith(".py") and name not in _SETUP)
        }
    folders = {parent for module in wanted for file in _files(module) for parent in PurePosixPath(file).parents[:-1]}
    return {**{f"{parent}/__init__.py": b"" for parent in folders if _holds(sources, str(parent))}, **sources}


def _is_package(tree: WorkingTree, folder: str, packages: Collection[str], wanted: tuple[str, ...]) -> bool:
    """Tell whether the folder is the one import package: by its name, or, if no folder has that, by its modules."""
    if len(packages) > 1:
        return False
    if "__init__.py" in tree.files and folder in packages:
        return True
    inner = [module.partition(".")[2] for module in wanted]
    beside = any(_holds(tree.files, package) for package in packages)
    return not beside and all(module and _has(tree.files, module) for module in inner)


def _holds(files: Mapping[str, bytes], folder: str) -> bool:
    return any(name.startswith(f"{folder}/") for name in files)


def _has(files: Mapping[str, bytes], module: str) -> bool:
    return not files.keys().isdisjoint(_files(module))


def _packages(tree: WorkingTree, folder: str, packages: Iterable[str], script: str = "") -> FolderPackages:
    """Return what the whole tree lists, or else the packages in it."""
    own = {}
    for name in packages if REQUIREMENTS not in tree.files else ():
        inside = {
            path.removeprefix(f"{name}/"): text for path, text in tree.files.items() if path.startswith(f"{name}/")
        }
        own[f"{folder}/{name}/{REQUIREMENTS}"] = packages_of(inside, f"{folder}/{name}")
    if any(found.lines for found in own.values()):
        return replace(merged(own), python=python_of(tree.files))
    return packages_of(tree.files, folder, script)


def _files(module: str) -> tuple[str, str]:
    path = module.replace(".", "/")
    return f"{path}.py", f"{path}/__main__.py"


def _elsewhere(tree: WorkingTree, module: str) -> Fix:
    wanted = f"/{_files(module)[0]}"
    folders = [name.removesuffix(wanted) for name in tree.files if name.endswith(wanted)]
    return ({"code": str(PurePosixPath(folders[0]))}, "   (in the folder you named)") if len(folders) == 1 else ""
