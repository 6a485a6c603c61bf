"""The ids of resources that a program creates, as far as their arguments tell them before the resources exist.

A cluster's id is made from its network and its key. If a preview did not know them, it would show another cluster than
`up` creates, and leave out the rules about them.
"""

from __future__ import annotations

from typing import Any

import pulumi

from .id_forms import IDS, arguments_in
from .namesakes import noted
from .options import provider_of

_COMPUTE = "gcp:compute/"
_LINK = "https://www.googleapis.com/compute/v1/"
_OF_PROVIDER = ("project", "region")


async def predicted_id(output: Any, source: pulumi.Resource) -> str | None:
    """Return the value that an output of a resource will have; None if its arguments do not tell it."""
    declared = next((args for args in noted() if args.resource is source), None)
    if declared is None or declared.type_ not in IDS:
        return None
    outputs = vars(source)
    if output is not outputs.get("id") and output is not outputs.get("self_link"):
        return None
    form = IDS[declared.type_]
    parts: dict[str, str] = {}
    for argument in arguments_in(form):
        value = await _argument(declared, argument)
        if value is None:
            return None
        parts[argument] = value
    id_ = form.format_map(parts)
    is_link = output is outputs.get("self_link") and declared.type_.startswith(_COMPUTE)
    return f"{_LINK}{id_}" if is_link else id_


async def _argument(declared: pulumi.ResourceTransformationArgs, name: str) -> str | None:
    value: Any = declared.props.get(name)
    if value is None and name in _OF_PROVIDER:
        value = _of_provider(declared.opts, name)
    if not isinstance(value, pulumi.Output):
        return value if isinstance(value, str) and value else None
    if await value.is_known():
        known: str | None = await value.future()
        return known
    for source in await value.resources():
        predicted = await predicted_id(value, source)
        if predicted:
            return predicted
    return None


def _of_provider(options: pulumi.ResourceOptions, name: str) -> Any:
    provider = provider_of(options)
    value = vars(provider).get(name) if provider is not None else None
    return value or pulumi.Config("gcp").get(name)
