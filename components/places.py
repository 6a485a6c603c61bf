"""Several workspaces in one program: the errors of one of them, and the words for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy

from slipway.base.errors import ResourceError, SlipwayError
from slipway.base.formatting import counted, join

from .group import Group
from .member import Member


def called(group: Group) -> str:
    """Return the name of a group in messages: its workspace and its region."""
    if group.workspace is None:
        return f"the part without a workspace ({group.region})"
    return f"workspace {group.workspace.pulumi_resource_name} ({group.region})"


def of_one(group: Group, error: SlipwayError, groups: Collection[Group]) -> SlipwayError:
    """Return the error with the group's name if there are several."""
    if len(groups) < 2:
        return error
    named = copy(error)
    named.what = f"{called(group)}: {error.what}"
    return named


def left_as_it_is(group: Group) -> str:
    return (
        f"{called(group)} can't be deployed now: nothing of it is created, changed or deleted. The other workspaces "
        "are deployed, and then the command fails with the reason. Deletions wait for the next deployment of all"
    )


def depends_on(group: Group, awaited: Member) -> SlipwayError:
    """Return the error of a group that waits for a component which is not deployed."""
    return ResourceError(
        f"{called(group)}: it depends on {awaited.title}, which can't be deployed now",
        why="the options of its components name that one (depends_on, parent or provider)",
        fix="deploy again when the other workspace can be deployed, or remove the dependency",
    )


def together(errors: Sequence[SlipwayError]) -> SlipwayError:
    """Return the errors of several workspaces as one."""
    if len(errors) == 1:
        return errors[0]
    return ResourceError(
        f"{counted(len(errors), 'workspace')} can't be deployed",
        why="\n".join(f"{error.what}: {error.why}" if error.why else error.what for error in errors),
        fix=join(dict.fromkeys(error.fix for error in errors)),
    )
