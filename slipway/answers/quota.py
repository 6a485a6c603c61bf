"""Question: is quota sufficient now, with every pool at its maximum, and when each cluster's season begins? Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from slipway.answers.answer import Answer, Difference, State
from slipway.answers.comparison import Comparison, Side
from slipway.base.formatting import join
from slipway.deploying.deployment.schedule import prepared
from slipway.deploying.generations.action import DELETE, Action, What, Why
from slipway.google.live import Increase, Unknown
from slipway.google.quota.assessment import assess
from slipway.google.quota.metrics import request_command
from slipway.google.quota.report import QuotaReport, QuotaRow
from slipway.google.quota.seasons import Readiness
from slipway.google.quotas import PREFIX
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.season import MACHINES, moment_in_words

_NOW = "quota now"
_MOST = "quota at maximum"
_RUN = "quota of a run"
_DATE = "quota at a date"
_MOST_NAMED = 2
_FREED_FIRST = (What.DELETE_FIRST, What.CLEAR)


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield an answer for each quota now and at maximum, for the runs of templates, and for each coming cluster."""
    if comparison.world.live.skipped or comparison.unknown:
        return
    facts = comparison.before if side is Side.BEFORE else comparison.after
    for row in _report(comparison, side).lines:
        is_known = row.state != "unknown"
        values = {"short": row.short, "drawn": sum(row.created.values())}
        yield _answer(_NOW, (row.key,), _subject(row), values, is_known=is_known)
        yield _answer(_MOST, (row.key,), _subject(row), {"short": row.most.short}, is_known=is_known)
    for line in facts.quota.lines.values():
        if line.of_offers:
            subject = Subject("quota", _short_name(line.metric), "single run")
            yield _answer(_RUN, (line.key,), subject, {"short": line.short, "needed": line.ceiling})
    for name, ready in _readiness(comparison, side).items():
        short = sum(line.short for line in ready.lacking)
        yield _answer(_DATE, (name,), Subject("cluster", name), {"short": short})
    for name, cluster in facts.catalog.dormant.items():
        metrics = sorted({*(cluster.lacks or ())} - {MACHINES})
        text = join(_short_name(metric) for metric in metrics)
        yield _answer(_DATE, (name, "begun"), Subject("cluster", name), {"short": len(metrics)}, text)


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    """Yield the quota that this change makes insufficient, or more insufficient, and quota that can't be read."""
    report = _report(comparison, Side.AFTER)
    rows = {row.key: row for row in report.lines}
    runs = comparison.after.quota.lines
    ready = _readiness(comparison, Side.AFTER)
    short_now = set()
    for difference in differences:
        key = difference.keys[0][0]
        if difference.after is None or difference.after.state is not State.NO or not _is_worse(difference):
            continue
        if difference.question == _NOW:
            short_now.add(key)
            yield _short_now(comparison, rows[key])
        elif difference.question == _MOST and key not in short_now:
            yield _short_at_most(comparison, rows[key])
        elif difference.question == _RUN:
            yield _short_for_run(runs[key].drawn, difference.after, runs[key].limit or 0)
        elif difference.question == _DATE:
            yield _awaits(difference.after, ready.get(key))
    yield from _unknown(comparison, report)


def quota_text(comparison: Comparison) -> str:
    """Return `sufficient now`, `sufficient now, insufficient at maximum`, `insufficient now`; `unknown` if unread."""
    if Side.AFTER in comparison.unknown or comparison.world.live.skipped:
        return "unknown"
    rows = _report(comparison, Side.AFTER).lines
    if any(row.short for row in rows):
        return "insufficient now"
    if any(row.state == "unknown" for row in rows):
        return "unknown"
    if any(row.most.short for row in rows):
        return "sufficient now, insufficient at maximum"
    later = [ready.begins for ready in _readiness(comparison, Side.AFTER).values() if ready.lacking]
    if later:
        return f"sufficient now, insufficient from {moment_in_words(min(later))}"
    return "sufficient now"


def _is_worse(difference: Difference) -> bool:
    """Return whether more is missing than before. A run or a cluster that is new counts."""
    if difference.before is None or difference.after is None:
        return True
    return _short(difference.after) > _short(difference.before)


def _short(answer: Answer) -> float:
    return float(answer.values["short"] or 0)


def _answer(
    question: str,
    key: tuple[str, ...],
    subject: Subject,
    values: Mapping[str, int],
    text: str = "",
    *,
    is_known: bool = True,
) -> Answer:
    state = State.NO if values["short"] else State.YES
    return Answer(question, key, subject, state if is_known else State.UNKNOWN, text, values)


def _subject(row: QuotaRow) -> Subject:
    return Subject("quota", _short_name(row.metric), row.region if row.elsewhere else "")


def _short_name(metric: str) -> str:
    """Return `nvidia_h100_gpus` for `custom_model_training_nvidia_h100_gpus`."""
    return metric.removeprefix(PREFIX)


def _actions(comparison: Comparison, side: Side) -> tuple[Action, ...]:
    return comparison.actions_before if side is Side.BEFORE else comparison.actions


def _report(comparison: Comparison, side: Side) -> QuotaReport:
    """Return the quota check of the deployment with (`AFTER`) or without this change."""
    facts = comparison.before if side is Side.BEFORE else comparison.after
    actions = _actions(comparison, side)
    leaving = frozenset(action.id for action in actions if action.what in (What.RETIRE, *DELETE))
    live = comparison.world.live.without(action.id for action in actions if action.what in _FREED_FIRST)
    return assess(
        tuple(action.current for action in actions if action.current),
        live,
        region=facts.catalog.region,
        mode="warn",
        strict=facts.quota.strict,
        preview=True,
        old=leaving,
    )


def _readiness(comparison: Comparison, side: Side) -> Mapping[str, Readiness]:
    facts = comparison.before if side is Side.BEFORE else comparison.after
    requests = facts.quota.requests if side is Side.AFTER else None
    # Jobs that run now may have ended by then.
    live = replace(comparison.world.live, jobs=())
    region = facts.catalog.region
    now = comparison.world.now
    return prepared(_actions(comparison, side), live, region, now, strict=facts.quota.strict, asked=requests)


def _short_now(comparison: Comparison, row: QuotaRow) -> Finding:
    needed = sum(row.created.values())
    requests = comparison.after.quota.requests or {}
    asked = 0 if row.elsewhere else requests.get(row.metric, 0)
    limit = row.limit or 0
    sentence = f"{_named(row.created)} needs {needed:,} more now: limit {limit:,}, short by {row.short:,}"
    kind = KINDS["quota-short-now"]
    grade = Grade.BLOCKING
    if asked >= limit + row.short:
        sentence = f"{sentence}; created when Google grants the requested {asked:,}"
        grade = Grade.WARNING
    # A deployment leaves out a cluster whose season begins without quota.
    if row.created.keys() <= _dated(comparison):
        kind = KINDS["season-awaits-quota"]
        grade = Grade.WARNING
    found = kind.of(_subject(row), sentence, _fix(row, limit + row.short), grade=grade)
    return replace(found, facts={"metric": row.metric, "limit": limit, "short": row.short, "needed": needed})


def _short_at_most(comparison: Comparison, row: QuotaRow) -> Finding:
    quota = comparison.after.quota
    limit = row.limit or 0
    who = _named(row.drawn)
    needed = row.most.enough
    sentence = f"{who} can't all grow to their maximum: limit {limit:,}, {needed:,} needed"
    machines = _single_pool(comparison, row)
    if machines:
        possible = max(row.most.room or 0, 0) // row.each
        sentence = f"{who} can grow to {possible:,} of {machines:,} machines: limit {limit:,}, {needed:,} needed"
    if row.others:
        sentence = f"{sentence} ({row.others:,} used by others)"
    is_strict = quota.strict and quota.mode == "enforce"
    grade = Grade.BLOCKING if is_strict else Grade.WARNING
    found = KINDS["quota-short-at-most"].of(_subject(row), sentence, _fix(row, needed), grade=grade)
    return replace(found, facts={"metric": row.metric, "limit": limit, "needed": needed})


def _single_pool(comparison: Comparison, row: QuotaRow) -> int:
    """Return the maximum of the pool that alone uses a quota; 0 if there are several."""
    if len(row.drawn) != 1:
        return 0
    name, _, pool_name = next(iter(row.drawn)).partition("/")
    cluster = comparison.new.clusters.get(name)
    pool = cluster.pool(pool_name) if cluster else None
    return pool.max if pool else 0


def _short_for_run(drawn: Mapping[str, int], answer: Answer, limit: int) -> Finding:
    too_large = [name for name, amount in drawn.items() if amount > limit]
    sentence = (
        f"a run of {_named(dict.fromkeys(too_large or drawn, 0))} needs {answer.values['needed']}: limit {limit:,}"
    )
    return KINDS["quota-short-at-most"].of(answer.subject, sentence)


def _awaits(answer: Answer, ready: Readiness | None) -> Finding:
    kind = KINDS["season-awaits-quota"]
    if ready is None:
        sentence = f"is not created, though its season has begun: too little quota {answer.text}"
        return kind.of(answer.subject, sentence)
    sentence = f"its season, which begins {moment_in_words(ready.begins)}, is not ready: {ready.why}"
    fix = "; ".join(_fix(line, line.enough) for line in ready.lacking)
    return kind.of(answer.subject, sentence, "" if ready.awaited else fix, grade=Grade.WARNING)


def _unknown(comparison: Comparison, report: QuotaReport) -> Iterator[Finding]:
    """Yield in one finding that quota can't be read, if the change draws more of it."""
    # A review that can't read the clusters is incomplete, which it reports once.
    if comparison.unknown or isinstance(comparison.world.live.clusters, Unknown):
        return
    before: dict[tuple[str, str], int] = {}
    for row in _report(comparison, Side.BEFORE).lines:
        before |= {(row.key, who): amount for who, amount in row.drawn.items()}
    dated = _dated(comparison)
    rows = []
    for row in report.lines:
        grown = [who for who, amount in row.drawn.items() if amount > before.get((row.key, who), 0)]
        if row.state == "unknown" and {who.partition("/")[0] for who in grown} - dated:
            rows.append(row)
    if rows:
        names = _named({_short_name(row.metric): 0 for row in rows})
        why = next((found.sentence for found in report.findings if found.kind == "quota-unknown"), "")
        sentence = f"the limit or the use of {names} could not be read"
        found = KINDS["quota-unknown"].of(Subject("quota"), sentence)
        yield replace(found, details=(why,) if why else ())


def _dated(comparison: Comparison) -> frozenset[str]:
    """Return the names of clusters that the deployed dates create."""
    return frozenset(action.cluster for action in comparison.actions if action.why in (Why.SEASON, Why.AWAITED))


def _fix(row: QuotaRow, enough: int) -> str:
    """Return the command that requests a limit; advice if none can be requested."""
    if row.elsewhere or row.increase not in (Increase.POSSIBLE, Increase.UNTOLD):
        return f"lower `replicas`: {row.increase}" if row.increase else "lower `replicas`, or request quota there"
    if row.requested and row.requested.asked is not None and row.requested.asked >= enough:
        return f"wait for the requested quota ({row.requested})"
    return f"`{request_command(_short_name(row.metric).replace('nvidia_', ''), enough)}`"


def _named(names: Mapping[str, int]) -> str:
    listed = [f"`{name}`" for name in names]
    more = len(listed) - _MOST_NAMED
    if more > 0:
        listed = [*listed[:_MOST_NAMED], f"{more} more"]
    return join(listed)
