"""Other machines and capacity types for some values of a template's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slipway.template.parameter import Value
from slipway.template.worker_pool import WorkerPool


@dataclass(frozen=True)
class Variant:
    """Stands when each parameter of `when` has its value, or one of its values; of several, the first one does.

    The parameters have choices, or are bool. Empty `worker_pools` or `capacity_types` are the template's own.
    `refusal` says why these values do not go together: then nothing can run, which a submission hears before anything
    is sent.
    """

    when: Mapping[str, Value | tuple[Value, ...]]
    worker_pools: tuple[WorkerPool, ...] = ()
    capacity_types: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def values(self) -> Mapping[str, tuple[Value, ...]]:
        return {name: value if isinstance(value, tuple) else (value,) for name, value in self.when.items()}
