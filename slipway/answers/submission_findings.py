"""The findings about submissions: one for each template and kind, from the differences of all its probes. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from slipway.answers.answer import Answer, Difference, State, Value
from slipway.answers.comparison import DAYS, Comparison
from slipway.answers.probes import Probe, probes
from slipway.answers.submissions import CAUSE, MACHINES, OFFER, ORDER, PRICE, RUN_COST, TIME_LIMIT, WAIT
from slipway.base.formatting import counted, exact_span, few, short
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.google.quota.metrics import ALL_SHORT_COMMAND
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS

_LONGEST = 80
_FORMATS: Mapping[str, Callable[[float], str]] = {
    TIME_LIMIT: exact_span,
    WAIT: exact_span,
    PRICE: lambda price: f"${price:,.2f}/h",
    RUN_COST: lambda costs: f"${costs:,.2f}",
}
_GAINS: Mapping[str, int] = {PRICE: -1, RUN_COST: -1, TIME_LIMIT: 1}
"""The direction in which a change of a number harms no submission."""
_KEEP = "keep what these submissions use, or ask their users first"


@dataclass(frozen=True)
class _Change:
    """A probe whose answer differs. There is an answer on both sides."""

    probe: Probe
    difference: Difference

    @property
    def before(self) -> Answer:
        return cast(Answer, self.difference.before)

    @property
    def after(self) -> Answer:
        return cast(Answer, self.difference.after)

    @property
    def warnings(self) -> Sequence[str]:
        """The warnings that are new."""
        known = set(self.before.text.splitlines())
        return sorted(set(self.after.text.splitlines()) - known)


@dataclass(frozen=True)
class _Group:
    """The changes of one template, the default submission first, then those of the last 30 days."""

    comparison: Comparison
    subject: Subject
    changes: Sequence[_Change]

    def having(self, *states: State) -> _Group:
        return replace(
            self, changes=[change for change in self.changes if (change.before.state, change.after.state) == states]
        )

    @property
    def texts(self) -> str:
        """Return ``` `--capacity spot` and 2 more ```."""
        return few(dict.fromkeys(short(change.probe.text) for change in self.changes), 1)

    @property
    def reason(self) -> str:
        return short(self.changes[0].after.text, _LONGEST)

    @property
    def jobs(self) -> list[VertexJob]:
        """The submissions of the last days that the changes concern."""
        jobs: dict[str, VertexJob] = {}
        for change in self.changes:
            jobs |= {job.name: job for job in change.probe.jobs}
        return list(jobs.values())

    def finding(self, kind: str, what: str, grade: Grade, details: Iterable[str], fix: str = "") -> Finding:
        """Return a finding that names the submissions of the last days."""
        count = len(self.jobs)
        users = tuple(dict.fromkeys(job.user for job in self.jobs))
        sentence = what
        if count:
            sentence = f"{what}; {counted(count, 'submission')} by {few(users, 3)} in the last {DAYS} days"
        elif isinstance(self.comparison.world.live.recent, Unknown):
            sentence = f"{what}; use in the last {DAYS} days is unknown"
        found = KINDS[kind].of(self.subject, sentence, fix, grade=grade, submissions=count, users=users)
        return replace(found, details=tuple(dict.fromkeys(details)))


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    """Yield the findings about submissions, one for each template and kind."""
    by_key = {probe.key: probe for probe in probes(comparison)}
    by_subject: dict[Subject, list[_Change]] = defaultdict(list)
    for difference in differences:
        for key in difference.keys:
            by_subject[difference.subject].append(_Change(by_key[key], difference))
    for subject, changes in by_subject.items():
        changes.sort(key=lambda change: (not change.probe.is_default, not change.probe.jobs))
        yield from _of_template(_Group(comparison, subject, changes))


def _of_template(group: _Group) -> Iterator[Finding]:
    rejected = group.having(State.YES, State.NO)
    accepted = group.having(State.NO, State.YES)
    altered = group.having(State.YES, State.YES)
    if group.subject.name in group.comparison.old.templates:
        yield from _accepted(accepted)
        yield from _rejections(rejected)
        # A finding about a capacity type says that it is lost or new.
        told = [change for change in (*rejected.changes, *accepted.changes) if change.probe.asked.capacity_type]
        yield from _altered(altered, {RUN_COST, ORDER} if told else {RUN_COST})
        yield from _warned(altered)
    elif group.subject.name in group.comparison.renamed:
        yield from _rejections(rejected)
    else:
        yield from _new(group)


def _new(group: _Group) -> Iterator[Finding]:
    default = group.changes[0].after
    values = default.values
    if default.state is State.YES and not group.comparison.first:
        what = f"is new: runs on {values[ORDER]}, {values[MACHINES]}, {_shown(PRICE, values.get(PRICE))} beyond pools"
        yield KINDS["submission-accepted"].of(group.subject, what)
    if values.get(CAUSE) == OFFER:
        yield KINDS["no-offer-left"].of(group.subject, f"can't run with its defaults: {group.reason}", _KEEP)


def _accepted(group: _Group) -> Iterator[Finding]:
    if group.changes:
        yield KINDS["submission-accepted"].of(group.subject, f"now accepts {group.texts}")


def _rejections(group: _Group) -> Iterator[Finding]:
    by_kind: dict[str, list[_Change]] = defaultdict(list)
    for change in group.changes:
        # If nothing is left, there is no other finding.
        decisive = group.changes[0] if group.changes[0].probe.is_default else change
        by_kind[_kind(decisive)].append(change)
    for kind, changes in by_kind.items():
        part = replace(group, changes=changes)
        details = [f"{change.probe.text}: {change.after.text}" for change in changes]
        fix = ALL_SHORT_COMMAND if "quota is too low" in part.reason else _KEEP
        remains = group.subject.name in group.comparison.new.templates
        has_nothing_left = remains and changes[0].probe.is_default
        grade = Grade.WARNING
        # The plan of clusters says more about inactive ones, whose dates a deployment follows by itself.
        if (part.jobs or has_nothing_left) and "is inactive" not in part.reason:
            grade = Grade.BLOCKING
        yield part.finding(kind, _rejection(part, kind), grade, details, fix)


def _kind(change: _Change) -> str:
    if change.after.values[CAUSE] != OFFER:
        return "submission-rejected"
    if change.probe.is_default:
        return "no-offer-left"
    return "offer-unavailable" if change.probe.asked.capacity_type else "submission-rejected"


def _rejection(group: _Group, kind: str) -> str:
    name = group.subject.name
    if name in group.comparison.renamed:
        return f"is renamed to `{group.comparison.renamed[name]}`: `slipway submit {name}` is rejected"
    if name not in group.comparison.new.templates:
        return f"is removed: `slipway submit {name}` is rejected"
    if kind == "no-offer-left":
        return f"can no longer run: {group.reason}"
    if kind == "offer-unavailable":
        return f"{group.texts} can no longer run: {group.reason}"
    return f"rejects {group.texts}: {group.reason}"


def _altered(group: _Group, hidden: set[str]) -> Iterator[Finding]:
    """Yield what changes for accepted submissions, each value once."""
    lines: dict[str, str] = {}
    details: list[str] = []
    grade = Grade.NOTE
    for change in group.changes:
        for name in change.difference.changed:
            old = change.before.values.get(name)
            new = change.after.values.get(name)
            line = f"`{name}` {_shown(name, old)} → {_shown(name, new)}"
            known = lines.setdefault(name, line)
            details.append(line if line == known else f"{change.probe.text}: {line}")
            if not _improves(name, old, new):
                grade = Grade.WARNING
    shown = [line for name, line in lines.items() if name not in hidden]
    if shown:
        what = f"{group.changes[0].probe.text}: {few(shown, 2)}"
        yield group.finding("submission-changed", what, grade, details)


def _warned(group: _Group) -> Iterator[Finding]:
    warned = replace(group, changes=[change for change in group.changes if change.warnings])
    if warned.changes:
        first = warned.changes[0]
        what = f"{warned.texts} get a warning: {short(first.warnings[0], _LONGEST)}"
        yield warned.finding("submission-warning", what, Grade.WARNING, first.warnings)


def _improves(name: str, old: Value, new: Value) -> bool:
    """Return whether a change of this value can't harm a submission."""
    if old is None:
        # A new parameter, and an argument that passes it.
        return name.startswith("default of ") or "${" in str(new)
    if name in _GAINS and new is not None:
        return _GAINS[name] * (float(str(new)) - float(str(old))) > 0
    return name == ORDER and str(new).startswith(str(old))


def _shown(name: str, value: Value) -> str:
    if value is None:
        return "none"
    if name in _FORMATS:
        return _FORMATS[name](float(value))
    return short(str(value)) or "none"
