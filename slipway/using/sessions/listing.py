"""Sessions that have not ended, with what they hold, what they run, and when they end by themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from slipway.base.formatting import join, span
from slipway.model.labels import AGENT_LABEL
from slipway.model.machines.table import all_accelerators
from slipway.using.context import Context
from slipway.using.jobs.cost import JobCost, job_cost
from slipway.using.sessions.session import LastRun, Session, last_run

_AT_ONCE = 8


@dataclass(frozen=True)
class SessionRow:
    session: Session
    last: LastRun
    account: JobCost
    now: datetime

    @property
    def holds(self) -> str:
        """Return `8 H100`, or `2 n1-standard-8` where its machines have no accelerators."""
        models = {accelerator.name: accelerator.model for accelerator in all_accelerators()}
        held = Counter[str]()
        for group in self.session.job.machines:
            machine = group.machine
            what = models.get(machine.accelerator, machine.accelerator) if machine.accelerator else machine.type
            held[what] += group.count * (machine.accelerator_count if machine.accelerator else 1)
        return join(f"{count} {what}" for what, count in held.items())

    @property
    def agent(self) -> str:
        """The agent that started it in its user's place; empty for a person."""
        return self.session.job.labels.get(AGENT_LABEL, "")

    @property
    def age(self) -> float | None:
        """The seconds since it has its machines."""
        began = self.session.job.start_time
        return None if began is None else (self.now - began).total_seconds()

    @property
    def runs(self) -> str:
        """Return `run 2: python train.py`, `idle for 4 min`, or `ends as ada stopped it`."""
        if self.last.closed:
            return f"ends {self.last.closed}"
        if self.last.goes_on and self.last.request:
            return f"run {self.last.number}: {self.last.request.command}"
        return "–" if self.idle is None else f"idle for {span(self.idle)}"

    @property
    def idle(self) -> float | None:
        """The seconds without a run; None while it runs or ends, and before it has machines."""
        since = self.last.ended or self.session.job.start_time
        if since is None or self.last.goes_on or self.last.closed:
            return None
        return max(0.0, (self.now - since).total_seconds())

    @property
    def end(self) -> datetime | None:
        """The time when it ends by itself, if nothing more is sent; None before it has its machines."""
        began = self.session.job.start_time
        if began is None:
            return None
        if self.last.closed:
            return self.now
        latest = began + timedelta(seconds=self.session.longest)
        if self.idle is None:
            return latest
        return min(latest, self.now + timedelta(seconds=self.session.idle - self.idle))

    @property
    def ends(self) -> str:
        if self.end is None:
            return "–"
        if self.last.closed:
            return "now"
        return f"in {span(max(0.0, (self.end - self.now).total_seconds()))}"

    @property
    def document(self) -> dict[str, Any]:
        cost, job = self.account.cost, self.session.job
        return {
            "name": self.session.name,
            "job": job.name,
            "user": job.user,
            "agent": self.agent or None,
            "state": job.job_state,
            "holds": self.holds,
            "since": job.start_time,
            "usd": None if cost is None or cost.unknown else str(cost.known),
            "run": self.last.number or None,
            "command": self.last.request.command if self.last.goes_on and self.last.request else None,
            "idleSeconds": self.idle,
            "ends": self.end,
        }


def session_rows(context: Context, sessions: Iterable[Session], now: datetime) -> tuple[SessionRow, ...]:
    """Return how far sessions are. Raises CloudError."""
    storage = context.connection.storage

    def row(session: Session) -> SessionRow:
        account = job_cost(session.job, session.job.region, now)
        return SessionRow(session, last_run(storage, session), account, now)

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="sessions") as threads:
        return tuple(threads.map(row, sessions))
