"""The confirmation of costs before a job is sent, by a person or, within its allowance, by an agent."""

from __future__ import annotations

from typing import Protocol

from slipway.using.context import Context
from slipway.using.submission.costs import Spending


class Asking(Protocol):
    def confirm(self, costs: Spending) -> None:
        """Ask for a confirmation. Raises PolicyError where nobody can be asked, and KeyboardInterrupt where the answer
        is no."""


def confirm(context: Context, show: Asking, costs: Spending) -> None:
    """Have costs confirmed. Raises the errors of `show`, PolicyError for an agent that may not answer for them, and
    CloudError."""
    if context.agent:
        from slipway.using.submission.agent_check import require_allowed  # Most submissions do without its import.

        require_allowed(context, costs)
    show.confirm(costs)
