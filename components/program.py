"""The program of a stack file: its entries as components' arguments, and the components one after another."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi

from slipway.authoring.stack.stack import Edit
from slipway.base.errors import SlipwayError

from .args import read
from .composition import begin
from .engine import configured, destroys, fail
from .job_template import JobTemplateArgs
from .persistent_resource import PersistentResourceArgs
from .quota_check import QuotaCheckArgs
from .stack import StackParts, compose
from .workspace import WorkspaceArgs

OUTPUTS = ("clusters", "retiring", "catalog", "work", "trainer")
"""The stack's outputs, which other programs read."""


@dataclass(kw_only=True)
class StackArgs(StackParts):
    """The declarations of a stack file, as arguments of components. A program may change them, and put Outputs in."""

    workspace: WorkspaceArgs = field(default_factory=WorkspaceArgs)


def declare(stack: StackArgs) -> None:
    """Declare a stack, and export what other programs read of it."""
    outputs = compose(stack).outputs
    for name in OUTPUTS:
        pulumi.export(name, outputs[name])


def deploy(
    file: str, stack: Edit | None = None, args: Callable[[StackArgs], StackArgs] = lambda declared: declared
) -> None:
    """Declare the stack that the engine names; for SLIPWAY_PURPOSE=destroy, take it down instead.

    `file` is the path of the `__main__.py`: stack files, templates and jobs are those beside it. `stack` takes the
    stack of the stack file and returns the one to declare, which is held to the same checks. `args` takes the arguments
    of the components and returns those to use, which may have Outputs. An error is shown to the person, and ends the
    program.
    """
    # By default the interpreter searches all of pulumi's objects for garbage, as it imports the rest and as it ends: a
    # quarter of the program's time. At this pace a preview is over before the first search.
    gc.set_threshold(500_000)
    atexit.register(gc.freeze)
    checkout = Path(file).resolve().parent
    try:
        if destroys():
            from .destruction import take_down

            take_down(checkout, stack)
            return
        composition = begin(checkout, everywhere=True)
        composition.file, _ = configured(checkout, stack)
        declare(args(_arguments(composition.file.values["config"])))
    except SlipwayError as error:
        fail(error)


def _arguments(config: Mapping[str, Any]) -> StackArgs:
    clusters, templates = (config.get(f"slipway:{key}") or () for key in ("persistentResources", "templates"))
    return StackArgs(
        workspace=read(WorkspaceArgs, config, "slipway:workspace"),
        clusters={name: read(PersistentResourceArgs, config, "slipway:persistentResources", name) for name in clusters},
        templates={name: JobTemplateArgs() for name in templates},
        quota=read(QuotaCheckArgs, config, "slipway:quota"),
        policy=config.get("slipway:policy"),
    )
