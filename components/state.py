"""Asks the engine what it knows of this stack, which it tells before anything is declared."""

from __future__ import annotations

import pulumi

from slipway.live import Unknown
from slipway.state import State, read

_FUNCTION = "pulumi:pulumi:readStackResourceOutputs"
_DIY = "organization"  # what backends without organizations say; the older ones of them know bare names alone


def known() -> State | Unknown:
    """The stack's state, from whatever backend. Where it can't be told, why; never as if it were empty."""
    stack, organization = pulumi.get_stack(), pulumi.get_organization()
    name = stack if organization == _DIY else f"{organization}/{pulumi.get_project()}/{stack}"
    try:
        answer = pulumi.runtime.invoke(_FUNCTION, {"stackName": name}).value
        return read(answer["outputs"])
    except Exception as problem:  # what Pulumi raises has no type of its own
        return Unknown(str(problem), f"the engine ({_FUNCTION})", "a Pulumi of at least 3.259")
