"""A look at a command of a person's own and its folder, before anything is sent."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from slipway.authoring.packages.code_folder import CodeFolder
from slipway.authoring.packages.command_check import (
    Machine,
    hidden,
    lacking,
    replaced,
    require_joined,
    require_no_runner,
)
from slipway.authoring.packages.command_script import script_of
from slipway.authoring.packages.folder_check import about, require_named
from slipway.authoring.packages.folder_packages import FILES, FolderPackages, packages_of
from slipway.authoring.packages.imported_modules import outer_modules
from slipway.authoring.packages.installed_modules import InstalledModules
from slipway.authoring.packages.outdated_lock import outdated
from slipway.authoring.packages.own_modules import mistyped, require_own_modules
from slipway.authoring.packages.packing import runs_any_folder
from slipway.authoring.packages.python_versions import excluded_python
from slipway.authoring.packages.shell_check import literal_variables, masked_failures
from slipway.authoring.packages.working_tree import WorkingTree
from slipway.base.formatting import join
from slipway.model.catalog.template import Offer, Template, applying
from slipway.model.machines.image_modules import package_of
from slipway.model.machines.images import prebuilt
from slipway.using.submission.submission_request import SubmissionRequest

_MOST = 5


def check_commands(
    template: Template,
    asked: SubmissionRequest,
    source: CodeFolder,
    tree: WorkingTree,
    swept: Mapping[str, Collection[str | None]],
    tell: Callable[[str], None],
) -> str:
    """Check each command of a submission, as check_command does, and return the script that the first one starts; of
    the commands of a sweep the one that all start. `swept` has the values of each parameter that points of
    a sweep give, None for the other points."""
    scripts: list[str] = []
    said = _Once(tell)
    for parameter in template.parameters:
        if not parameter.command:
            continue
        usual = str(asked.params.get(parameter.name, parameter.default or ""))
        values = swept.get(parameter.name, (usual,))
        each = dict.fromkeys(usual if value is None else value for value in values)
        for place, command in enumerate(each):
            report = said.tell if place < _MOST else None
            check_command(template, asked, source, tree, command, report)
        started = set(map(script_of, each))
        scripts += started if len(started) == 1 else ()
    return next(filter(None, scripts), "")


class _Once:
    """Tells each line once: the commands of a sweep have many in common."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told = set[str]()

    def tell(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self._tell(line)


def check_command(
    template: Template,
    asked: SubmissionRequest,
    source: CodeFolder,
    tree: WorkingTree,
    command: str,
    tell: Callable[[str], None] | None,
) -> None:
    """Report what a command needs and its job lacks; without `tell`, only reject. Raises ConfigError for a command that
    can't run as it is meant."""
    require_named(tree, source.place, command)
    require_joined(command, asked.overrides.settings.replicas)
    packages = packages_of(tree.files, source.name, script_of(command))
    require_own_modules(tree.files, command, packages.code)
    here, others = machines(template, asked)
    if here:
        require_no_runner(command, packages, here)
    if tell is None:
        return
    lines = [*about(tree, source.place, command), *hidden(tree.files, command)]
    lines += masked_failures(command)
    lines += literal_variables(command)
    lines += mistyped(tree.files, command, packages.code)
    if packages.code:
        lines.append(f"modules also from {join(packages.code)}")
    lines += replaced(tree.files, packages)
    lines += outdated(tree.files, script_of(command))
    if here:
        script = script_of(command)
        lines += excluded_python(tree.files, script, packages.python, here.image, here.python)
        installed = InstalledModules(source.place, os.environ)
        lines += lacking(tree.files, command, packages, here, others, installed.packages_of)
    for line in lines:
        tell(line)


def check_program(template: Template, asked: SubmissionRequest, command: str, tell: Callable[[str], None]) -> None:
    """Tell which program a command without a folder needs and its job lacks. Raises ConfigError as `check_command`."""
    require_joined(command, asked.overrides.settings.replicas)
    here, others = machines(template, asked)
    lines = [*masked_failures(command), *literal_variables(command)]
    if here and runs_any_folder(template):
        lines += lacking({}, command, FolderPackages(), here, others)
    for line in lines:
        tell(line)


def image_needs(template: Template, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield a line for the packages that the command of a template's own image must find in that image."""
    tasks = (pool.get("containerSpec") or {} for offer in template.offers for pool in offer.worker_pools)
    commands = dict.fromkeys(shlex.join([*task.get("command", ()), *task.get("args", ())]) for task in tasks)
    modules = dict.fromkeys(module for command in commands for module in outer_modules(files, command))
    names = [*map(package_of, modules)]
    listing = next((name for name in FILES if name in files), "")
    ignored = f"{listing} is not installed: " if listing else ""
    if names:
        more = [f"{len(names) - _MOST} more"] if len(names) > _MOST else []
        needed = join([*names[:_MOST], *more])
        yield f"{ignored}the image of {template.name} must have {needed}: if it has not, install them in the image"
    elif ignored:
        yield f"{ignored}the image of {template.name} must have what its command needs"


def machines(template: Template, asked: SubmissionRequest) -> tuple[Machine | None, list[Machine]]:
    """Return the machine that a submission runs on, and those of the template's other choices; None for an image whose
    content is not known."""
    chosen = {parameter.name: asked.params.get(parameter.name, parameter.default) for parameter in template.parameters}
    usual = applying(template.offers, chosen, asked.team)
    here = {machine for offer in usual for machine in _of(offer, {})}
    others = [machine for offer in template.offers if offer not in usual for machine in _of(offer, chosen)]
    return (next(iter(here)) if len(here) == 1 else None), list(dict.fromkeys(others))


def _of(offer: Offer, chosen: Mapping[str, Any]) -> Iterator[Machine]:
    for pool in offer.worker_pools[:1]:
        task = pool.get("pythonPackageSpec") or {}
        image = prebuilt(str(task.get("executorImageUri", "")))
        if image:
            has_gpu = bool((pool.get("machineSpec") or {}).get("acceleratorType"))
            yield Machine(image.name, image.framework, has_gpu, _words(offer, chosen), image.python)


def _words(offer: Offer, chosen: Mapping[str, Any]) -> str:
    """Return the flags that choose an offer in place of the values that are chosen; empty without any."""
    flags: Iterable[tuple[str, Any]] = (
        (name, values[0]) for name, values in offer.when.items() if chosen and chosen.get(name) not in values
    )
    shown = {name: value if isinstance(value, str) else json.dumps(value) for name, value in flags}
    return " ".join(f"--{name} {value}" if name == "machine" else f"-p {name}={value}" for name, value in shown.items())
