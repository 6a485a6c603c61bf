"""The parameters that a job was submitted with, read back out of its request by the template's placeholders. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from slipway.catalog.model import Catalog, Offer, Parameter, Scalar, Template
from slipway.errors import ConfigError
from slipway.kinds import Kind
from slipway.labels import REQUEST_LABEL, TEMPLATE_LABEL, capacity_type_label
from slipway.submission.parameters import render, resolve

_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")
_ESCAPED = re.compile(r"\$\$(?=\([A-Za-z_][A-Za-z0-9_]*\))")


@dataclass(frozen=True)
class RecoveredSubmission:
    """`values` of the parameters that could be read back, defaults too; `unknown` are the others, which the request
    does not tell. `offer` is the template's that the job was sent by."""

    template: Template
    kind: Kind
    offer: Offer
    values: Mapping[str, Scalar]
    unknown: tuple[str, ...]

    def words(self, **others: Scalar) -> list[str]:
        """What to type, without what is the default anyway: `["-p", "trees=500"]`; `…` for what is not known."""
        words: list[str] = []
        for one in self.template.parameters:
            value = others.get(one.name, self.values.get(one.name))
            if value is None and one.name in self.unknown:
                words += ["-p", f"{one.name}=…"]
            elif value is not None and value != one.default:
                words += ["-p", f"{one.name}={render(value)}"]
        return words


def recover(catalog: Catalog, kind: Kind, body: Mapping[str, Any]) -> RecoveredSubmission | None:
    """None for a job of no template of this catalog, or sent by an offer or on machines that the template has no
    more."""
    labels = body.get("labels", {})
    template = catalog.templates.get(labels.get(TEMPLATE_LABEL, ""))
    offers = () if template is None else template.offers
    for offer in offers:
        if (
            offer.capacity_type != capacity_type_label(labels)
            or offer.kind != kind.name
            or not _same_machines(offer, kind, body)
        ):
            continue
        texts: dict[str, set[str]] = {}
        for name, text in _found(offer.request, body, _built_in(kind, body)):
            texts.setdefault(name, set()).add(text)
        if template is not None and _stands(offer, texts):
            values = {one.name: _value(one, texts.get(one.name, set()), template, offer) for one in template.parameters}
            known = {name: value for name, value in values.items() if value is not None}
            return RecoveredSubmission(
                template, kind, offer, known, tuple(name for name in values if name not in known)
            )
    return None


def _stands(offer: Offer, texts: Mapping[str, set[str]]) -> bool:
    """Whether the values that were read are those of the offer's case."""
    return all(
        texts[name] <= {render(value) for value in wanted} for name, wanted in offer.when.items() if name in texts
    )


def _value(parameter: Parameter, texts: set[str], template: Template, offer: Offer) -> Scalar | None:
    """None where it can't be told: nowhere in the request alone in its text, or read as two different ones."""
    if not texts:
        chosen = offer.when.get(parameter.name)
        if chosen is not None:  # All of them make the same request.
            return parameter.default if parameter.default in chosen else chosen[0]
        return None if f"${{{parameter.name}}}" in str(offer.request) else parameter.default
    if len(texts) > 1:
        return None
    try:
        return resolve(replace(template, parameters=(parameter,)), {parameter.name: min(texts)})[parameter.name]
    except ConfigError:  # The template has changed since.
        return None


def _same_machines(offer: Offer, kind: Kind, body: Mapping[str, Any]) -> bool:
    return _machines(kind, offer.request) == _machines(kind, body)


def _machines(kind: Kind, body: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    specs = [one.get("machineSpec", {}) for one in kind.spec_of(body).get("workerPoolSpecs", ())]
    return [
        (one.get("machineType", ""), one.get("acceleratorType", ""), str(one.get("acceleratorCount", "")))
        for one in specs
    ]


def _built_in(kind: Kind, body: Mapping[str, Any]) -> dict[str, str]:
    """The values of the submission's own placeholders, as far as the job tells."""
    output = kind.spec_of(body).get("baseOutputDirectory", {}).get("outputUriPrefix", "")
    return {
        "slipway.job": body.get("displayName", ""),
        "slipway.request": body.get("labels", {}).get(REQUEST_LABEL, ""),
        "slipway.output": output,
    }


def _found(asked: Any, sent: Any, built_in: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each parameter with its text, wherever it is a text's only placeholder; two could be told apart wrongly."""
    if isinstance(asked, Mapping) and isinstance(sent, Mapping):
        for key, value in asked.items():
            yield from _found(value, sent.get(key), built_in)
    elif isinstance(asked, list) and isinstance(sent, list):
        for one, other in zip(asked, sent, strict=False):
            yield from _found(one, other, built_in)
    elif isinstance(asked, str) and isinstance(sent, str | int):
        parts = _PLACEHOLDER.split(_PLACEHOLDER.sub(lambda match: built_in.get(match[1], match[0]), asked))
        if len(parts) == 3:
            before, name, after = parts
            match = re.fullmatch(f"{re.escape(before)}(.*){re.escape(after)}", str(sent), re.DOTALL)
            if match:
                yield name, _ESCAPED.sub("$", match[1])
