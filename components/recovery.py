"""The recovery of a program after its state was lost: Slipway imports what is its own, and a person the rest."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator

import pulumi

from slipway.base.errors import SlipwayError
from slipway.deploying.deployment.takeover import NameTakenError, imports_first, is_recovered
from slipway.google.live import Unknown

from .engine import EngineRun
from .import_commands import import_command
from .member import Member
from .namesakes import noted


def add_imports(error: SlipwayError, run: EngineRun) -> None:
    """Add the imports of the program's own resources to the error of an empty state under a name in use."""
    missing = list(_missing(run))
    if not isinstance(error, NameTakenError) or not missing:
        return
    error.fix = f"{error.fix}\n{_imports(missing, run)}"
    if not run.preview:
        error.why = (
            f"{error.why}\nPulumi may have created resources of the program's own already, as it creates them before "
            "Slipway decides; `pulumi preview` says all this and creates nothing"
        )


def warn_of_imports(run: EngineRun) -> None:
    """Warn at the beginning of a recovery of what Pulumi would create a second time."""
    if isinstance(run.state, Unknown) or run.is_deployed or not is_recovered(os.environ, run.identity()):
        return
    missing = list(_missing(run))
    if missing:
        pulumi.log.warn(_imports(missing, run))


def _missing(run: EngineRun) -> Iterator[pulumi.ResourceTransformationArgs]:
    """Yield the program's own resources that the state lacks."""
    known = frozenset[tuple[str, str]]() if isinstance(run.state, Unknown) else run.state.names
    for each in noted():
        is_own = isinstance(each.resource, pulumi.CustomResource) and not isinstance(each.opts.parent, Member)
        if is_own and not isinstance(each.resource, pulumi.ProviderResource) and (each.type_, each.name) not in known:
            yield each


def _imports(missing: list[pulumi.ResourceTransformationArgs], run: EngineRun) -> str:
    """Return what a person does about the missing resources."""
    commands = [import_command(each, run.name, run.project, run.region) for each in missing]
    return imports_first(commands, [each.name for each in missing if _is_nameless(each)])


def _is_nameless(args: pulumi.ResourceTransformationArgs) -> bool:
    """Tell whether the program leaves the name of a resource to Pulumi, of a type that takes one."""
    taken = getattr(type(args.resource), "_internal_init", None)
    takes_name = taken is not None and "name" in inspect.signature(taken).parameters
    return takes_name and args.props.get("name") is None
