"""The findings about submissions: one for each template and kind, from the differences of all its probes. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from slipway.answers.answer import Answer, Difference, State, Value
from slipway.answers.comparison import DAYS, Comparison
from slipway.answers.probes import Probe, probes
from slipway.answers.submissions import CAUSE, FIX, MACHINES, OFFER, PLACE, PRICE, RUN_COST, TIME_LIMIT, TYPES
from slipway.base.formatting import counted, exact_span, few, short
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS

_LONGEST = 100
_FORMATS: Mapping[str, Callable[[float], str]] = {
    TIME_LIMIT: exact_span,
    PRICE: lambda price: f"${price:,.2f}/h",
    RUN_COST: lambda costs: f"${costs:,.2f}",
}


@dataclass(frozen=True)
class _Change:
    """A probe whose answer differs."""

    probe: Probe
    difference: Difference
    after: Answer

    @property
    def text(self) -> str:
        return self.probe.text

    @property
    def names_capacity(self) -> bool:
        return self.probe.asked.capacity_type is not None

    @property
    def is_accepted_twice(self) -> bool:
        before = self.difference.before
        was_accepted = before is not None and before.state is State.YES
        return was_accepted and self.after.state is State.YES

    @property
    def new_warnings(self) -> frozenset[str]:
        before = self.difference.before
        if before is None or not self.is_accepted_twice:
            return frozenset()
        return frozenset(self.after.text.splitlines()) - frozenset(before.text.splitlines()) - {""}


def findings_of(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    by_key = {probe.key: probe for probe in probes(comparison)}
    by_subject: dict[Subject, list[_Change]] = defaultdict(list)
    for difference in differences:
        if difference.after is None:
            continue
        for key in difference.keys:
            by_subject[difference.subject].append(_Change(by_key[key], difference, difference.after))
    for subject, changes in by_subject.items():
        changes.sort(key=lambda change: (not change.probe.is_default, not change.probe.jobs))
        yield from _of_template(comparison, subject, changes)


def _of_template(comparison: Comparison, subject: Subject, changes: Sequence[_Change]) -> Iterator[Finding]:
    default = changes[0]
    rejected = [change for change in changes if change.difference.becomes_rejected]
    accepted = [change for change in changes if change.difference.becomes_accepted]
    altered = [change for change in changes if change.is_accepted_twice and change.difference.changed]
    warned = [change for change in changes if change.new_warnings]
    if default.difference.is_new:
        yield from _new(comparison, subject, default)
    elif accepted:
        texts = few(change.text for change in accepted)
        yield KINDS["submission-accepted"].of(subject, f"now accepts {texts}")
    yield from _rejections(comparison, subject, rejected)
    if altered:
        yield from _altered(comparison, subject, altered, is_offer_told=bool(rejected or accepted))
    if warned:
        warnings = sorted(warned[0].new_warnings)
        what = f"{warned[0].text} get a warning: {short(warnings[0], _LONGEST)}"
        yield _finding(comparison, "submission-warning", subject, what, warned, details=warnings)


def _new(comparison: Comparison, subject: Subject, change: _Change) -> Iterator[Finding]:
    values = change.after.values
    if change.after.state is State.YES and not comparison.first:
        where = values[PLACE] or values[TYPES]
        what = f"is new: runs on {where}, {values[MACHINES]}, {_shown(PRICE, values[PRICE])} beside the pools"
        yield KINDS["submission-accepted"].of(subject, what)
    if values.get(CAUSE) == OFFER:
        what = f"can't run with its defaults: {short(change.after.text, _LONGEST)}"
        yield KINDS["no-offer-left"].of(subject, what, str(values[FIX]))


def _rejections(comparison: Comparison, subject: Subject, rejected: Sequence[_Change]) -> Iterator[Finding]:
    by_kind: dict[str, list[_Change]] = defaultdict(list)
    for change in rejected:
        # If nothing is left, there is no other finding.
        decisive = rejected[0] if rejected[0].probe.is_default else change
        by_kind[_kind(comparison, decisive)].append(change)
    for kind, changes in by_kind.items():
        first = changes[0]
        reason = short(first.after.text, _LONGEST)
        what = {
            "template-removed": f"is removed: `slipway submit {subject.name}` is rejected",
            "template-renamed": f"is renamed to `{comparison.renamed.get(subject.name)}`: the old name is rejected",
            "no-offer-left": f"can no longer run: {reason}",
            "offer-unavailable": f"{_count_others(changes)} no longer available: {reason}",
            "submission-rejected": f"rejects {_count_others(changes)}: {reason}",
        }[kind]
        is_last = any(_is_last_way(comparison, change) for change in changes)
        is_used = any(change.probe.jobs for change in changes)
        grade = Grade.BLOCKING if is_used or is_last else Grade.WARNING
        name = kind if kind in KINDS else "submission-rejected"
        details = [f"{change.text}: {change.after.text}" for change in changes]
        fix = str(first.after.values[FIX]) or "keep what these submissions use, or ask their users first"
        yield _finding(comparison, name, subject, what, changes, fix, grade, details)


def _kind(comparison: Comparison, change: _Change) -> str:
    template = change.probe.asked.template
    if template in comparison.renamed:
        return "template-renamed"
    if template not in comparison.new.templates:
        return "template-removed"
    if change.after.values[CAUSE] != OFFER:
        return "submission-rejected"
    if change.probe.is_default:
        return "no-offer-left"
    return "offer-unavailable" if change.names_capacity else "submission-rejected"


def _is_last_way(comparison: Comparison, change: _Change) -> bool:
    """Return whether a template, or a case of it, that remains has nothing left to run on."""
    if change.probe.asked.template not in comparison.new.templates:
        return False
    is_last_offer = change.after.values[CAUSE] == OFFER and not change.names_capacity
    return change.probe.is_default or is_last_offer


def _count_others(changes: Sequence[_Change]) -> str:
    rest = len({change.text for change in changes}) - 1
    return f"{changes[0].text} and {counted(rest, 'other submission')}" if rest else changes[0].text


def _altered(
    comparison: Comparison, subject: Subject, altered: Sequence[_Change], *, is_offer_told: bool
) -> Iterator[Finding]:
    """Yield what changes for accepted submissions, each value once."""
    lines: dict[str, str] = {}
    details: dict[str, None] = {}
    harmful = False
    for change in altered:
        before = change.difference.before
        for name in change.difference.changed:
            old = before.values.get(name) if before else None
            new = change.after.values.get(name)
            line = f"`{name}` {_shown(name, old)} → {_shown(name, new)}"
            is_known = lines.setdefault(name, line) == line
            details[line if is_known else f"{change.text}: {line}"] = None
            harmful = harmful or not _improves(name, old, new)
    # Another finding says more about them, and the price about the cost of a run.
    for name in (RUN_COST, TYPES if is_offer_told else RUN_COST):
        lines.pop(name, None)
    if lines:
        what = f"{altered[0].text}: {few(lines.values(), 3)}"
        grade = Grade.WARNING if harmful else Grade.NOTE
        yield _finding(comparison, "submission-changed", subject, what, altered, "", grade, list(details))


def _improves(name: str, old: Value, new: Value) -> bool:
    """Return whether a change of this value can't harm a submission."""
    if isinstance(old, str) and isinstance(new, str):
        return name in (PLACE, TYPES, "region") and bool(old) and new.startswith(old)
    if isinstance(old, str) or isinstance(new, str) or old is None or new is None:
        return False
    return new < old if name in (PRICE, RUN_COST) else new > old and name in (TIME_LIMIT, "checkpoints", "retries")


def _shown(name: str, value: Value) -> str:
    if value is None or value == "":
        return "none"
    if name in _FORMATS:
        return _FORMATS[name](float(value))
    return short(str(value))


def _finding(
    comparison: Comparison,
    kind: str,
    subject: Subject,
    what: str,
    changes: Iterable[_Change],
    fix: str = "",
    grade: Grade = Grade.WARNING,
    details: Sequence[str] = (),
) -> Finding:
    """Return a finding that names the submissions of the last days that it concerns."""
    jobs: dict[str, VertexJob] = {}
    for change in changes:
        jobs |= {job.request_id or job.name: job for job in change.probe.jobs}
    users = tuple(dict.fromkeys(job.user or "an unknown user" for job in jobs.values()))
    used = f"{counted(len(jobs), 'submission')} by {few(users, 3)} in the last {DAYS} days"
    if isinstance(comparison.world.live.recent, Unknown):
        used = f"use in the last {DAYS} days is unknown"
    elif not jobs:
        used = ""
    sentence = "; ".join(filter(None, (what, used)))
    found = KINDS[kind].of(subject, sentence, fix, grade=grade, submissions=len(jobs), users=users)
    return replace(found, details=tuple(dict.fromkeys(details)))
