"""What to type to submit a job again, from the parameters that it records. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from slipway.catalog.lookup import standing
from slipway.catalog.model import Catalog, Offer, Parameter, Scalar, Template
from slipway.catalog.placeholders import render
from slipway.cloud.resources import CustomJob
from slipway.errors import ConfigError
from slipway.kinds import Kind
from slipway.labels import TEMPLATE_LABEL, capacity_type_label
from slipway.submission.parameters import resolve


@dataclass(frozen=True)
class RecoveredSubmission:
    """`values` of the parameters that the template takes, defaults too; `unknown` are those that the job does not
    record, or recorded as something that the template no longer takes. `offer` is the one that the job was sent by."""

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


def recover(catalog: Catalog, job: CustomJob) -> RecoveredSubmission | None:
    """None for a job of no template of this catalog, or sent by an offer that the template no longer has."""
    template, recorded = catalog.templates.get(job.labels.get(TEMPLATE_LABEL, "")), job.parameters
    if template is None:
        return None
    found = {} if recorded is None else {one.name: _value(one, recorded, template) for one in template.parameters}
    values = {name: value for name, value in found.items() if value is not None}
    unknown = tuple(one.name for one in template.parameters if one.name not in values)
    try:
        offers = standing(template, job.kind, values)
    except ConfigError:
        return None
    sent_by = (offer for offer in offers if offer.capacity_type == capacity_type_label(job.labels))
    return next((RecoveredSubmission(template, job.kind, offer, values, unknown) for offer in sent_by), None)


def _value(parameter: Parameter, recorded: Mapping[str, Scalar], template: Template) -> Scalar | None:
    """None for what the template no longer takes. What was added to it since then is at its default."""
    given = {parameter.name: render(recorded[parameter.name])} if parameter.name in recorded else {}
    try:
        return resolve(replace(template, parameters=(parameter,)), given).get(parameter.name)
    except ConfigError:
        return None
