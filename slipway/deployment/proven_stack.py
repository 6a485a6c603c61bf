"""What is asked for: a stack and its templates, each proven against what the stack has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slipway.deployment.publication import draws
from slipway.quota import OfferDraw, drawn
from slipway.stack import Stack
from slipway.template.job_template import JobTemplate
from slipway.template.load import load
from slipway.template.proof import Placement, prove_all


@dataclass(frozen=True)
class ProvenStack:
    """`templates` and their `placements` by name; `offers` are what they draw, `metrics` all quota that is drawn."""

    stack: Stack
    templates: Mapping[str, JobTemplate]
    placements: Mapping[str, tuple[Placement, ...]]
    offers: tuple[OfferDraw, ...]
    metrics: frozenset[str]


def prove_stack(stack: Stack, folder: Path) -> ProvenStack:
    """`folder` has the templates. Raises ConfigError for those that can't be read, or fit nowhere."""
    templates = {template.name: template for template in load(stack.templates, folder)}
    placements = prove_all(templates.values(), stack.clusters, region=stack.region, reservations=stack.reservations)
    offers = tuple(draw for name, template in templates.items() for draw in draws(template, placements[name]))
    return ProvenStack(stack, templates, placements, offers, drawn(stack.clusters, offers))
