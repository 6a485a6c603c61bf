"""Question: is quota sufficient now, with every pool at its maximum, and when each cluster's season begins? Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from slipway.answers.answer import Answer, Difference, State, Value
from slipway.answers.comparison import Comparison, Side
from slipway.base.formatting import few
from slipway.deploying.deployment.schedule import prepared
from slipway.deploying.generations.action import DELETE, Action, What, Why
from slipway.google.live import Increase, Unknown
from slipway.google.quota.assessment import assess
from slipway.google.quota.metrics import request_command
from slipway.google.quota.report import QuotaReport, QuotaRow
from slipway.google.quota.seasons import Readiness
from slipway.google.quotas import PREFIX
from slipway.model.catalog.clusters import DormantCluster
from slipway.model.facts import Facts, QuotaLine
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.season import MACHINES, moment_in_words

_NOW = "quota-short-now"
_MOST = "quota-short-at-most"
_DATE = "season-awaits-quota"
_UNREAD = "quota-unknown"
_FREED_FIRST = (What.DELETE_FIRST, What.CLEAR)
_REQUESTABLE = (Increase.POSSIBLE, Increase.UNTOLD)


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield an answer for each quota now and at maximum, for the runs of templates, and for each coming cluster.

    The question is the kind of the finding if it is short, `text` its sentence, and `values` have its fix and grade.
    """
    live = comparison.world.live
    # A review that can't read the clusters is incomplete, which it reports once.
    if live.skipped or comparison.unknown or isinstance(live.clusters, Unknown):
        return
    facts = _facts(comparison, side)
    dated = frozenset(action.cluster for action in comparison.actions if action.why in (Why.SEASON, Why.AWAITED))
    for row in _report(comparison, side).lines:
        yield from _of_row(row, dated, facts)
    yield from _at_most(comparison, side)
    for line in facts.quota.lines.values():
        if line.of_offers:
            yield _of_run(line)
    for name, ready in _readiness(comparison, side).items():
        yield _coming(name, ready)
    for name, cluster in facts.catalog.dormant.items():
        yield _begun(name, cluster)


def _of_row(row: QuotaRow, dated: frozenset[str], facts: Facts) -> Iterator[Answer]:
    if row.state == "unknown":
        yield _unread(row, dated)
    else:
        yield _now(row, facts, dated)


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    """Yield the quota that this change makes insufficient, or more insufficient, and quota that can't be read."""
    reported: set[tuple[str, ...]] = set()
    is_enforced = comparison.after.quota.mode != "warn"
    for difference in differences:
        after = difference.after
        # A quota that is short now has no second finding at its maximum.
        if after is None or not _is_worse(difference.before, after) or after.key in reported:
            continue
        reported.add(after.key)
        grade = Grade(int(after.values["grade"] or 0))
        fix = str(after.values["fix"])
        found = KINDS[after.question].of(after.subject, after.text, fix, grade=grade)
        yield replace(found, facts={"short": after.values["short"], "enforced": is_enforced})


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
    ready = _readiness(comparison, Side.AFTER).values()
    begins = min((each.begins for each in ready if each.lacking), default=None)
    return f"sufficient now, insufficient from {moment_in_words(begins)}" if begins else "sufficient now"


def _is_worse(before: Answer | None, after: Answer) -> bool:
    """Return whether more is missing than before. A run or a cluster that is new counts."""
    if after.state is not State.NO:
        return False
    return before is None or float(after.values["short"] or 0) > float(before.values["short"] or 0)


def _answer(
    kind: str, key: str, subject: Subject, short: int, sentence: str, fix: str = "", grade: Grade = Grade.WARNING
) -> Answer:
    values: dict[str, Value] = {"short": short, "fix": fix, "grade": grade}
    return Answer(kind, (key,), subject, State.NO if short else State.YES, sentence, values)


def _now(row: QuotaRow, facts: Facts, dated: frozenset[str]) -> Answer:
    limit = row.limit or 0
    needed = sum(row.created.values())
    requests = facts.quota.requests or {}
    asked = 0 if row.elsewhere else requests.get(row.metric, 0)
    verb = "needs" if len(row.created) == 1 else "need"
    used = limit + row.short - needed
    beside = f" beside {used:,} in use" if used > 0 else ""
    sentence = f"{_named(row.created)} {verb} {needed:,} now{beside}: limit {limit:,}, short by {row.short:,}"
    if asked:
        sentence = f"{sentence}, requested {asked:,}"
    grade = Grade.WARNING if asked >= limit + row.short else Grade.BLOCKING
    kind = _NOW
    # A deployment leaves out a cluster whose season begins without quota.
    if row.created and row.created.keys() <= dated:
        kind = _DATE
        grade = Grade.WARNING
    return _answer(kind, row.key, _subject(row), row.short, sentence, _fix(row, limit + row.short), grade)


def _at_most(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield each quota with every pool at its maximum: now, or when a season begins if more is missing then."""
    facts = _facts(comparison, side)
    rows = {row.key: (row, "") for row in _report(comparison, side).lines if row.state != "unknown"}
    for ready in _readiness(comparison, side).values():
        since = f"from {moment_in_words(ready.begins)} on, "
        for row in ready.lines:
            is_worse = row.key not in rows or row.most.short > rows[row.key][0].most.short
            if row.state != "unknown" and is_worse:
                rows[row.key] = (row, since)
    for row, since in rows.values():
        yield _most(row, since, facts)


def _most(row: QuotaRow, since: str, facts: Facts) -> Answer:
    draw = row.most
    machines = sum(row.drawn.values()) // row.each
    possible = max(draw.room or 0, 0) // row.each
    growth = f"can grow to {possible:,} of {machines:,} machines"
    # Several pools may have machines of other sizes.
    if len(row.drawn) > 1:
        growth = "can't all grow to their maximum"
    amounts = f"limit {row.limit or 0:,}, {draw.enough:,} needed"
    if row.others:
        amounts = f"{amounts}, {row.others:,} used by others"
    sentence = f"{since}{_named(row.drawn)} {growth}: {amounts}"
    is_strict = facts.quota.strict and facts.quota.mode == "enforce"
    grade = Grade.BLOCKING if is_strict else Grade.WARNING
    return _answer(_MOST, row.key, _subject(row), draw.short, sentence, _fix(row, draw.enough), grade)


def _unread(row: QuotaRow, dated: frozenset[str]) -> Answer:
    """Return what draws a quota that can't be read, without clusters that the deployed dates create."""
    drawn = {who: amount for who, amount in row.drawn.items() if who.partition("/")[0] not in dated}
    sentence = f"the limit or the use of `{_short_name(row.metric)}` could not be read"
    return _answer(_UNREAD, row.key, Subject("quota"), sum(drawn.values()), sentence)


def _of_run(line: QuotaLine) -> Answer:
    limit = line.limit or 0
    largest = [name for name, amount in line.drawn.items() if amount > limit]
    sentence = f"a run of {_named(dict.fromkeys(largest or line.drawn, 0))} needs {line.ceiling}: limit {limit:,}"
    subject = Subject("quota", _short_name(line.metric), "single run")
    return _answer(_MOST, line.key, subject, line.short, sentence, grade=KINDS[_MOST].usual)


def _coming(name: str, ready: Readiness) -> Answer:
    short = sum(line.short for line in ready.lacking)
    sentence = f"its season, which begins {moment_in_words(ready.begins)}, is not ready: {ready.why}"
    fix = few(_fix(line, line.enough) for line in ready.lacking)
    return _answer(_DATE, name, Subject("cluster", name), short, sentence, fix)


def _begun(name: str, cluster: DormantCluster) -> Answer:
    metrics = sorted({*(cluster.lacks or ())} - {MACHINES})
    lacks = _named({_short_name(metric): 0 for metric in metrics})
    sentence = f"is not created, though its season has begun: too little quota {lacks}"
    return _answer(_DATE, f"{name} begun", Subject("cluster", name), len(metrics), sentence, grade=KINDS[_DATE].usual)


def _subject(row: QuotaRow) -> Subject:
    return Subject("quota", _short_name(row.metric), row.region if row.elsewhere else "")


def _short_name(metric: str) -> str:
    """Return `nvidia_h100_gpus` for `custom_model_training_nvidia_h100_gpus`."""
    return metric.removeprefix(PREFIX)


def _facts(comparison: Comparison, side: Side) -> Facts:
    return comparison.before if side is Side.BEFORE else comparison.after


def _actions(comparison: Comparison, side: Side) -> tuple[Action, ...]:
    return comparison.actions_before if side is Side.BEFORE else comparison.actions


def _report(comparison: Comparison, side: Side) -> QuotaReport:
    """Return the quota check of the deployment with (`AFTER`) or without this change."""
    facts = _facts(comparison, side)
    actions = _actions(comparison, side)
    leaving = frozenset(action.id for action in actions if action.what in (What.RETIRE, *DELETE))
    freed = [action.id for action in actions if action.what in _FREED_FIRST]
    return assess(
        tuple(action.current for action in actions if action.current),
        comparison.world.live.without(freed),
        region=facts.catalog.region,
        mode="warn",
        strict=facts.quota.strict,
        preview=True,
        old=leaving,
    )


def _readiness(comparison: Comparison, side: Side) -> Mapping[str, Readiness]:
    facts = _facts(comparison, side)
    # Jobs that run now may have ended by then.
    live = replace(comparison.world.live, jobs=())
    return prepared(
        _actions(comparison, side),
        live,
        facts.catalog.region,
        comparison.world.now,
        strict=facts.quota.strict,
        asked=facts.quota.requests,
    )


def _fix(row: QuotaRow, enough: int) -> str:
    """Return the command that requests a limit; advice if none can be requested, or if it is requested already."""
    if row.elsewhere or row.increase not in _REQUESTABLE:
        return f"lower `replicas`: {row.increase or 'request quota in the other region'}"
    if row.requested and (row.requested.asked or 0) >= enough:
        return f"wait for the requested quota ({row.requested})"
    return f"`{request_command(_short_name(row.metric).replace('nvidia_', ''), enough)}`"


def _named(names: Mapping[str, int]) -> str:
    return few(f"`{name}`" for name in names)
