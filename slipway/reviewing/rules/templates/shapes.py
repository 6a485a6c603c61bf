"""A template's shapes before and after: machines that its jobs get or lose are told once for all capacity types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from slipway.model.catalog.template import Offer
from slipway.model.findings.finding import Grade
from slipway.model.machines.spec import MachineSpec
from slipway.reviewing.change.usual import Offers, whose
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import say
from slipway.reviewing.rules.templates.usage import TemplateChange, facts, is_case
from slipway.reviewing.rules.templates.waits import behind, next_way, paid

ShapeChange = tuple[Consequence, tuple[str, ...]]
"""A shape that jobs get or lose, with the labels of all its offers."""


def shapes_added(template: TemplateChange, before: Offers, after: Offers) -> Iterator[ShapeChange]:
    """Find shapes that are tried after others and can be had; others are told as offers."""
    for labels in _only_in(after, before):
        offers = [after[label] for label in labels if after[label].available]
        first = after[labels[0]]
        sooner = {*takewhile(labels[0].__ne__, after)}
        earlier = [each for label, each in after.beside(first).items() if label in sooner]
        if offers and earlier:
            less = less_memory(offers[0], earlier)
            told = template.tells(
                "shape-added",
                part=f"shape {offers[0].shape}{whose(offers, template.new)}",
                case=whose(offers, template.new),
                shape=offers[0].shape,
                so=facts(paid(template, replace(offers[0], shape="")), less),
                grade=Grade.WARNING if less else None,
            )
            yield told, labels


def shapes_gone(template: TemplateChange, before: Offers, after: Offers) -> Iterator[ShapeChange]:
    """Find shapes that jobs lose while they keep others."""
    for labels in _only_in(before, after):
        first = before[labels[0]]
        left = [each for each in after.beside(first).values() if each.available]
        if not left:
            continue
        shape, when = first.shape, first.when
        could = any(before[label].available for label in labels)
        told = template.tells(
            "shape-gone",
            part=f"shape {shape}{whose([first], template.old)}",
            case=whose([first], template.old),
            shape=shape,
            could=could,
            so=next_way(template, behind(labels[0], before, after)) if could else "",
            used=template.used.having(lambda job, shape=shape, when=when: job.shape == shape and is_case(job, when)),  # type: ignore[misc]
            grade=None if could else Grade.NOTE,
        )
        yield told, labels


def _only_in(some: Offers, others: Offers) -> Iterator[tuple[str, ...]]:
    """Yield the labels of each shape that jobs have on one side alone, where they have other machines on both."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for label, offer in some.items():
        if offer.shape:
            groups.setdefault((offer.kind, repr(offer.when), offer.shape), []).append(label)
    for labels in groups.values():
        offer = some[labels[0]]
        rivals = others.beside(offer).values()
        if rivals and not any(each.shape == offer.shape for each in rivals):
            yield tuple(labels)


def less_memory(offer: Offer, earlier: list[Offer]) -> str:
    """Return that the GPUs of an offer have less memory than those of all before it, or that it alone has none."""
    memory, least = _gpu_memory(offer), min(map(_gpu_memory, earlier))
    return say("gpus-smaller", memory=memory, least=least) if memory < least else ""


def _gpu_memory(offer: Offer) -> int:
    machines = [MachineSpec.read(pool) for pool in offer.worker_pools if pool]
    return min((machine.gpu_memory_gb for machine in machines if machine.gpus), default=0)
