"""A submission as it was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slipway.model.catalog.parameter_types import Typed
from slipway.using.submission.request import RequestOverrides


@dataclass(frozen=True)
class SubmissionRequest:
    """A submission as it was asked for."""

    template: str
    #: Values as typed.
    params: Mapping[str, Typed] = field(default_factory=dict)
    #: None for the template's first.
    capacity_type: str | None = None
    #: `cluster/pool`, whose offer alone is taken; empty for any.
    pool: str = ""
    #: None for the template's first.
    kind: str | None = None
    #: Seconds by capacity type until the next type is taken; for flex-start 0 is forever.
    waits: Mapping[str, float] = field(default_factory=dict)
    #: The types after those that are waited for, in place of the template's order.
    then: tuple[str, ...] = ()
    overrides: RequestOverrides = field(default_factory=RequestOverrides)
    team: str = ""
    #: The regions where it waits at once for machines, all of the stack's where there are none; None for no race.
    race: tuple[str, ...] | None = None
    #: Those of the call from Python in which parameters stand beside them.
    arguments: tuple[str, ...] = ()
