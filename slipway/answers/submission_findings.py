"""The findings about submissions: one for each template and kind, from the differences of all its probes. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import cast

from slipway.answers import submissions as asked
from slipway.answers.answer import Answer, Difference, State
from slipway.answers.comparison import DAYS, Comparison
from slipway.answers.gaps import Gap, gaps
from slipway.answers.probes import Probe, probes
from slipway.answers.settings import HIDDEN, settings
from slipway.answers.submission_values import ChangedValue
from slipway.base.formatting import counted, few, join, short
from slipway.google.jobs import AT_LEAST_ONCE, VertexJob
from slipway.google.live import Unknown
from slipway.google.quota.metrics import ALL_SHORT_COMMAND
from slipway.model.capacity import RESERVATION
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.own_settings import OF_SECRET

_LONGEST = 80
_HIDDEN = {asked.RUN_COST, asked.SHELL, asked.LAUNCHER, asked.IMAGE}
"""Values that no sentence shows: they have findings of their own, or say little."""
_OF_ORDER = ("place", "reservation", asked.RESERVED, asked.WAITS, "yields to urgent jobs")
"""Values that follow from the capacity types."""
_NUMBER = re.compile(r"\d+")
_RESUME = "resume"
_MOST_WORDS = 30
_SIZES = ((2, 60), (2, 30), (1, 60), (1, 30), (1, 15))
"""How many values a sentence shows, and how long each side is: the first with which it is short enough."""
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
    def is_rejected(self) -> bool:
        """Return whether it was accepted, or to be accepted from a later date."""
        if self.after.state is not State.NO:
            return False
        was_to_come = self.before.values.get(asked.COMES) and not self.after.values.get(asked.COMES)
        return self.before.state is State.YES or bool(was_to_come)

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """The default submission, then those that are used, then those with few parameters."""
        return not self.probe.is_default, not self.probe.jobs, len(self.probe.asked.params)

    @property
    def is_newly_permitted(self) -> bool:
        """Return whether the template now permits values of parameters, with which no offer can run."""
        causes = (self.before.values[asked.CAUSE], self.after.values[asked.CAUSE])
        return causes == (asked.REQUEST, asked.OFFER) and self.probe.asked.capacity_type is None

    @property
    def values(self) -> list[ChangedValue]:
        return [self._value(name) for name in self.difference.changed]

    def _value(self, name: str) -> ChangedValue:
        new = self.after.values.get(name)
        # A plain value in place of a reference may be the secret itself.
        if name.startswith("variable ") and f"{name}{OF_SECRET}" in self.difference.changed:
            new = HIDDEN
        is_used = self.probe.is_default or bool(self.probe.jobs)
        return ChangedValue(name, self.before.values.get(name), new, is_used)

    @property
    def loses_launcher(self) -> bool:
        had = bool(self.before.values.get(asked.LAUNCHER))
        return had and self.after.values.get(asked.LAUNCHER) is False

    @property
    def warnings(self) -> Sequence[str]:
        """The warnings that are new."""
        known = set(self.before.text.splitlines())
        return sorted(set(self.after.text.splitlines()) - known)


def _texts(changes: Iterable[_Change]) -> str:
    return few(dict.fromkeys(short(change.probe.text) for change in changes), 1)


@dataclass(frozen=True)
class _Group:
    """The changes of one template, the default submission first, then those of the last 30 days."""

    comparison: Comparison
    subject: Subject
    changes: Sequence[_Change]
    #: No setting is edited: dates, quota or lost clusters alone change the answers.
    by_itself: bool
    #: Submissions of the last days besides those that the changes concern.
    used: tuple[VertexJob, ...] = ()

    def having(self, *states: State) -> _Group:
        return replace(
            self, changes=[change for change in self.changes if (change.before.state, change.after.state) == states]
        )

    @property
    def texts(self) -> str:
        """Return ``` `--capacity spot` and 2 more ```."""
        return _texts(self.changes)

    @property
    def rejected_texts(self) -> str:
        """Return the submissions that are rejected for the same reason as the first one, with any numbers."""
        first = _NUMBER.sub("", self.changes[0].after.text)
        return _texts(change for change in self.changes if _NUMBER.sub("", change.after.text) == first)

    @property
    def reason(self) -> str:
        """Why the first one is rejected, without reasons that it had before."""
        known = self.changes[0].before.text.split("; ")
        reasons = [reason for reason in self.changes[0].after.text.split("; ") if reason not in known]
        return short("; ".join(reasons), _LONGEST)

    @property
    def jobs(self) -> list[VertexJob]:
        """The submissions of the last days that the changes concern."""
        jobs = {job.name: job for job in self.used}
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
    by_itself = bool(differences) and not _is_edited(comparison)
    # Of findings of one kind and severity, the first one's sentence is shown.
    if not by_itself:
        yield from _gaps(comparison)
    for difference in differences:
        for key in difference.keys:
            by_subject[difference.subject].append(_Change(by_key[key], difference))
    for subject, changes in by_subject.items():
        changes.sort(key=lambda change: change.rank)
        yield from _of_template(_Group(comparison, subject, changes, by_itself))


def _gaps(comparison: Comparison) -> Iterator[Finding]:
    """Yield the templates that can run nowhere for some time, each with its first gap."""
    found: dict[str, list[Gap]] = defaultdict(list)
    for gap in gaps(comparison):
        found[gap.probe.asked.template].append(gap)
    for name, listed in found.items():
        first = min(listed, key=lambda gap: (gap.begins, not gap.probe.is_default))
        group = _Group(comparison, Subject("template", name), [], by_itself=False)
        group = replace(group, used=tuple(chain.from_iterable(gap.probe.jobs for gap in listed)))
        why = short(first.why.partition("; ")[0], _LONGEST)
        what = f"{short(first.probe.text)} can run nowhere {first.text}: {why}"
        details = [f"{gap.probe.text}: nowhere {gap.text}: {gap.why}" for gap in listed]
        # It is to come, so that an unused template leaves time for another place.
        grade = Grade.WARNING if first.is_dated else Grade.NOTE
        if group.used:
            grade = Grade.BLOCKING
        fix = "let the dates overlap" if first.is_dated else "give it another capacity type, or leave out `idleLimit`"
        yield group.finding("submission-rejected", what, grade, details, fix)


def _is_edited(comparison: Comparison) -> bool:
    """Return whether a setting or a cluster differs, so that more than dates, quota and lost clusters has an effect."""
    old = comparison.old.clusters
    shared = old.keys() & comparison.new.clusters.keys()
    is_other = any(old[name].id != comparison.new.clusters[name].id for name in shared)
    return bool(is_other or comparison.renamed or settings(comparison))


def _of_template(group: _Group) -> Iterator[Finding]:
    rejected = replace(group, changes=[change for change in group.changes if change.is_rejected])
    if group.by_itself:
        yield from _rejections(rejected)
        return
    accepted = group.having(State.NO, State.YES)
    unusable = group.having(State.NO, State.NO)
    altered = group.having(State.YES, State.YES)
    if group.subject.name in group.comparison.old.templates:
        if accepted.changes:
            yield KINDS["submission-accepted"].of(group.subject, f"now accepts {accepted.texts}")
        yield from _rejections(rejected)
        yield from _unusable(unusable)
        yield from _launcherless(altered)
        # A finding about a capacity type says that it is lost.
        is_told = any(change.probe.asked.capacity_type for change in rejected.changes)
        yield from _altered(altered, {*_HIDDEN, asked.ORDER} if is_told else _HIDDEN)
        yield from _opened(altered)
        yield from _warned(altered)
    elif group.subject.name in group.comparison.renamed:
        yield from _rejections(rejected)
    else:
        yield from _new(group)


def _new(group: _Group) -> Iterator[Finding]:
    default = group.changes[0].after
    values = default.values
    if default.state is State.YES and not group.comparison.first:
        price = float(values.get(asked.PRICE) or 0)
        what = f"is new: runs on {values[asked.ORDER]}, {values[asked.MACHINES]}, ${price:,.2f}/h beyond pools"
        yield KINDS["submission-accepted"].of(group.subject, what)
    if values.get(asked.CAUSE) == asked.OFFER:
        yield KINDS["no-offer-left"].of(group.subject, f"can't run with its defaults: {group.reason}", _KEEP)


def _unusable(group: _Group) -> Iterator[Finding]:
    """Yield values of parameters that the template newly permits, and with which it can run nowhere."""
    permitted = [change for change in group.changes if change.is_newly_permitted]
    if permitted:
        part = replace(group, changes=permitted)
        what = f"permits {part.texts}, which can run nowhere: {part.reason}"
        yield part.finding("submission-rejected", what, Grade.WARNING, [change.probe.text for change in permitted])


def _rejections(group: _Group) -> Iterator[Finding]:
    by_kind: dict[str, list[_Change]] = defaultdict(list)
    for change in group.changes:
        # If nothing is left, there is no other finding.
        decisive = group.changes[0] if group.changes[0].probe.is_default else change
        by_kind[_kind(group, decisive)].append(change)
    for kind, changes in by_kind.items():
        part = replace(group, changes=changes)
        details = [f"{change.probe.text}: {change.after.text}" for change in changes]
        fix = ALL_SHORT_COMMAND if "quota is too low" in part.reason else _KEEP
        is_decisive = bool(part.jobs)
        if group.subject.name in group.comparison.new.templates:
            is_decisive = is_decisive or changes[0].probe.is_default
            is_decisive = is_decisive or not asked.accepted(group.comparison, group.subject.name)
        # The plan of clusters says more about inactive ones, whose dates a deployment follows by itself.
        grade = Grade.BLOCKING if is_decisive and not _is_dated(part) else Grade.WARNING
        yield part.finding(kind, _rejection(part, kind), grade, details, fix)


def _is_dated(group: _Group) -> bool:
    """Return whether inactive clusters reject the submission, whose dates are not edited."""
    inactive = str(group.changes[0].after.values.get(asked.COMES) or "").split(", ")
    before = {**group.comparison.old.dormant, **group.comparison.old.clusters}
    after = group.comparison.new.dormant
    seasons = [(before[name].season, after[name].season) for name in inactive if name in before.keys() & after.keys()]
    is_same = bool(seasons) and all(was == now for was, now in seasons)
    return is_same or group.by_itself


def _kind(group: _Group, change: _Change) -> str:
    is_offer = change.after.values[asked.CAUSE] == asked.OFFER
    if is_offer and change.probe.is_default:
        return "no-offer-left"
    # No reservation comes or goes by itself.
    is_of_type = is_offer and change.probe.asked.capacity_type not in (None, RESERVATION)
    return "offer-unavailable" if is_of_type or group.by_itself else "submission-rejected"


def _rejection(group: _Group, kind: str) -> str:
    name = group.subject.name
    if name in group.comparison.renamed:
        return f"is renamed to `{group.comparison.renamed[name]}`: `slipway submit {name}` is rejected"
    if name not in group.comparison.new.templates:
        return f"is removed: `slipway submit {name}` is rejected"
    if kind == "no-offer-left":
        return f"can no longer run: {group.reason}"
    if kind == "offer-unavailable":
        return f"{group.rejected_texts} can no longer run: {group.reason}"
    return f"rejects {group.rejected_texts}: {group.reason}"


def _altered(group: _Group, hidden: set[str]) -> Iterator[Finding]:
    """Yield what changes for accepted submissions: the values of one of them, and those of all in the details."""
    shown_by_change = [(change, _shown_values(change, hidden)) for change in group.changes]
    shown_by_change = [(change, values) for change, values in shown_by_change if values]
    if not shown_by_change:
        return
    # The sentence names the submission with the most severe value, the default one first.
    named, values = max(shown_by_change, key=lambda pair: pair[1][0].weight)
    concerned = [change for change in group.changes if values[0].name in change.difference.changed]
    part = replace(group, changes=[named, *concerned])
    origin = named.probe.text
    has_same = all(_has_change(change, values[0]) for change in group.changes)
    if has_same and len(group.changes) == len(asked.accepted(group.comparison, group.subject.name)):
        origin = "all submissions"
    everything = chain.from_iterable(change.values for change in group.changes)
    grade = max(value.grade for value in everything)
    yield _fitting(part, origin, values, grade, _details(named, group.changes))


def _has_change(change: _Change, value: ChangedValue) -> bool:
    """Return whether a submission has the same change."""
    return value.text() in [each.text() for each in change.values]


def _shown_values(change: _Change, hidden: set[str]) -> list[ChangedValue]:
    """Return the values that a sentence may show, the most severe first."""
    is_other_order = asked.ORDER in change.difference.changed and asked.ORDER not in hidden
    shown = [value for value in change.values if value.name not in hidden]
    if is_other_order:
        shown = [value for value in shown if value.name not in _OF_ORDER]
    grave = [value for value in shown if value.grade > Grade.NOTE or value.name == asked.ORDER]
    shown = grave or shown
    return sorted(shown, key=lambda value: value.weight, reverse=True)


def _details(named: _Change, changes: Iterable[_Change]) -> list[str]:
    """Return the text of each value, the most severe first, with its submissions if the named one does not have it."""
    own = {value.text() for value in named.values}
    submissions: dict[str, list[str]] = defaultdict(list)
    grades: dict[str, Grade] = {}
    for change in changes:
        for value in change.values:
            submissions[value.text()].append(change.probe.text)
            grades[value.text()] = value.grade
    details = []
    for text in sorted(grades, key=lambda text: -grades[text]):
        origin = "" if text in own else f"{few(dict.fromkeys(submissions[text]), 1)}: "
        details.append(f"{origin}{text}")
    return details


def _fitting(
    group: _Group, origin: str, values: Sequence[ChangedValue], grade: Grade, details: Sequence[str]
) -> Finding:
    """Return the finding that shows as much of the values as fits into a sentence."""
    for most, longest in _SIZES:
        texts = "; ".join(value.text(longest) for value in values[:most])
        if len(values) > most:
            texts = f"{texts}; {counted(len(values) - most, 'more change')}"
        found = group.finding("submission-changed", f"{origin}: {texts}", grade, details)
        if len(found.sentence.split()) <= _MOST_WORDS:
            break
    return found


def _launcherless(group: _Group) -> Iterator[Finding]:
    """Yield that jobs start without Slipway's launcher, and what it did for them."""
    losing = [change for change in group.changes if change.loses_launcher]
    if not losing:
        return
    part = replace(group, changes=losing)
    first = losing[0]
    lost = _work_of_launcher(first)
    text = str(first.before.values)
    keeps_output = _RESUME in lost or "SLIPWAY_OUTPUT" in text
    is_missed = keeps_output and bool(part.jobs)
    grade = Grade.WARNING
    if is_missed or OF_SECRET in text:
        grade = Grade.BLOCKING
    verb = "loses"
    if not first.probe.is_default:
        verb = f"{part.texts} lose"
    what = f"{verb} Slipway's launcher: {join(lost)}"
    details = [change.probe.text for change in losing]
    yield part.finding("submission-changed", what, grade, details, "let the launcher start the image's command")


def _work_of_launcher(change: _Change) -> list[str]:
    """Return what a launcher did for a submission that loses it."""
    values = change.before.values
    lost = ["kept output"]
    secrets = [name.removeprefix("variable ").removesuffix(OF_SECRET) for name in values if name.endswith(OF_SECRET)]
    if secrets:
        lost.insert(0, f"secrets of {few(map(_quoted, secrets), 1)}")
    if AT_LEAST_ONCE in change.after.text:
        lost.append("exactly-once start")
    if values.get(asked.CHECKPOINTS):
        lost.append(_RESUME)
    return lost


def _quoted(name: str) -> str:
    return f"`{name}`"


def _opened(group: _Group) -> Iterator[Finding]:
    for change in group.changes[:1]:
        if asked.SHELL in change.difference.changed and change.after.values[asked.SHELL]:
            account = change.after.values[asked.ACCOUNT]
            what = f"opens an interactive shell in its running jobs, in which people act as `{account}`"
            yield KINDS["access-gained"].of(group.subject, what, "leave out `enable_web_access`")


def _warned(group: _Group) -> Iterator[Finding]:
    warned = replace(group, changes=[change for change in group.changes if change.warnings])
    if warned.changes:
        first = warned.changes[0]
        what = f"{warned.texts} get a warning: {short(first.warnings[0], _LONGEST)}"
        yield warned.finding("submission-warning", what, Grade.WARNING, first.warnings)
