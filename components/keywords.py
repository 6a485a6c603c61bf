"""Arguments of a component by keywords, as Pulumi's own resources take them: `Workspace("ml", submitters=[…])`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from typing import Any

import pulumi

from slipway.base.formatting import join

from .entries import ArgumentError


def arguments_of(kind: type, name: str, args: Any, opts: Any, given: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the arguments and the options of a component.

    `kind`: the class of its arguments; `args` and `opts`: the second and third positional argument, which may be
    options alone; `given`: the keywords. Raises ArgumentError for unknown, missing and repeated arguments.
    """
    who = f"{kind.__name__.removesuffix('Args')} {name}"
    if isinstance(args, pulumi.ResourceOptions) and opts is None:
        args, opts = None, args
    if args is None:
        _refuse_unfit_keywords(who, kind, given)
        return kind(**given), opts
    if given:
        raise ArgumentError(
            f"{who} has {kind.__name__} and the {_counted(given)}",
            why="an argument would have two values",
            fix=f"write all of them in {kind.__name__}(…), or all as keywords",
        )
    return args, opts


def _refuse_unfit_keywords(who: str, kind: Any, given: Mapping[str, Any]) -> None:
    known = {declared.name: declared for declared in fields(kind)}
    for keyword in given.keys() - known.keys():
        close = get_close_matches(keyword, known, 1)
        names = join(f"`{name}`" for name in close or known)
        raise ArgumentError(f"{who}: {keyword} is not a valid argument", fix=f"use {names}")
    for name, declared in known.items():
        if name not in given and declared.default is declared.default_factory is MISSING:
            raise ArgumentError(f"{who}: {name} is missing", fix=f"add `{name}=` to its arguments")


def _counted(given: Mapping[str, Any]) -> str:
    return f"keyword{'' if len(given) == 1 else 's'} {join(given)}"
