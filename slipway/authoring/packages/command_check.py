"""A look at a command before it is sent: modules and programs that its machine does not have, files that hide Python's
own modules, and launchers that would train on each machine by itself. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from slipway.authoring.packages.command_script import commands
from slipway.authoring.packages.folder_packages import REQUIREMENTS, FolderPackages
from slipway.authoring.packages.imported_modules import outer_modules, shadowing
from slipway.authoring.packages.project_file import PROJECT, normal
from slipway.authoring.packages.slipway_start import OF_GPUS, PACKAGES, RUNNERS, without_runner
from slipway.base.errors import ConfigError
from slipway.base.formatting import join
from slipway.model.machines.image_modules import may_be_brought, modules_of, package_of

_MOST = 5
_SHARED = re.compile(r"RANK\b|WORLD_SIZE|MASTER_(?:ADDR|PORT)|CLUSTER_SPEC|TF_CONFIG|NNODES\b|PET_")
"""What a command names that lets the machines of a job find each other."""
_MEETING = "--nnodes $WORLD_SIZE --node-rank $RANK --master-addr $MASTER_ADDR --master-port $MASTER_PORT"
_ACCELERATE = (
    "--num_machines $WORLD_SIZE --machine_rank $RANK --main_process_ip $MASTER_ADDR --main_process_port $MASTER_PORT"
)
_PROCESSES = re.compile(r"--num[_-]processes[= ](\d+)")
_ALONE = ("accelerate", "axolotl", "colossalai", "composer", "deepspeed", "fabric", "horovodrun", "lightning")
_BY_SSH = ("mpiexec", "mpirun", "orterun", "horovodrun", "deepspeed")
_BY_SSH_ALONE = "it reaches other machines by ssh, which Vertex AI does not offer"
_TORCH_MODULES = ("torch.distributed.run", "torch.distributed.launch")
_OWN_NODES = re.compile(r"--(?:standalone|nnodes(?:=\S+)?)")


@dataclass(frozen=True)
class Machine:
    """A machine that a command can run on: its prebuilt image, and the words that choose it."""

    image: str
    framework: str
    has_gpu: bool
    words: str = ""

    @property
    def modules(self) -> frozenset[str]:
        return modules_of(self.framework)


def lacking(
    files: Mapping[str, bytes], command: str, packages: FolderPackages, here: Machine, others: Sequence[Machine]
) -> Iterator[str]:
    """Yield a line for the modules, and one for each program, that neither the image nor the listed packages have."""
    listed = [*_names(packages)]
    if "" not in listed and not _installs(command):
        yield from _modules(files, command, packages, listed, here, others)
    for words in map(_bare, commands(command)):
        yield from _program(words, packages, listed, here, others)


def hidden(files: Mapping[str, bytes], command: str) -> Iterator[str]:
    """Yield a line for the files that hide modules of Python from the command."""
    if names := shadowing(files, command):
        some = ", ".join(names[:_MOST])
        yield f"! {some}: Python imports it in place of its own module of that name: rename it"


def require_joined(command: str, replicas: int | None) -> None:
    """Raise ConfigError if a launcher of the command makes each of several machines the first one of its own run."""
    if (replicas or 1) < 2 or _SHARED.search(command):
        return
    for words in map(_bare, commands(command)):
        launcher = _launcher(words)
        if launcher:
            raise ConfigError(
                f"{launcher} makes each of the {replicas} machines the first of its own run",
                why=_BY_SSH_ALONE if launcher in _BY_SSH else f"without more words it trains {replicas} times",
                fix=f"slipway run --replicas {replicas} {shlex.quote(_joined(words, launcher))}",
            )


def _launcher(words: Sequence[str]) -> str:
    """Return the launcher that a command begins with; empty for none."""
    program = PurePosixPath(words[0]).name if words else ""
    if program == "torchrun" or program in _ALONE or program in _BY_SSH:
        return program
    started = words[2] if program.startswith("python") and words[1:2] == ["-m"] and len(words) > 2 else ""
    if started in _TORCH_MODULES:
        return "torchrun"
    return "accelerate" if started.startswith("accelerate.commands.launch") else ""


def _joined(words: Sequence[str], launcher: str) -> str:
    """Return the words that are right on several machines: those of torchrun for launchers without any."""
    if launcher == "accelerate" and words[1:2] == ["launch"]:
        rest = _text(words[2:])
        given = _PROCESSES.search(rest)
        processes = given[1] if given else "1"
        others = " ".join(_PROCESSES.sub("", rest).split())
        return f"accelerate launch {_ACCELERATE} --num_processes $(({processes} * WORLD_SIZE)) {others}"
    if launcher == "torchrun":
        rest = _text(words[3:] if words[1:2] == ["-m"] else words[1:])
        return f"torchrun {_MEETING} {' '.join(_OWN_NODES.sub('', rest).split())}"
    script = next((place for place, word in enumerate(words) if word.endswith(".py")), None)
    rest = _text(words[script:]) if script is not None else "train.py"
    return f"torchrun {_MEETING} --nproc-per-node gpu {rest}"


def _text(words: Sequence[str]) -> str:
    return " ".join(map(shlex.quote, words))


def _bare(words: list[str]) -> list[str]:
    """Return a command without variables and programs before its own program."""
    for place, word in enumerate(words):
        if word not in ("env", "exec", "time", "nohup") and not re.match(r"[A-Za-z_]\w*=", word):
            return words[place:]
    return []


def _names(packages: FolderPackages) -> Iterator[str]:
    """Yield the normal names of the listed packages; an empty one for a package without a name."""
    for line in packages.lines:
        bare = line.removeprefix("--constraint ")
        if not bare.startswith("-"):
            has_name = "://" not in bare or " @ " in bare
            yield normal(bare) if has_name else ""


def _installs(command: str) -> bool:
    return re.search(r"\b(?:pip3?|uv|conda|mamba|poetry)\b.*\b(?:install|sync|add)\b", command) is not None


def _modules(
    files: Mapping[str, bytes],
    command: str,
    packages: FolderPackages,
    listed: Sequence[str],
    here: Machine,
    others: Sequence[Machine],
) -> Iterator[str]:
    outer = outer_modules(files, command, packages.code)
    missing = {
        module: file
        for module, file in outer.items()
        if module not in here.modules and not may_be_brought(module, listed, is_whole=packages.is_whole)
    }
    if missing:
        shown = ", ".join(f"{module} (by {file})" for module, file in [*missing.items()][:_MOST])
        more = f" and {len(missing) - _MOST} more" if len(missing) > _MOST else ""
        with_all = [machine for machine in others if missing.keys() <= machine.modules]
        names = [package_of(module) for module in missing]
        yield (
            f"! {shown}{more}: imported, in no list of packages, and image {here.image} is not known to have "
            f"{'it' if len(missing) == 1 else 'them'}: {_list_them(names[:_MOST], files, packages)}{_or(with_all)}"
        )


def _program(
    words: Sequence[str], packages: FolderPackages, listed: Sequence[str], here: Machine, others: Sequence[Machine]
) -> Iterator[str]:
    program = words[0] if words else ""
    lead = f"! {program}: image {here.image} has no such program"
    if program in RUNNERS[:-3] and program not in listed:
        rest = without_runner(words) or "the command alone"
        yield f"{lead}: {rest}, as the folder's packages are installed before it starts"
    elif program in OF_GPUS and not here.has_gpu:
        with_gpu = [machine for machine in others if machine.has_gpu]
        yield f"! {program}: the machine has no GPU{_or(with_gpu, ': ')}"
    elif program in PACKAGES:
        package = PACKAGES[program]
        module = package.replace("-", "_")
        if module not in here.modules and not may_be_brought(module, listed, is_whole=packages.is_whole):
            with_it = [machine for machine in others if module in machine.modules]
            yield f"{lead}: {_list_them([package], {}, packages)}{_or(with_it)}"


def _list_them(names: Sequence[str], files: Mapping[str, bytes], packages: FolderPackages) -> str:
    file = packages.file if packages.lines or packages.file in files else REQUIREMENTS
    again = ", and uv lock" if packages.is_whole and file == PROJECT else ""
    return f"list {join(names)} in {file}{again}"


def _or(machines: Sequence[Machine], before: str = ", or ") -> str:
    named = next((machine for machine in machines if machine.words), None)
    return f"{before}{named.words}" if named else ""
