"""The request for a session's job: its command, its label, its name."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from slipway.authoring.packages.slipway_exchange import LOOK_S
from slipway.base.errors import ConfigError, PolicyError
from slipway.base.formatting import join, quoted, seconds, span
from slipway.google.storage import Location
from slipway.model.capacity import POOL
from slipway.model.catalog.model import SessionLimits
from slipway.model.catalog.template import Template
from slipway.model.labels import NAME_LABEL, SESSION_LABEL
from slipway.using.context import Context
from slipway.using.sessions.session import active_sessions, command_of, last_run, place_of
from slipway.using.submission.own_settings import longest_run
from slipway.using.submission.submission_request import SubmissionRequest

IDLE = "20m"
NAME = "session"
_LONGEST_S = 8 * 3600.0
_MODULES = re.compile(r"[A-Za-z_][\w.]*(,[A-Za-z_][\w.]*)*")
_EARLIER_S, _EARLIER = 120.0, 0.1
"""A session ends so much before the service ends its job: seconds, and the most as a share of its time."""
IDLE_COST = Decimal("0.0000004") * int(86400 / LOOK_S)
"""USD a day, at most, for a replica's looks for requests: Cloud Storage's list price of reading an object of the
standard class. A look that finds nothing may be free."""


@dataclass(frozen=True)
class SessionPlan:
    """What a session's job is to be."""

    at: Location
    id: str
    #: Seconds, as for `Session`.
    idle: float
    longest: float
    preload: str = ""
    #: The only pools where it may run; None for any place.
    pools: tuple[str, ...] | None = None

    def asked(self, request: SubmissionRequest) -> SubmissionRequest:
        """Return the request of the session's job. Raises PolicyError for another pool than it may have."""
        if self.pools is not None and request.pool not in self.pools:
            elsewhere = request.capacity_type not in (None, POOL)
            if request.pool or elsewhere or len(self.pools) != 1:
                raise PolicyError(
                    f"sessions may run on {join(self.pools, 'or') or 'no pool'} alone",
                    why="slipway:sessions of the stack file says so",
                    fix=({"pool": self.pools[0]}, ", and no other capacity type" * elsewhere)
                    if self.pools
                    else "slipway run COMMAND, a job of its own",
                )
            request = replace(request, pool=self.pools[0])
        early = min(_EARLIER_S, _EARLIER * self.longest)
        command = command_of(self.at, self.idle, self.longest - early, self.preload)
        overrides = request.overrides
        labels: Mapping[str, str] = {NAME_LABEL: NAME, **overrides.labels, SESSION_LABEL: self.id}
        settings = replace(overrides.settings, max_run=int(self.longest))
        overrides = replace(overrides, labels=labels, settings=settings)
        return replace(request, params={**request.params, "command": command}, overrides=overrides)


def plan_session(
    context: Context,
    template: Template,
    id_: str,
    *,
    idle: str,
    max_run: str | None,
    preload: str,
    name: str | None,
    code: str | os.PathLike[str],
) -> SessionPlan:
    """Plan a session for the folder `code`. Raises ConfigError for a time or modules that can't be, and where one of
    that name goes on, PolicyError for one that is longer than the stack allows, and CloudError."""
    if preload and not _MODULES.fullmatch(preload):
        raise ConfigError(
            f"invalid modules {quoted(preload)}",
            why="names with commas between",
            fix=({"preload": "torch,transformers"},),
        )
    if own := _of_folder(preload, Path(os.fsdecode(code))):
        raise ConfigError(
            f"{join(own)} of the folder can't be preloaded",
            why="it would stay as it is now, whatever you edit",
            fix="name installed packages",
        )
    limits = context.catalog.sessions or SessionLimits()
    most = limits.max.total_seconds() if limits.max else math.inf
    longest = min(_LONGEST_S, most, longest_run(template.offers)) if max_run is None else seconds(max_run)
    if longest > most:
        raise PolicyError(
            f"a session may run {span(most)} at most, and {span(longest)} are asked for",
            why="slipway:sessions of the stack file says so",
            fix=({"max_run": f"{most / 60:.0f}m"},),
        )
    at = place_of(context.catalog.work_bucket, context.user, id_)
    name, storage = name or NAME, context.connection.storage
    others = (each for each in active_sessions(context) if each.name == name and each.at != at)
    if any(not last_run(storage, each).closed for each in others):
        raise ConfigError(
            f"you have a session called {name}",
            why="it holds its machine until it ends",
            fix=("slipway session run …, which uses it; slipway session stop; or ", {"job_name": f"{name}-2"}),
        )
    return SessionPlan(at, id_, min(seconds(idle), longest), longest, preload, limits.pools)


def _of_folder(preload: str, folder: Path) -> list[str]:
    """Return those of the modules that are the folder's own, or that one of its files hides."""
    tops = sorted({module.partition(".")[0] for module in preload.split(",")} - {""})
    return [top for top in tops if (folder / f"{top}.py").exists() or (folder / top / "__init__.py").exists()]
