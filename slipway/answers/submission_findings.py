"""The findings about submissions: one for each template and kind, from the differences of all its probes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from slipway.answers import submissions
from slipway.answers.answer import Answer, Difference, State, Value
from slipway.answers.comparison import DAYS, Comparison
from slipway.answers.probes import DEFAULT, Probe, Way, probes
from slipway.answers.submissions import CAUSE, CONFIRMATION, FIX, PLACE, PRICE, REQUEST, RUN_COST, TIME_LIMIT, TYPES
from slipway.base.formatting import counted, exact_span, few, short
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS

_LONGEST = 100
_IN_SECONDS = (TIME_LIMIT, submissions.SESSION_LIMIT)
_IN_USD = (PRICE, CONFIRMATION)


@dataclass(frozen=True)
class _Changed:
    """A probe whose answer differs."""

    probe: Probe
    way: Way
    difference: Difference
    before: Answer | None
    after: Answer

    @property
    def text(self) -> str:
        return self.probe.describe(self.way)

    @property
    def is_default(self) -> bool:
        return self.probe.is_default and self.way == DEFAULT

    @property
    def is_accepted_twice(self) -> bool:
        return self.before is not None and self.before.state is State.YES and self.after.state is State.YES

    @property
    def cause(self) -> object:
        return self.after.values.get(CAUSE)

    @property
    def new_warnings(self) -> tuple[str, ...]:
        """The warnings of an accepted submission that differ in more than numbers from those before."""
        if self.before is None or not self.is_accepted_twice:
            return ()
        known = [re.sub(r"\d+", "", line) for line in self.before.text.splitlines()]
        return tuple(line for line in self.after.text.splitlines() if re.sub(r"\d+", "", line) not in known)


def findings_of(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    by_key = {probe.key: probe for probe in probes(comparison)}
    by_subject: dict[Subject, list[_Changed]] = {}
    for found in differences:
        for key in found.keys:
            if found.after is not None:
                changed = _Changed(by_key[key[:-2]], (key[-2], key[-1]), found, found.before, found.after)
                by_subject.setdefault(found.subject, []).append(changed)
    for subject, changes in by_subject.items():
        changes.sort(key=lambda each: (not each.is_default, each.way != DEFAULT, not each.probe.jobs))
        yield from _Reporter(comparison, subject).findings(changes)


@dataclass(frozen=True)
class _Reporter:
    """The findings about one template."""

    comparison: Comparison
    subject: Subject

    def findings(self, changes: Sequence[_Changed]) -> Iterator[Finding]:
        rejected = [each for each in changes if each.difference.becomes_rejected]
        accepted = [each for each in changes if each.difference.becomes_accepted]
        new = [each for each in changes if each.before is None and each.is_default]
        # Trials of values are of interest only if they are rejected.
        altered = [
            each for each in changes if each.is_accepted_twice and each.probe.is_variant and each.difference.changed
        ]
        warned = [each for each in changes if each.new_warnings]
        if rejected and rejected[0].is_default:
            yield self._default_rejected(rejected)
        elif rejected:
            yield from self._rejected(rejected)
        if new:
            yield from self._new(new[0])
        elif accepted:
            texts = dict.fromkeys(each.text for each in accepted)
            yield KINDS["submission-accepted"].of(self.subject, f"now accepts {few(texts)}")
        if altered:
            yield from self._altered(altered, has_other_offers=bool(rejected or accepted))
        if warned:
            lines = tuple(dict.fromkeys(line for each in warned for line in each.new_warnings))
            what = f"{warned[0].text} get a warning: {short(lines[0], _LONGEST)}"
            yield self._finding("submission-warning", what, warned, details=lines)

    def _default_rejected(self, rejected: Sequence[_Changed]) -> Finding:
        """Return the finding about a template of which nothing is left."""
        first = rejected[0]
        name = self.subject.name
        reason = short(first.after.text, _LONGEST)
        if name not in self.comparison.new.templates:
            renamed = self.comparison.renamed.get(name)
            change = f"renamed to `{renamed}`" if renamed else "removed"
            what = f"is {change}: `slipway submit {name}` is rejected"
            grade = Grade.BLOCKING if first.probe.jobs else Grade.WARNING
            return self._finding("submission-rejected", what, rejected, "keep it, or ask its users first", grade)
        if first.cause == REQUEST:
            what = f"rejects {first.text}: {reason}"
            return self._finding("submission-rejected", what, rejected, "", Grade.BLOCKING)
        fix = str(first.after.values.get(FIX) or "keep a capacity type that can run it")
        return self._finding("no-offer-left", f"can no longer run: {reason}", rejected, fix, Grade.BLOCKING)

    def _rejected(self, rejected: Sequence[_Changed]) -> Iterator[Finding]:
        """Yield the findings about ways to run and parameters of a template that can still run."""
        by_flags = [each for each in rejected if each.way == DEFAULT]
        without = {each.probe.key for each in by_flags}
        lost = [each for each in rejected if each.way != DEFAULT and each.probe.key not in without]
        unlisted = [each for each in lost if each.cause == submissions.UNLISTED]
        unavailable = [each for each in lost if each.cause == submissions.OFFER]
        if unavailable:
            names = dict.fromkeys(" on ".join(f"`{part}`" for part in each.way if part) for each in unavailable)
            what = f"{few(names)} no longer available: {short(unavailable[0].after.text, _LONGEST)}"
            fix = str(unavailable[0].after.values.get(FIX) or "")
            grade = Grade.BLOCKING if self._jobs(unavailable) else Grade.WARNING
            yield self._finding("offer-unavailable", what, unavailable, fix, grade)
        others = [*by_flags, *unlisted]
        if others:
            first = next((each for each in others if self._jobs([each])), others[0])
            rest = len({each.text for each in others}) - 1
            more = f" and {counted(rest, 'other submission')}" if rest else ""
            what = f"rejects {first.text}{more}: {short(first.after.text, _LONGEST)}"
            has_nothing_left = any(each.probe.is_variant and each.cause != REQUEST for each in by_flags)
            grade = Grade.BLOCKING if has_nothing_left or self._jobs(others) else Grade.WARNING
            fix = str(first.after.values.get(FIX) or "keep what they use, or ask their users first")
            yield self._finding("submission-rejected", what, others, fix, grade)

    def _new(self, found: _Changed) -> Iterator[Finding]:
        values = found.after.values
        if found.after.state is State.NO:
            if found.cause != REQUEST:
                fix = str(values.get(FIX) or "add a capacity type that can run it")
                what = f"can't run with its defaults: {short(found.after.text, _LONGEST)}"
                yield KINDS["no-offer-left"].of(self.subject, what, fix)
        elif not self.comparison.first:
            costs = f", {_shown(PRICE, values[PRICE])}" if PRICE in values else ""
            what = f"is new: runs on {values[PLACE] or values[TYPES]}, {values['machines']}{costs}"
            yield KINDS["submission-accepted"].of(self.subject, what)

    def _altered(self, altered: Sequence[_Changed], *, has_other_offers: bool) -> Iterator[Finding]:
        """Yield what changes for accepted submissions, each value once."""
        lines: dict[str, str] = {}
        details: dict[str, None] = {}
        harms = False
        for each in altered:
            old_values = each.before.values if each.before else {}
            for name in each.difference.changed:
                old = old_values.get(name)
                new = each.after.values.get(name)
                line = f"`{name}` {_shown(name, old)} → {_shown(name, new)}"
                is_known = lines.setdefault(name, line) == line
                details[line if is_known else f"{each.text}: {line}"] = None
                harms = harms or not _improves(name, old, new)
        # A finding about the offer itself says so, and the price tells the cost of a run.
        lines.pop(RUN_COST if PRICE in lines else "", None)
        lines.pop(TYPES if has_other_offers else "", None)
        if lines:
            shapes = {each.way[1] for each in altered if each.way != DEFAULT}
            is_whole = altered[0].is_default or len(shapes) != 1 or shapes == {""}
            which = altered[0].text if is_whole else f"all submissions on `{shapes.pop()}`"
            what = f"{which}: {few(lines.values(), 3)}"
            grade = Grade.WARNING if harms else Grade.NOTE
            yield self._finding("submission-changed", what, altered, "", grade, tuple(details))

    def _finding(
        self,
        kind: str,
        what: str,
        changes: Sequence[_Changed],
        fix: str = "",
        grade: Grade = Grade.WARNING,
        details: tuple[str, ...] = (),
    ) -> Finding:
        """Return a finding that names the submissions of the last days that it concerns."""
        jobs = self._jobs(changes)
        sent = {job.request_id or job.name: job.user or "an unknown user" for job in jobs}
        users = tuple(dict.fromkeys(sent.values()))
        used = ""
        if jobs:
            used = f"{counted(len(sent), 'submission')} by {few(users, 3)} in the last {DAYS} days"
        elif isinstance(self.comparison.world.live.recent, Unknown):
            used = f"use in the last {DAYS} days is unknown"
        if details:
            listed = (*details, used) if used else details
        else:
            listed = tuple(dict.fromkeys(f"{each.text}: {each.after.text}" for each in changes))
            what = f"{what}; {used}" if used else what
        found = KINDS[kind].of(self.subject, what, fix, grade=grade, submissions=len(sent), users=users)
        return replace(found, details=listed)

    def _jobs(self, changes: Iterable[_Changed]) -> list[VertexJob]:
        """Return the submissions of the last days that made one of these choices."""
        jobs: dict[str, VertexJob] = {}
        template = self.comparison.old.templates.get(self.subject.name)
        offers = template.offers if template else ()
        types = list(dict.fromkeys(offer.capacity_type for offer in offers if offer.available))
        moves = any(offer.wait for offer in offers)
        for each in changes:
            for job in each.probe.jobs:
                # A submitter must have named a type that the default order neither begins with nor moves on to.
                is_named = job.capacity_type == each.way[0] and job.capacity_type not in types[:1] and not moves
                if each.way == DEFAULT or (is_named and job.shape in ("", each.way[1])):
                    jobs[job.name] = job
        return list(jobs.values())


def _improves(name: str, old: Value, new: Value) -> bool:
    """Return whether a change of this value can't harm a submission."""
    if isinstance(old, str) and old and name in (PLACE, TYPES, "region"):
        return str(new).startswith(old)
    if not isinstance(old, int | float) or not isinstance(new, int | float):
        return False
    if name in (PRICE, RUN_COST):
        return new < old
    return new > old and name in (TIME_LIMIT, CONFIRMATION, "checkpoints", "retries")


def _shown(name: str, value: Value) -> str:
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float) and name in _IN_SECONDS:
        return exact_span(value)
    if isinstance(value, int | float) and name in (*_IN_USD, RUN_COST):
        return f"${value:,.2f}" if name == RUN_COST else f"${value:,.2f}/h"
    return short(str(value))
