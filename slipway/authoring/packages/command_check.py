"""A look at a command before it is sent: modules and programs that its machine does not have, files that hide Python's
own modules, and launchers that would train on each machine by itself. Pure."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile, filterfalse, takewhile
from pathlib import PurePosixPath

from slipway.authoring.packages.command_script import commands, commands_of_script, split, texts
from slipway.authoring.packages.folder_packages import LOCK, REQUIREMENTS, FolderPackages, adding
from slipway.authoring.packages.imported_modules import outer_modules, shadowing
from slipway.authoring.packages.project_file import normal, read_project
from slipway.authoring.packages.requirements import CONSTRAINT
from slipway.authoring.packages.slipway_start import (
    OF_CONDA,
    OF_ENVIRONMENTS,
    OF_GPUS,
    OF_OTHERS,
    PACKAGES,
    RUNNERS,
    without_runner,
)
from slipway.base.errors import ConfigError
from slipway.base.formatting import join
from slipway.model.machines.image_modules import is_known_missing, may_be_brought, modules_of, package_of

_MOST = 5
_SHARED = re.compile(r"RANK\b|WORLD_SIZE|MASTER_(?:ADDR|PORT)|CLUSTER_SPEC|TF_CONFIG|NNODES\b|PET_")
"""Names in a command by which the machines of a job find each other."""
_MEETING = "--nnodes $WORLD_SIZE --node-rank $RANK --master-addr $MASTER_ADDR --master-port $MASTER_PORT"
_ACCELERATE = (
    "--num_machines $WORLD_SIZE --machine_rank $RANK --main_process_ip $MASTER_ADDR --main_process_port $MASTER_PORT"
)
_PROCESSES = re.compile(r"--num[_-]processes[= ](\d+)")
_BY_SSH = ("mpiexec", "mpirun", "orterun", "horovodrun", "deepspeed")
_BY_SSH_ALONE = "it reaches other machines by ssh, which Vertex AI does not offer"
_LAUNCHERS = frozenset({*_BY_SSH, "accelerate", "axolotl", "colossalai", "composer", "fabric", "lightning", "torchrun"})
_BY_MODULE = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "accelerate.commands.launch": "accelerate",
}
_ENVIRONMENTS = frozenset(RUNNERS) - {*OF_CONDA}
"""Programs of RUNNERS that no prebuilt image has."""
_PYTHON = re.compile(r"python(3\.\d+)")
_OWN_NODES = re.compile(r"--(?:standalone|(?:nnodes|rdzv[-_](?:backend|endpoint|id|conf))(?:[= ]\S+)?)")
_RENDEZVOUS = (
    re.compile(r"--(?:nnodes|num[_-]machines)[= ](?:\d+:)?(?!1\b)\S"),
    re.compile(r"--rdzv[_-]backend[= ](?!static\b)\S"),
    re.compile(r"--(?:rdzv[_-]endpoint|main[_-]process[_-]ip)[= ](?!localhost\b|127\.|0\.0\.0\.0)\S"),
)
"""Options that have a service outside of the machine number the machines, only together."""
_SCRIPT = re.compile(r"\S+\.py(?:\s.*)?")
_BEFORE = re.compile(r"env|exec|time|nohup|[A-Za-z_]\w*=.*", re.DOTALL)
"""Words before a program."""
_BEFORE_LAUNCHER = re.compile(r"""\s*(?:(?:env|exec|time|nohup|[A-Za-z_]\w*=(?:'[^']*'|"[^"]*"|[^\s'"])*)\s+)*""")
_TORCHRUN = re.compile(r"(?:\S*torchrun|\S+\s+-m\s+\S+)\s*")
"""A program of torchrun, by its name or as a module."""
_INSTALLS = re.compile(r"\b(?:pip3?|uv|conda|mamba|poetry)\b.*\b(?:install|sync|add)\b")
_ADDRESS = re.compile(r"(?!.* @ )\S*://")
_OPTION_OR_ADDRESS = re.compile(rf"-|{_ADDRESS.pattern}")


Installed = Callable[[str], Collection[str]]


def _nothing_installed(_module: str) -> Collection[str]:
    return ()


@dataclass(frozen=True)
class Machine:
    """A machine that a command can run on: its prebuilt image, and the words that choose it."""

    image: str
    framework: str
    has_gpu: bool
    words: str = ""
    #: Its version of Python, as 3.10; empty if that is not known.
    python: str = ""

    @property
    def modules(self) -> frozenset[str]:
        return modules_of(self.framework)


def lacking(
    files: Mapping[str, bytes],
    command: str,
    packages: FolderPackages,
    here: Machine,
    others: Sequence[Machine],
    installed: Installed = _nothing_installed,
) -> Iterator[str]:
    """Yield a line for the modules, and one for each program, that neither the image nor the listed packages have.
    `installed` returns the packages that bring a module on this machine, by their normal names."""
    needs = _Needs(packages, here, others, installed)
    if needs.are_known and not _INSTALLS.search(command):
        yield from needs.modules(outer_modules(files, command, packages.code), files)
    for words in map(_bare, commands(command)):
        yield from needs.program(words, files)
        yield from _of_scripts(needs, words, files)


def _of_scripts(needs: _Needs, words: Sequence[str], files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield a line for each program that a script for a shell among the words runs, and its machine does not have."""
    names = [posixpath.normpath(word) for word in words if word.endswith(".sh")]
    for name in names[:1]:
        for inner in map(_bare, commands_of_script(files.get(name, b""))):
            yield from (f"{line} ({name})" for line in needs.program(inner, files))


def replaced(files: Mapping[str, bytes], packages: FolderPackages) -> Iterator[str]:
    """Yield a line for the packages of a project that a requirements.txt beside it leaves out."""
    if REQUIREMENTS not in files or packages.file != REQUIREMENTS:
        return
    try:
        project = read_project(files)
    except ValueError:  # pip does not read it either.
        return
    listed = {normal(line) for line in packages.lines}
    left_out = sorted({dependency.name for dependency in project.dependencies} - listed)
    if left_out:
        names = left_out if len(left_out) <= _MOST else [*left_out[:_MOST], f"{len(left_out) - _MOST} more"]
        ignored = f"{project.file} and {LOCK} are" if LOCK in files else f"{project.file} is"
        yield (
            f"! {ignored} ignored, as the folder has a {REQUIREMENTS}, which does not list {join(names)}: "
            f"delete {REQUIREMENTS}, or list all packages in it"
        )


def require_no_runner(command: str, packages: FolderPackages, here: Machine) -> None:
    """Raise ConfigError if the command begins with `uv run` or its like, which no prebuilt image has."""
    (words, *others) = [*map(_bare, commands(command))] or [[]]
    program = next(iter(words), "")
    rest = without_runner(words)
    if not others and rest and program in _ENVIRONMENTS - set(map(normal, packages.lines)):
        raise ConfigError(
            f"{program}: image {here.image} has no such program",
            why="the folder's packages are installed before the command starts, which needs no environment of its own",
            fix=f"slipway run {rest}",
        )


def hidden(files: Mapping[str, bytes], command: str) -> Iterator[str]:
    """Yield a line for the files that hide modules of Python from the command, or are hidden by these where Python
    has imported its own before."""
    if names := shadowing(files, command):
        some = ", ".join(names[:_MOST])
        yield f"! {some}: Python has a module of that name, and imports one in place of the other: rename it"


def require_joined(command: str, replicas: int | None) -> None:
    """Raise ConfigError if a launcher of the command makes each of several machines the first one of its own run."""
    if (replicas or 1) < 2 or _SHARED.search(command):
        return
    parts = texts(command)
    for place, part in enumerate(parts):
        words = _bare(split(part))
        launcher = _launcher(words)
        if launcher and not _has_rendezvous(words):
            joined = "".join([*parts[:place], _joined(part, launcher), *parts[place + 1 :]])
            raise ConfigError(
                f"{launcher} makes each of the {replicas} machines the first of its own run",
                why=_BY_SSH_ALONE if launcher in _BY_SSH else f"without more words it trains {replicas} times",
                fix=f"slipway run --replicas {replicas} {shlex.quote(joined)}",
            )


def _launcher(words: Sequence[str]) -> str:
    """Return the launcher that a command begins with; empty for none."""
    program = PurePosixPath(next(iter(words), "")).name
    if program.startswith("python") and "-m" in words[1:2]:
        return _BY_MODULE.get("".join(words[2:3]), "")
    return program if program in _LAUNCHERS else ""


def _has_rendezvous(words: Sequence[str]) -> bool:
    """Return whether the machines of a launcher meet at a fixed address, where each of them gets its rank."""
    text = " ".join(words)
    return "--standalone" not in words and all(option.search(text) for option in _RENDEZVOUS)


def _joined(part: str, launcher: str) -> str:
    """Return a part of a command with the words that are right on several machines: those of torchrun for launchers
    without any. What stands before and behind stays as it is written."""
    found = _BEFORE_LAUNCHER.match(part)
    start = found.end() if found else 0
    before, text, space = part[:start], part[start:].rstrip(), part[len(part.rstrip()) :]
    if re.match(r"accelerate\s+launch\b", text):
        processes = "".join(_PROCESSES.findall(text)) or "1"
        own = f"{_ACCELERATE} --num_processes $(({processes} * WORLD_SIZE))"
        rest = _without(_PROCESSES, text.partition("launch")[2])
        return f"{before}accelerate launch {own} {rest}{space}"
    if launcher == "torchrun":
        rest = _without(_OWN_NODES, _TORCHRUN.sub("", text))
        return f"{before}torchrun {_MEETING} {rest}{space}"
    script = _SCRIPT.search(text)
    rest = script[0] if script else "train.py"
    return f"{before}torchrun {_MEETING} --nproc-per-node gpu {rest}{space}"


def _without(flags: re.Pattern[str], text: str) -> str:
    return re.sub(rf"(?:{flags.pattern})\s*", "", text).strip()


def _bare(words: list[str]) -> list[str]:
    """Return a command without variables and programs before its own program."""
    return list(dropwhile(_BEFORE.fullmatch, words))


class _Needs:
    """Needs of a command, checked against a machine's image and the listed packages."""

    def __init__(
        self, packages: FolderPackages, here: Machine, others: Sequence[Machine], installed: Installed
    ) -> None:
        self._packages, self._here, self._others, self._installed = packages, here, others, installed
        lines = [line.removeprefix(CONSTRAINT) for line in packages.lines]
        named = list(filterfalse(_OPTION_OR_ADDRESS.match, lines))
        self._listed = set(map(normal, named)) - packages.not_installed.keys()
        #: No package is listed by its address alone, which does not tell its name.
        self.are_known = not any(map(_ADDRESS.match, lines))

    def modules(self, imported: Mapping[str, str], files: Mapping[str, bytes]) -> Iterator[str]:
        """Yield a line for the modules that the machine does not have; `imported` has the file that imports each."""
        missing = list(filterfalse(self._has, imported))
        for place, modules in _grouped(missing, self._place):
            shown = ", ".join(f"{module} (by {imported[module]})" for module in modules[:_MOST])
            more = f" and {len(modules) - _MOST} more" if len(modules) > _MOST else ""
            better = (machine for machine in self._others if machine.modules.issuperset(modules))
            fix = f"{self._list_them(list(map(self._package, modules[:_MOST])), files)}{_or(better)}"
            yield f"! {shown}{more}{self._why(place, len(modules))}: {fix}"

    def _place(self, module: str) -> str:
        """Return where a module's package is listed and not installed; empty for a module in no list."""
        return self._packages.not_installed.get(normal(self._package(module)), "")

    def _why(self, place: str, count: int) -> str:
        are, them = ("is", "it") if count == 1 else ("are", "them")
        if place.startswith("`"):
            return f" {are} only in {place}, as no dependency requires {them}, and not installed"
        if place:
            return f" {are} only in {place}, which is not installed"
        return f": imported, in no list of packages, and image {self._here.image} is not known to have {them}"

    def program(self, words: Sequence[str], files: Mapping[str, bytes]) -> Iterator[str]:
        """Yield a line for the program of a command that the machine does not have."""
        program = next(iter(words), "")
        lead = f"! {program}: image {self._here.image} has no such program"
        if program in OF_GPUS and not self._here.has_gpu:
            better = (machine for machine in self._others if machine.has_gpu)
            yield f"! {program}: the machine has no GPU{_or(better, ': ')}"
        if program in OF_OTHERS:
            yield f"{lead}: {OF_OTHERS[program]}"
        if program in _ENVIRONMENTS - self._listed:
            rest = without_runner(words) or "the command alone"
            yield f"{lead}: {rest}, as the folder's packages are installed before it starts"
        yield from self._python(program)
        yield from _environment(words)
        yield from self._of_package(program, lead, files)

    def _python(self, program: str) -> Iterator[str]:
        """Yield a line for another version of Python than the image's."""
        found = _PYTHON.fullmatch(program)
        if found and self._here.python and found[1] != self._here.python:
            yield f"! {program}: image {self._here.image} has Python {self._here.python}: python"

    def _of_package(self, program: str, lead: str, files: Mapping[str, bytes]) -> Iterator[str]:
        """Yield a line for a program that a package brings which is not listed."""
        package = PACKAGES.get(program, "")
        module = package.replace("-", "_")
        if package and not self._has(module):
            better = (machine for machine in self._others if module in machine.modules)
            yield f"{lead}: {self._list_them([package], files)}{_or(better)}"

    def _has(self, module: str) -> bool:
        """Return whether the machine has a module, or may have it."""
        if module in self._here.modules:
            return True
        bringing = self._installed(module)
        if not self._listed.isdisjoint(bringing):
            return True
        if self._is_optional(module):
            return False
        if self._packages.is_whole:
            return not bringing and not is_known_missing(module, self._listed)
        return may_be_brought(module, self._listed)

    def _is_optional(self, module: str) -> bool:
        """Return whether a module's own package is listed where no job installs it, and nowhere else."""
        package = normal(self._package(module))
        return package in self._packages.not_installed and package not in self._listed

    def _package(self, module: str) -> str:
        """Return the package that brings a module: on this machine, or as far as is known by its name."""
        return next(iter(sorted(self._installed(module))), package_of(module))

    def _list_them(self, names: Sequence[str], files: Mapping[str, bytes]) -> str:
        file = self._packages.file
        is_used = bool(self._packages.lines) or file in files
        return adding(files, file if is_used else REQUIREMENTS, names)


def _environment(words: Sequence[str]) -> Iterator[str]:
    """Yield a line for an environment of conda, which no image has."""
    flags = takewhile(lambda word: word.startswith("-"), words[2:])
    is_named = words[1:2] == ["run"] and words[0] in OF_CONDA and not set(OF_ENVIRONMENTS).isdisjoint(flags)
    if is_named and (rest := without_runner(words)):
        lead = f"! {words[0]} run: no image has an environment of yours"
        yield f"{lead}: {rest}, as the folder's packages are installed before it starts"


def _grouped(names: Sequence[str], key: Callable[[str], str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each value of the key, and its names, in the order of the names."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(key(name), []).append(name)
    yield from groups.items()


def _or(machines: Iterable[Machine], before: str = ", or ") -> str:
    words = [machine.words for machine in machines]
    chosen = next(filter(None, words), "")
    return f"{before}{chosen}" if chosen else ""
