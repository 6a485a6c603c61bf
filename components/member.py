"""A component as a composition sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

import pulumi

Kind = Literal["workspace", "cluster", "template", "quota", "catalog"]


class Member(pulumi.ComponentResource):
    """A component of a composition."""

    kind: ClassVar[Kind]
    #: The name by which Slipway identifies it: the former one, if its aliases or a parent's tell one.
    name: str
    #: Its class and the name that the program has for it, for messages.
    title: str
    args: Any
    options: pulumi.ResourceOptions
    #: What `declare` returns.
    result: pulumi.Output[Any]
    #: Set when its children are declared.
    children: asyncio.Future[None]
    #: Its children for which clusters wait: what jobs need, and requests for quota.
    needed: list[pulumi.Resource]
    #: What it declares once the result is known.
    later: pulumi.Output[Any] | None = None
    #: The name by which people submit a template, and the folder with its file.
    template: str = ""
    folder: Path = Path("templates")
    #: File and line of the program that construct it.
    constructed_at: str = ""

    @property
    def protected(self) -> bool:
        """Tell whether the engine protects it: by its own options, or a parent's once it is constructed."""
        return bool(vars(self).get("_protect", self.options.protect))

    @property
    def workspaces(self) -> Iterator[Member]:
        """The workspaces that the arguments name, themselves or by their clusters and templates."""
        if self.kind == "workspace":
            yield self
        elif (named := getattr(self.args, "workspace", None)) is not None:
            yield named
        for key in ("clusters", "templates"):
            for part in getattr(self.args, key, None) or ():
                yield from part.workspaces
