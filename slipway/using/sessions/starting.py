"""The request for a session's job: its command, its label, its name."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from slipway.authoring.packages.packing import runs_any_folder
from slipway.authoring.packages.slipway_exchange import LOOK_S
from slipway.base.errors import Arguments, ConfigError, PolicyError
from slipway.base.formatting import join, quoted, seconds, span
from slipway.google.storage import Location
from slipway.model.capacity import POOL
from slipway.model.catalog.model import SessionLimits
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import render
from slipway.model.catalog.template import OF_TEAM, Template, applying
from slipway.model.labels import NAME_LABEL, SESSION_LABEL
from slipway.using.context import Context
from slipway.using.sessions.session import active_sessions, command_of, last_run, place_of
from slipway.using.submission.order import pools_of
from slipway.using.submission.own_settings import longest_run
from slipway.using.submission.parameters import judged
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.team import team_of_submission

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
    preload: str
    context: Context
    template: Template
    #: The only pools where it may run; None for any place.
    pools: tuple[str, ...] | None

    def asked(self, request: SubmissionRequest) -> SubmissionRequest:
        """Return the request of the session's job. Raises PolicyError for another pool than it may have, and where it
        fits none of these."""
        early = min(_EARLIER_S, _EARLIER * self.longest)
        command = command_of(self.at, self.idle, self.longest - early, self.preload)
        overrides = request.overrides
        labels: Mapping[str, str] = {NAME_LABEL: NAME, **overrides.labels, SESSION_LABEL: self.id}
        settings = replace(overrides.settings, max_run=int(self.longest))
        overrides = replace(overrides, labels=labels, settings=settings)
        request = replace(request, params={**request.params, "command": command}, overrides=overrides)
        return request if self.pools is None else self._placed(request, self.pools)

    def _placed(self, request: SubmissionRequest, pools: tuple[str, ...]) -> SubmissionRequest:
        """Return the request on one of these pools. A fix names a machine too where none of them has the usual one."""
        if not pools:
            raise PolicyError(
                f"stack {self.context.catalog.stack} lets no session run",
                why="slipway:sessions of its stack file has an empty list of pools",
                fix="slipway run COMMAND, a job of its own",
            )
        elsewhere = request.capacity_type not in (None, POOL)
        if len(pools) == 1 and not request.pool and not elsewhere:
            request = replace(request, pool=pools[0])
        values, mistakes = judged(self.template, request.params, request.arguments)
        if mistakes:
            return request  # Its preparation tells them.
        ways = list(self._ways(self.template, values, request))
        if any(not case and pool == request.pool for case, pool in ways):
            return request
        ways.sort(key=lambda way: way[1] != request.pool)  # The pool that is asked for, if it can be had.
        what, why = f"sessions may run on {join(pools, 'or')} alone", "slipway:sessions of the stack file says so"
        if request.pool in pools or not ways:
            why += f", and {self.template.name} {'as it is asked for ' if ways else ''}does not fit "
            why += request.pool if request.pool in pools else "there"
        if ways:
            case, pool = ways[0]
            flags = {"machine": case.pop("machine", ""), "pool": pool if pool != request.pool else ""}
            given: Arguments = {"params": case, **{name: value for name, value in flags.items() if value}}
            raise PolicyError(what, why=why, fix=(given, ", and no other capacity type" * elsewhere))
        for other in filter(runs_any_folder, self.context.catalog.templates.values()):
            with suppress(ConfigError):  # It is another team's.
                if any(self._ways(other, judged(other, {})[0], replace(request, kind=None))):
                    raise PolicyError(what, why=why, fix=f"slipway session start --template {other.name}, which fits")
        raise PolicyError(
            f"no template for sessions fits {join(pools, 'or')}, and sessions may run there alone",
            why="slipway:sessions of the stack file says so",
            fix="have the stack changed: other `pools` there, or a template like script with the machines of these",
        )

    def _ways(
        self, template: Template, values: Mapping[str, Value], request: SubmissionRequest
    ) -> Iterator[tuple[dict[str, str], str]]:
        """Yield the pools of sessions that a template fits, each with the values that it takes in place of these; those
        for which it takes the fewest come first."""
        offers = [offer for offer in template.offers if offer.kind == (request.kind or template.kinds[0])]
        own = [[(name, wanted) for name, wanted in offer.when.items() if name != OF_TEAM] for offer in offers]
        cases = [{name: wanted[0] for name, wanted in when if values.get(name) not in wanted} for when in own]
        for case in sorted(cases, key=len):
            chosen = {**values, **case}
            usual = applying(offers, chosen, "") or offers
            team = team_of_submission(self.context.catalog, template, usual[0], request.team, self.context.team)
            for offer in applying(offers, chosen, team):
                for pool in self.pools or ():
                    if pool in pools_of(offer) or (offer.dormant and pool.startswith(f"{offer.dormant}/")):
                        yield {name: render(value) for name, value in case.items()}, pool


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
    return SessionPlan(at, id_, min(seconds(idle), longest), longest, preload, context, template, limits.pools)


def _of_folder(preload: str, folder: Path) -> list[str]:
    """Return those of the modules that are the folder's own, or that one of its files hides."""
    tops = sorted({module.partition(".")[0] for module in preload.split(",")} - {""})
    return [top for top in tops if (folder / f"{top}.py").exists() or (folder / top / "__init__.py").exists()]
