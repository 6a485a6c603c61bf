"""Spending of an AI agent that no person confirms, and how a job tells that an agent sent it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Annotated

from slipway.base.codec import Form
from slipway.base.formatting import join

_Usd = Annotated[float, Form(lambda amount: 0 <= amount < inf, "an amount")]
AGENT = "SLIPWAY_AGENT"
"""The variable by which an agent tells its name."""


@dataclass(frozen=True)
class AgentAllowance:
    """The limits of a stack file. Beyond them no yes of an agent counts."""

    #: USD that jobs of all agents together may cost within 24 hours, beside the pools.
    per_day: _Usd
    #: The machine types that these may have; any where there are none.
    machines: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The allowance as text: `$50.00 a day on n1-standard-8`"""
        machines = f" on {join(self.machines, 'or')}" if self.machines else " on machines of any type"
        return f"${self.per_day:,.2f} a day{machines}"
