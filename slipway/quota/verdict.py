"""`verdict`: may this deployment draw what it draws, and what would its pools and templates draw at most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from slipway.cluster import PoolSpec
from slipway.generations.plan import Current
from slipway.live import NAME_LABEL, JobReplicas, Live, QuotaLimit, Unknown
from slipway.quota.metrics import label, namespace, needs_of, quota_id, rank
from slipway.quota.model import Line, Need, QuotaReport, WayDraw, WayVerdict
from slipway.quota.usage import Usage, usage

UNLIMITED = -1


@dataclass(frozen=True)
class _Share:
    """What one pool draws of a metric."""

    cluster: str
    pool: PoolSpec
    each: int
    now: int


def verdict(
    current: tuple[Current, ...],
    live: Live,
    *,
    region: str,
    ways: tuple[WayDraw, ...] = (),
    mode: str = "enforce",
    strict: bool = False,
    preview: bool,
) -> QuotaReport:
    """Judge a plan's current clusters and the templates' ways against the region's limits.

    What this `up` creates must fit at its initial sizes into the limit less everything that lives, with no credit for
    what it deletes. Ceilings and ways are reported, and must fit with `strict`. A way is judged against the limit
    alone, as what runs now will have ended when the catalog still holds. Mode `warn` turns every error into a warning.
    """
    judge = _Judge(current, live, region)
    lines = [judge.pool_line(metric) for metric in sorted(judge.shares, key=rank)]
    way_verdicts = judge.ways(ways)
    lines += judge.way_lines(ways)
    errors = judge.short()
    unsure = judge.unsure()
    warnings = list(judge.notes())
    beyond = [*judge.beyond(), *_unavailable(way_verdicts)]
    dead = [
        f"template {template} has no way left to run: "
        + "; ".join(f"{way}: {item.why}" for way, item in by_way.items())
        for template, by_way in way_verdicts.items()
        if not any(item.available for item in by_way.values())
    ]
    errors += dead
    (errors if strict else warnings).extend(beyond)
    draws = any(not item.import_ for item in current)
    (errors if draws and not preview else warnings).extend(unsure)
    if mode == "warn":
        warnings, errors = [*errors, *warnings], []
    return QuotaReport(tuple(lines), tuple(errors), tuple(warnings), way_verdicts)


class _Judge:
    """The facts of one verdict, gathered once."""

    def __init__(self, current: tuple[Current, ...], live: Live, region: str) -> None:
        self.region = region
        self.current = current
        self.live = live
        self.usage: Usage | None = None
        if not (live.skipped or isinstance(live.clusters, Unknown) or isinstance(live.jobs, Unknown)):
            self.usage = usage(live.clusters, live.jobs, frozenset(item.id for item in current if item.import_))
        self.documented: dict[str, bool] = {}
        self.shares: dict[str, list[_Share]] = {}
        self.created: dict[str, int] = {}
        self.initial: dict[str, dict[str, int]] = {}
        for item in current:
            for pool in item.spec.pools:
                self._add(item, pool)

    def _add(self, item: Current, pool: PoolSpec) -> None:
        size = self._live_size(item.id, pool) if item.import_ else pool.replicas
        for need in _pool_needs(pool, 1):
            self.documented[need.metric] = need.documented
            self.shares.setdefault(need.metric, []).append(
                _Share(item.spec.name, pool, need.amount, need.amount * size)
            )
            initial = self.initial.setdefault(need.metric, {})
            initial[item.spec.name] = initial.get(item.spec.name, 0) + need.amount * pool.replicas
            if not item.import_:
                self.created[need.metric] = self.created.get(need.metric, 0) + need.amount * pool.replicas

    def _live_size(self, id_: str, pool: PoolSpec) -> int:
        clusters = () if isinstance(self.live.clusters, Unknown) else self.live.clusters
        found = (
            live.replicas for cluster in clusters if cluster.id == id_ for live in cluster.pools if live.id == pool.name
        )
        return next(found, pool.replicas)

    # What is known about a metric.

    def limit(self, metric: str) -> QuotaLimit | str:
        """The limit, or why it can't be told."""
        if self.live.skipped:
            return "nothing was read"
        if isinstance(self.live.limits, Unknown):
            unknown = self.live.limits
            return f"{unknown.api}: {unknown.why}; it needs {unknown.role}"
        return self.live.limits.get(metric) or f"{metric} is not among the quotas that the service lists"

    def unchecked(self, metric: str) -> bool:
        """An inferred name that the service does not list: there is nothing to hold against it."""
        listed = self.live.limits
        return not self.documented.get(metric, True) and not isinstance(listed, Unknown) and metric not in listed

    def others(self, metric: str) -> int | None:
        return None if self.usage is None else self.usage.others.get(metric, 0)

    # The table.

    def pool_line(self, metric: str) -> Line:
        shares = self.shares[metric]
        limit = self.limit(metric)
        return Line(
            metric=metric,
            region=self.region,
            namespace=namespace(metric),
            label=label(metric),
            who=_who(shares),
            now=sum(share.now for share in shares),
            ceiling=sum(share.each * share.pool.max for share in shares),
            limit=limit.limit if isinstance(limit, QuotaLimit) else None,
            others=self.others(metric),
            verdict=self._pool_verdict(metric, limit),
            increase=limit.increase if isinstance(limit, QuotaLimit) else "",
        )

    def _pool_verdict(self, metric: str, limit: QuotaLimit | str) -> str:
        if self.unchecked(metric):
            return "not checked: the service lists no such quota"
        if isinstance(limit, str):
            return "cannot tell"
        if self.usage is None:
            return "ok" if limit.limit == UNLIMITED else "cannot tell"
        if limit.limit == UNLIMITED:
            return "ok"
        short = self._short_by(metric, limit)
        if short > 0:
            return f"short by {short:,}"
        shares = self.shares[metric]
        now, ceiling = sum(share.now for share in shares), sum(share.each * share.pool.max for share in shares)
        room = limit.limit - self.usage.others.get(metric, 0)
        remarks = []
        if ceiling > room:
            remarks.append(_at_most(shares, room, ceiling))
        if room - now < max(self.initial[metric].values()):
            remarks.append("no room for a rollover")
        return "; ".join(["ok now", *remarks]) if remarks else "ok"

    def way_lines(self, ways: tuple[WayDraw, ...]) -> list[Line]:
        """One row per preemptible metric and per on-demand metric that ways draw beside the pools: the largest draw."""
        drawn: dict[str, list[tuple[WayDraw, int]]] = {}
        for way in ways:
            for need in needs_of(way.replicas, preemptible=way.preemptible):
                self.documented.setdefault(need.metric, need.documented)
                drawn.setdefault(need.metric, []).append((way, need.amount))
        return [self._way_line(metric, drawn[metric]) for metric in sorted(drawn, key=rank)]

    def _way_line(self, metric: str, draws: list[tuple[WayDraw, int]]) -> Line:
        limit = self.limit(metric)
        largest = max(amount for _, amount in draws)
        ordered = sorted(draws, key=lambda draw: -draw[1])
        names = [f"{way.template} {way.way}" for way, _ in ordered]
        if self.unchecked(metric):
            text = "not checked: the service lists no such quota"
        elif isinstance(limit, str):
            text = "cannot tell"
        else:
            lacking = [draw for draw in ordered if limit.limit != UNLIMITED and draw[1] > limit.limit]
            kinds = ", ".join(sorted({way.way for way, _ in lacking}))
            text = f"{kinds} unavailable: short by {largest - limit.limit:,}" if lacking else "ok"
        return Line(
            metric=metric,
            region=self.region,
            namespace=namespace(metric),
            label=label(metric),
            who=", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else ""),
            now=None,
            ceiling=largest,
            limit=limit.limit if isinstance(limit, QuotaLimit) else None,
            others=None if self.usage is None else self.usage.total(metric),
            verdict=text,
            increase=limit.increase if isinstance(limit, QuotaLimit) else "",
        )

    # The sentences.

    def ways(self, ways: tuple[WayDraw, ...]) -> dict[str, dict[str, WayVerdict]]:
        found: dict[str, dict[str, WayVerdict]] = {}
        for way in ways:
            found.setdefault(way.template, {})[way.way] = self._way(needs_of(way.replicas, preemptible=way.preemptible))
        return found

    def _way(self, drawn: Iterable[Need]) -> WayVerdict:
        lacking, unsure = [], []
        for need in drawn:
            self.documented.setdefault(need.metric, need.documented)
            limit = self.limit(need.metric)
            if self.unchecked(need.metric):
                continue
            if isinstance(limit, str):
                unsure.append(limit)
            elif limit.limit not in (UNLIMITED,) and need.amount > limit.limit:
                text = (
                    f"quota: {need.metric} {self.region}: needs {need.amount:,}, limit {limit.limit:,}, "
                    f"short by {need.amount - limit.limit:,}"
                )
                lacking.append(f"{text} · {limit.increase}" if limit.increase else text)
        if lacking:
            return WayVerdict(False, "; ".join(lacking))
        return WayVerdict(True, f"quota not checked: {unsure[0]}" if unsure else "")

    def _short_by(self, metric: str, limit: QuotaLimit) -> int:
        created = self.created.get(metric, 0)
        if not created or limit.limit == UNLIMITED or self.usage is None:
            return 0
        return self.usage.total(metric) + created - limit.limit

    def short(self) -> list[str]:
        """What this deployment draws and does not get."""
        errors = []
        for metric in sorted(self.created, key=rank):
            limit = self.limit(metric)
            if isinstance(limit, str) or self.usage is None:
                continue
            short = self._short_by(metric, limit)
            if short > 0:
                names = ", ".join(sorted({item.spec.name for item in self._creators(metric)}))
                errors.append(
                    f"quota {metric} in {self.region} is short by {short:,}: creating {names} needs "
                    f"{self.created[metric]:,}, limit {limit.limit:,}, used {self.usage.total(metric):,}\n"
                    f"  fix: {self._fix(metric, limit, short)}"
                )
        return errors

    def _creators(self, metric: str) -> list[Current]:
        return [
            item
            for item in self.current
            if not item.import_
            and any(need.metric == metric for pool in item.spec.pools for need in _pool_needs(pool, 1))
        ]

    def _fix(self, metric: str, limit: QuotaLimit, short: int) -> str:
        names = {item.spec.name for item in self._creators(metric)}
        clusters = () if isinstance(self.live.clusters, Unknown) else self.live.clusters
        old = sorted(cluster.id for cluster in clusters if cluster.labels.get(NAME_LABEL) in names)
        id_ = quota_id(metric)
        fixes = []
        if old:
            fixes.append(f"a rollover needs both generations' machines until {', '.join(old)} is idle: revert the edit")
        fixes.append("lower `replicas` in the stack file")
        ask = f"ask for a limit of {limit.limit + short:,}" + (f" (quota id {id_})" if id_ else "")
        fixes.append(f"{ask}: {limit.increase}" if limit.increase else ask)
        return ", or ".join(fixes)

    def beyond(self) -> list[str]:
        """Pools that can't reach their maximum."""
        found = []
        for metric in sorted(self.shares, key=rank):
            limit = self.limit(metric)
            if isinstance(limit, str) or limit.limit == UNLIMITED or self.usage is None:
                continue
            shares = self.shares[metric]
            ceiling = sum(share.each * share.pool.max for share in shares)
            room = limit.limit - self.usage.others.get(metric, 0)
            if ceiling > room and self._short_by(metric, limit) <= 0:
                found.append(
                    f"quota {metric} in {self.region}: {_who(shares)} would draw {ceiling:,} at the maximum, "
                    f"limit {limit.limit:,}, used by others {limit.limit - room:,}: {_at_most(shares, room, ceiling)}"
                )
        return found

    def unsure(self) -> list[str]:
        """Why the verdict on what is drawn now can't be told, each reason once."""
        reasons: dict[str, None] = {}
        for metric in sorted(self.shares, key=rank):
            limit = self.limit(metric)
            if isinstance(limit, str) and not self.unchecked(metric):
                reasons[f"cannot tell whether quota in {self.region} suffices: {limit}"] = None
        for what, part in (("clusters", self.live.clusters), ("jobs", self.live.jobs)):
            if isinstance(part, Unknown) and not self.live.skipped:
                text = f"cannot tell what quota is in use: {what}: {part.api}: {part.why}; it needs {part.role}"
                reasons[text] = None
        return list(reasons)

    def notes(self) -> Iterable[str]:
        for metric in sorted(self.shares, key=rank):
            if self.unchecked(metric):
                yield f"{label(metric)} are not checked: the service lists no quota {metric}"
        for item in self.current:
            for pool in item.spec.pools:
                if pool.disk.type == "hyperdisk-balanced":
                    who = f"pool {item.spec.name}/{pool.name}"
                    yield f"{who}: disks are not checked: no quota is known for {pool.disk.type}"
        yield from () if self.usage is None else self.usage.uncounted


def _pool_needs(pool: PoolSpec, replicas: int) -> tuple[Need, ...]:
    group = JobReplicas(pool.machine_type, pool.accelerator_type, pool.accelerator_count, replicas, pool.disk)
    return needs_of((group,))


def _who(shares: list[_Share]) -> str:
    def size(pool: PoolSpec) -> str:
        return f"{pool.min}–{pool.max} machines" if pool.autoscaled else f"{pool.replicas} machines"

    if len(shares) == 1:
        return f"pool {shares[0].cluster}/{shares[0].pool.name}, {size(shares[0].pool)}"
    names = [f"{share.cluster}/{share.pool.name}" for share in shares]
    return "pools " + ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def _at_most(shares: list[_Share], room: int, ceiling: int) -> str:
    if len(shares) == 1:
        return f"at most {max(room, 0) // shares[0].each:,} of {shares[0].pool.max:,} machines"
    return f"short by {ceiling - room:,} at the maximum"


def _unavailable(ways: Mapping[str, Mapping[str, WayVerdict]]) -> list[str]:
    return [
        f"template {template}: {way} is unavailable: {item.why}"
        for template, by_way in ways.items()
        for way, item in by_way.items()
        if not item.available
    ]
