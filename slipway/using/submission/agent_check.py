"""The allowance of AI agents, before a job is sent: what the jobs of agents have cost within a day, and may still cost.
An agent's yes counts within it alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import takewhile

from slipway.base.errors import PolicyError
from slipway.base.formatting import join
from slipway.google.jobs import VertexJob
from slipway.model.agents import AGENT, AgentAllowance
from slipway.model.capacity import PAID_ANYWAY, WEEK
from slipway.model.labels import AGENT_LABEL, STACK_LABEL, label_filter
from slipway.model.prices import Price
from slipway.using.context import Context
from slipway.using.jobs.cost import job_cost
from slipway.using.submission.costs import Spending, amount

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class AgentSpending:
    """The money of agents' jobs within a day: as spent, and as it may still be."""

    agent: str
    stack: str
    allowance: AgentAllowance | None
    #: USD of the jobs of the last 24 hours, each that has not ended until its time limit.
    today: Price

    def problem(self, costs: Spending) -> PolicyError | None:
        """Return the error where the agent may not answer for these costs."""
        allowance = self.allowance
        if allowance is None:
            return self._refused(costs, f"stack {self.stack} lets no agent spend anything (slipway:agents)", "")
        if others := sorted(costs.machines - {*allowance.machines}) if allowance.machines else []:
            allowed = join(allowance.machines, "or")
            return self._refused(costs, f"it takes {join(others)}; agents may take {allowed} (slipway:agents.machines)")
        total = self.today + costs.most
        if total.complete and total.known <= Decimal(str(allowance.per_day)):
            return None
        most = amount(Price(costs.most.known, costs.most.complete)) if not costs.most.unknown else "an unknown sum"
        spent = f"agents' jobs of 24 hours take {amount(self.today)}" if self.today != Price() else ""
        limit = f"${allowance.per_day:,.2f} a day are allowed (slipway:agents.perDay)"
        return self._refused(costs, "; ".join(filter(None, (f"it may cost {most} until its time limit", spent, limit))))

    def _refused(self, costs: Spending, why: str, less: str = ", or a shorter --max-run") -> PolicyError:
        return PolicyError(
            f"nothing was sent: agent {self.agent} may not answer for {costs.what}",
            why=why,
            fix=f"take a pool{less}; or have a person send it, without {AGENT}",
        )


def spent_by_agents(jobs: Iterable[VertexJob], now: datetime) -> Price:
    """Return what the jobs of agents cost beside the pools, of those of 24 hours. Jobs come newest first. Pure."""
    total = Price()
    for job in takewhile(lambda job: job.create_time is None or now - job.create_time <= _DAY, jobs):
        if job.capacity_type in PAID_ANYWAY:
            continue
        cost = job_cost(job, job.region, now)
        if job.ended:
            total += cost.cost or Price()
        else:
            total += cost.per_hour * (Decimal(str(job.timeout or WEEK)) / 3600)
    return total


def require_allowed(context: Context, costs: Spending) -> None:
    """Raise PolicyError where an agent sends what costs more than agents may spend; and CloudError."""
    if not (agent := context.agent):
        return
    catalog = context.catalog
    wanted = f"{label_filter({STACK_LABEL: catalog.identity.label})} AND labels.{AGENT_LABEL}:*"
    jobs = context.vertex.jobs_of_every_kind(wanted) if catalog.agents else ()
    today = spent_by_agents(jobs, context.now)
    if problem := AgentSpending(agent, catalog.stack, catalog.agents, today).problem(costs):
        raise problem
