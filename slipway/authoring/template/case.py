"""The cases of a template: the variant for each set of parameter values. Cases exclude each other, so that their order
does not matter to readers of the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from slipway.authoring.template.declaration import Declaration, Shape, Variant
from slipway.authoring.template.job_template import StackTemplate
from slipway.authoring.template.worker_pool import WorkerPool
from slipway.model.catalog.boxes import Box, common, without
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.catalog.template import OF_TEAM, case_in_words
from slipway.model.machines.spec import shape_name


@dataclass(frozen=True)
class Case:
    """A case of a template, on one of its shapes. No values of its parameters fit two cases but for their shapes."""

    #: The variant that applies; None for the template's own machines and capacity types.
    variant: Variant | None = None
    #: The condition: each of these parameters has one of its values. An empty one always holds.
    when: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    #: Its machines, where the case has several shapes.
    shape: Shape | None = None

    def worker_pools(self, template: Declaration) -> tuple[WorkerPool, ...]:
        if self.shape:
            return self.shape.worker_pools
        return (self.variant and self.variant.worker_pools) or template.worker_pools

    def capacity_types(self, template: Declaration) -> tuple[str, ...]:
        own = self.shape and self.shape.capacity_types
        return own or (self.variant and self.variant.capacity_types) or template.capacity_types

    def shapes(self, template: Declaration) -> tuple[Shape, ...]:
        """Return its shapes in order, its first machines included; none where it has these alone."""
        variant = self.variant
        others = variant.shapes if variant and (variant.shapes or variant.worker_pools) else template.shapes
        refused = variant is not None and variant.refusal
        return (Shape(self.worker_pools(template)), *others) if others and not refused else ()

    @property
    def shape_name(self) -> str:
        """The name of its shape; empty where it has no other."""
        return shape_name((pool.spec, pool.replicas) for pool in self.shape.worker_pools) if self.shape else ""

    @property
    def team(self) -> str:
        """The team whose submissions alone it is for; empty for those of all that have no such case."""
        return str(self.when.get(OF_TEAM, ("",))[0])

    def __str__(self) -> str:
        """Return `accelerator=L4, model=2b or 9b`, empty for a case that always applies."""
        return case_in_words(self.when)


def cases(template: Declaration) -> tuple[Case, ...]:
    """Return every case of a template: its variants by precedence, then its own machines and capacity types, and then
    the same of each team with other machines."""
    of_teams = (
        replace(
            case,
            variant=replace(case.variant or Variant({}), worker_pools=case.worker_pools(its)),
            when={OF_TEAM: (team,), **case.when},
        )
        for team, its in (template.teams if isinstance(template, StackTemplate) else {}).items()
        for case in _cases(its)
    )
    return (*_cases(template), *of_teams)


def _cases(template: Declaration) -> tuple[Case, ...]:
    chosen_by = dict.fromkeys(name for variant in template.variants for name in variant.when)
    everything: Box = {}
    for name in chosen_by:
        parameter = template.parameter(name)
        assert parameter is not None, "checked when the template was made"
        everything[name] = parameter.finite
    remaining = [everything]
    result: list[Case] = []
    for variant in (*template.variants, None):
        wanted = {**everything, **(variant.values if variant is not None else {})}
        boxes = [shared for box in remaining if (shared := common(box, wanted)) is not None]
        # Without conditions that always hold.
        result += [
            Case(variant, {name: values for name, values in box.items() if values != everything[name]}) for box in boxes
        ]
        remaining = [rest for box in remaining for rest in without(box, wanted)]
    return tuple(replace(case, shape=shape) for case in result for shape in case.shapes(template) or (None,))
