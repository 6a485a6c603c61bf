"""Draws of quota on both sides of a change, each with what the cloud says of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slipway.google.live import Increase, Live, Unknown
from slipway.google.quota.increases import became_of, preference_of
from slipway.google.quota.metrics import quota_id
from slipway.google.quota.request import Requested
from slipway.google.quota.usage import Usage, superseded, usage
from slipway.model.draw import Draw
from slipway.model.facts import QuotaLine
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.once import once
from slipway.reviewing.rules.words import in_words


@dataclass(frozen=True)
class QuotaDraw:
    """A line of the quota check."""

    line: QuotaLine
    #: The deployed one, which draws nothing where there is none.
    was: QuotaLine
    #: In use by generations that go.
    old: int
    #: In use by all others.
    others: int
    #: The limit that the stack asks for and may still get; 0 for none, as in another region than its own.
    asked: int
    #: The outcome of a request that was made before.
    answer: Requested | None
    #: That in words, else whether more can be had.
    increase: str

    @property
    def what(self) -> str:
        """Return `H100 GPUs`; `H100 GPUs in us-east4` outside the stack's own region."""
        return f"{in_words(self.line.metric)}{f' in {self.line.region}' if self.line.region else ''}"

    @property
    def room(self) -> int | None:
        """The amount that pools can have; None where no limit is known, or there is none."""
        return Draw(self.line.ceiling, self.line.limit, self.others).room

    @property
    def lacks(self) -> int:
        return Draw(self.line.ceiling, self.line.limit, self.others).short

    @property
    def lacked(self) -> int:
        return Draw(self.was.ceiling, self.line.limit, self.others).short

    @property
    def differs(self) -> bool:
        """Tell whether more or less is lacking than before."""
        return (self.line.short, self.lacks) != (self.was.short, self.lacked)


@once
def draws(change: Change) -> tuple[QuotaDraw, ...]:
    same_place = change.before.quota.region == change.after.quota.region
    before = change.before.quota.lines if same_place else {}
    lines = change.after.quota.lines.values()
    places = {region: live_at(change, region) for region in {line.region for line in lines}}
    uses = {region: _use(change, live) for region, live in places.items()}
    listed = []
    for line in lines:
        live, use = places[line.region], uses[line.region]
        asked = 0 if line.region else (change.after.quota.requests or {}).get(line.metric, 0)
        request = preference_of(live, line.metric)
        wanted = f"this deployment asks for a limit of {asked:,}" if asked else _increase(live, line.metric)
        settled = request is not None and not request.reconciling and request.preferred == asked
        answer = became_of(request) if request else None
        draw = QuotaDraw(
            line=line,
            was=before.get(line.key) or QuotaLine(line.key, "ok", 0, {}, 0),
            old=use.old.get(line.metric, 0),
            others=use.others.get(line.metric, 0),
            asked=0 if settled else asked,
            answer=answer,
            increase=str(answer) if answer else wanted,
        )
        listed.append(draw)
    return tuple(listed)


def live_at(change: Change, region: str) -> Live:
    """Return the cloud in a line's region, which is empty for the stack's own. Requests are made there alone."""
    live = change.live.at(region or change.new.region, home=not region)
    return replace(live, limits=change.live.limits_elsewhere.get(region, {}), preferences={}) if region else live


def _use(change: Change, live: Live) -> Usage:
    if live.skipped or isinstance(live.clusters, Unknown) or isinstance(live.jobs, Unknown):
        return Usage()
    own = frozenset(cluster.id for cluster in change.new.clusters.values())
    return usage(live.clusters, live.jobs, own, superseded(live.clusters, change.new.stack, own))


def _increase(live: Live, metric: str) -> str:
    limit = live.limit(metric)
    if limit is None or not limit.increase:
        return "not known: whether an increase can be had"
    id_ = limit.quota_id or quota_id(metric)
    return f"{limit.increase} (`{id_}`)" if id_ and limit.increase is Increase.POSSIBLE else limit.increase
