"""The findings about submissions: one for each template and kind, from the differences of all its probes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from slipway.answers.answer import Answer, Difference, State, Value
from slipway.answers.comparison import DAYS, Comparison
from slipway.answers.probes import DEFAULT, Probe, Way, probes
from slipway.answers.submissions import (
    ABSENT,
    CAPACITY,
    CAUSE,
    CONFIRMATION,
    COST,
    FIX,
    PLACE,
    PRICE,
    QUOTA,
    REQUEST,
    TIME_LIMIT,
)
from slipway.base.formatting import counted, exact_span, few, join, short
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS

_MOST_CHANGES = 3
_MOST_USERS = 3
_LONGEST_REASON = 110
_LONGEST_VALUE = 60
_IN_SECONDS = frozenset({TIME_LIMIT, "session limit"})
_IN_USD = frozenset({PRICE, COST, CONFIRMATION})
_DERIVED = frozenset({COST})
"""Values that follow from others: they are in the details only."""
_GROWS = frozenset({CAPACITY, PLACE, "region"})
"""Lists of values, to which an addition harms no submission."""


@dataclass(frozen=True)
class _Asked:
    """A difference of one probe."""

    probe: Probe
    way: Way
    difference: Difference

    @property
    def words(self) -> str:
        return self.probe.words(self.way)

    @property
    def is_default(self) -> bool:
        return self.probe.is_default and self.way == DEFAULT

    @property
    def after(self) -> Answer:
        answer = self.difference.after
        assert answer is not None
        return answer

    @property
    def cause(self) -> str:
        return str(self.after.values.get(CAUSE, ""))

    @property
    def fix(self) -> str:
        return str(self.after.values.get(FIX, ""))


def findings_of(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    by_key = {probe.key: probe for probe in probes(comparison)}
    by_subject: dict[Subject, list[_Asked]] = {}
    for difference in differences:
        for key in difference.keys:
            asked = _Asked(by_key[key[:-2]], (key[-2], key[-1]), difference)
            by_subject.setdefault(difference.subject, []).append(asked)
    for subject, asked_of_subject in by_subject.items():
        yield from _of_subject(comparison, subject, asked_of_subject)


def _of_subject(comparison: Comparison, subject: Subject, asked: Sequence[_Asked]) -> Iterator[Finding]:
    # A variant of a template's defaults comes first, as its change is most probably that of the others.
    ordered = sorted(asked, key=lambda each: (not each.is_default, each.way != DEFAULT))
    rejected = [each for each in ordered if each.difference.becomes_rejected]
    accepted = [each for each in ordered if _is_accepted_now(each)]
    changed = [each for each in ordered if each.difference.changed and _is_accepted_twice(each)]
    warned = [each for each in ordered if _new_warnings(each)]
    fresh = [each for each in ordered if each.difference.is_new and each.is_default]
    if rejected:
        yield from _rejections(comparison, subject, rejected)
    if fresh:
        yield from _new_template(comparison, subject, fresh[0])
    elif accepted:
        yield _acceptance(subject, accepted)
    if changed:
        yield _change(comparison, subject, changed)
    if warned:
        yield _warning(comparison, subject, warned)


def _is_accepted_now(asked: _Asked) -> bool:
    return asked.difference.becomes_accepted


def _is_accepted_twice(asked: _Asked) -> bool:
    before = asked.difference.before
    return before is not None and before.state is State.YES and asked.after.state is State.YES


def _rejections(comparison: Comparison, subject: Subject, rejected: Sequence[_Asked]) -> Iterator[Finding]:
    by_default = [each for each in rejected if each.is_default]
    if by_default:
        yield _default_rejected(comparison, subject, by_default[0], rejected)
        return
    lost = [each for each in rejected if each.way != DEFAULT and each.probe.is_variant]
    unavailable = [each for each in lost if each.cause not in (ABSENT, REQUEST)]
    if unavailable:
        yield _offers_unavailable(comparison, subject, unavailable)
    # A variant that has nothing left needs no line for each of its capacity types.
    whole = {each.probe.key for each in rejected if each.way == DEFAULT}
    others = [each for each in rejected if each.way == DEFAULT]
    others += [each for each in lost if each.cause == ABSENT and each.probe.key not in whole]
    if others:
        yield _submissions_rejected(comparison, subject, others)


def _default_rejected(comparison: Comparison, subject: Subject, asked: _Asked, rejected: Iterable[_Asked]) -> Finding:
    jobs = _jobs_of(rejected)
    facts = _usage_facts(jobs)
    details = tuple(_lines(rejected))
    used = _usage(comparison, jobs)
    if subject.name not in comparison.new.templates and subject.what == "template":
        command = f"`slipway submit {subject.name}` is rejected"
        new_name = comparison.renamed.get(subject.name)
        what = f"is renamed to `{new_name}`: {command}" if new_name else f"is removed: {command}"
        fix = "keep the template, or ask its users first"
        grade = Grade.BLOCKING if jobs else Grade.WARNING
        return KINDS["submission-rejected"].of(subject, _sentence(what, used), fix, grade=grade, **facts)
    reason = short(asked.after.text, _LONGEST_REASON)
    if asked.cause == REQUEST:
        what = f"rejects {asked.words}: {reason}"
        finding = KINDS["submission-rejected"].of(
            subject, _sentence(what, used), "undo the change, or tell its users", grade=Grade.BLOCKING, **facts
        )
        return replace(finding, details=details)
    fix = asked.fix or "keep one of its capacity types available"
    what = f"can no longer run: {reason}"
    finding = KINDS["no-offer-left"].of(subject, _sentence(what, used), fix, **facts)
    return replace(finding, details=details)


def _offers_unavailable(comparison: Comparison, subject: Subject, lost: Sequence[_Asked]) -> Finding:
    """Return that offers are unavailable, whatever the variants: those without quota together."""
    jobs = _flagged(lost)
    ways = [_way_words(each.way) for each in lost]
    verb = "is" if len(set(ways)) == 1 else "are"
    reason = short(lost[0].after.text, _LONGEST_REASON)
    what = f"{few(dict.fromkeys(ways), 3)} {verb} no longer available: {reason}"
    grade = Grade.BLOCKING if jobs else Grade.WARNING
    usual_fix = "" if lost[0].cause == QUOTA else "restore it, or ask its users first"
    finding = KINDS["offer-unavailable"].of(
        subject,
        _sentence(what, _usage(comparison, jobs)),
        lost[0].fix or usual_fix,
        grade=grade,
        **_usage_facts(jobs),
    )
    return replace(finding, details=tuple(_lines(lost)))


def _submissions_rejected(comparison: Comparison, subject: Subject, rejected: Sequence[_Asked]) -> Finding:
    used = [each for each in rejected if _jobs_hit(each)]
    first = (*used, *rejected)[0]
    jobs = _jobs_of(each for each in rejected if each.way == DEFAULT)
    jobs = (*jobs, *_flagged(each for each in rejected if each.way != DEFAULT))
    is_last_offer = any(each.probe.is_variant and each.cause != REQUEST and each.way == DEFAULT for each in rejected)
    distinct = dict.fromkeys(each.words for each in rejected)
    rest = len(distinct) - 1
    others = f" and {counted(rest, 'other submission')}" if rest else ""
    what = f"rejects {first.words}{others}: {short(first.after.text, _LONGEST_REASON)}"
    finding = KINDS["submission-rejected"].of(
        subject,
        _sentence(what, _usage(comparison, jobs)),
        first.fix or "keep what these submissions use, or ask their users first",
        grade=Grade.BLOCKING if jobs or is_last_offer else Grade.WARNING,
        **_usage_facts(jobs),
    )
    return replace(finding, details=tuple(_lines(rejected)))


def _new_template(comparison: Comparison, subject: Subject, asked: _Asked) -> Iterator[Finding]:
    answer = asked.after
    if answer.state is State.NO:
        if asked.cause != REQUEST:
            what = f"can't run with its defaults: {short(answer.text, _LONGEST_REASON)}"
            yield KINDS["no-offer-left"].of(subject, what, asked.fix or "add a capacity type that is available")
        return
    if comparison.first:
        return
    where = str(answer.values.get(PLACE) or answer.values.get(CAPACITY) or "")
    what = f"is new: runs on {where}, {answer.values['machines']}"
    if PRICE in answer.values:
        what += f", {_shown(PRICE, answer.values[PRICE])}"
    yield KINDS["submission-accepted"].of(subject, what)


def _acceptance(subject: Subject, accepted: Sequence[_Asked]) -> Finding:
    words = dict.fromkeys(each.words for each in accepted)
    return KINDS["submission-accepted"].of(subject, f"now accepts {few(words, 2)}")


def _change(comparison: Comparison, subject: Subject, changed: Sequence[_Asked]) -> Finding:
    rows: dict[str, str] = {}
    details: dict[str, None] = {}
    improves = True
    for asked in changed:
        before = asked.difference.before
        assert before is not None
        for name in asked.difference.changed:
            old = before.values.get(name)
            new = asked.after.values.get(name)
            line = f"{name} {_shown(name, old)} → {_shown(name, new)}"
            details[f"{asked.words}: {line}"] = None
            improves = improves and _improves(name, old, new)
            if name not in _DERIVED:
                rows.setdefault(name, f"`{name}` {_shown(name, old)} → {_shown(name, new)}")
    lines = list(rows.values()) or list(details)
    which = _common_words(changed)
    sentence = f"{which}: {few(lines, _MOST_CHANGES)}"
    jobs = _jobs_of(changed)
    finding = KINDS["submission-changed"].of(
        subject,
        sentence,
        grade=Grade.NOTE if improves else None,
        changed=tuple(rows),
        **_usage_facts(jobs),
    )
    return replace(finding, details=(*details, *_usage_lines(comparison, jobs)))


def _warning(comparison: Comparison, subject: Subject, warned: Sequence[_Asked]) -> Finding:
    warnings = dict.fromkeys(line for each in warned for line in _new_warnings(each))
    jobs = _jobs_of(warned)
    which = _common_words(warned)
    sentence = f"{which} get a warning: {few((short(line, _LONGEST_REASON) for line in warnings), 1)}"
    finding = KINDS["submission-warning"].of(subject, sentence, **_usage_facts(jobs))
    return replace(finding, details=(*warnings, *_usage_lines(comparison, jobs)))


def _new_warnings(asked: _Asked) -> tuple[str, ...]:
    """Return the warnings of an accepted submission that differ in more than numbers from those before."""
    if not _is_accepted_twice(asked):
        return ()
    before = asked.difference.before
    known = {_without_numbers(line) for line in before.text.splitlines()} if before else set()
    return tuple(line for line in asked.after.text.splitlines() if _without_numbers(line) not in known)


def _without_numbers(line: str) -> str:
    return re.sub(r"[\d.,]+", "#", line)


def _improves(name: str, before: Value, after: Value) -> bool:
    """Return whether a change of this value can't harm a submission."""
    if name in _IN_USD or name == TIME_LIMIT:
        if not isinstance(before, int | float) or not isinstance(after, int | float):
            return False
        return after > before if name in (TIME_LIMIT, CONFIRMATION) else after < before
    if name in _GROWS:
        return bool(before) and str(after).startswith(str(before))
    return name in ("checkpoints", "retries") and after is True


def _common_words(asked: Sequence[_Asked]) -> str:
    """Return what equal changes have in common: `all submissions`, or the flags of the only one."""
    if any(each.is_default for each in asked):
        return "submissions" if len(asked) > 1 else "default submissions"
    shapes = {each.way[1] for each in asked}
    if len(shapes) == 1 and "" not in shapes:
        return f"all submissions on `{shapes.pop()}`"
    return few(dict.fromkeys(each.words for each in asked), 1)


def _shown(name: str, value: Value) -> str:
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if name in _IN_SECONDS and isinstance(value, int | float):
        return exact_span(value)
    if name in _IN_USD and isinstance(value, int | float):
        return f"${value:,.2f}" if name == COST else f"${value:,.2f}/h"
    return short(str(value), _LONGEST_VALUE)


def _way_words(way: Way) -> str:
    capacity_type, shape = way
    return f"`{capacity_type}` on `{shape}`" if shape else f"`{capacity_type}`"


def _lines(asked: Iterable[_Asked]) -> Iterator[str]:
    lines: dict[str, None] = {}
    for each in asked:
        lines[f"{each.words}: {each.after.text}"] = None
    yield from lines


def _jobs_hit(asked: _Asked) -> tuple[VertexJob, ...]:
    """Return the submissions of the last days that made this choice: with a flag, if the probe has a capacity type."""
    if asked.way == DEFAULT:
        return asked.probe.jobs
    return _flagged([asked])


def _flagged(asked: Iterable[_Asked]) -> tuple[VertexJob, ...]:
    """Return the jobs on a capacity type that is not where the order begins, so that a submitter named it."""
    jobs: dict[str, VertexJob] = {}
    for each in asked:
        before = each.difference.before
        for job in each.probe.jobs:
            on_shape = job.shape in ("", each.way[1])
            if before is not None and job.capacity_type == each.way[0] and on_shape:
                jobs[job.name] = job
    return tuple(jobs.values())


def _jobs_of(asked: Iterable[_Asked]) -> tuple[VertexJob, ...]:
    jobs = {job.name: job for each in asked for job in _jobs_hit(each)}
    return tuple(jobs.values())


def _users(jobs: Iterable[VertexJob]) -> list[str]:
    return list(dict.fromkeys(job.user or "an unknown user" for job in jobs))


def _usage_facts(jobs: Sequence[VertexJob]) -> Mapping[str, object]:
    submissions = {job.request_id or job.name for job in jobs}
    return {"submissions": len(submissions), "users": tuple(_users(jobs))} if jobs else {}


def _usage(comparison: Comparison, jobs: Sequence[VertexJob]) -> str:
    """Return `3 submissions by ada and ben in the last 30 days`; empty without any."""
    if not jobs:
        unread = isinstance(comparison.world.live.recent, Unknown)
        return f"use in the last {DAYS} days is unknown" if unread else ""
    submissions = {job.request_id or job.name for job in jobs}
    users = few(_users(jobs), _MOST_USERS)
    return f"{counted(len(submissions), 'submission')} by {users} in the last {DAYS} days"


def _usage_lines(comparison: Comparison, jobs: Sequence[VertexJob]) -> tuple[str, ...]:
    used = _usage(comparison, jobs)
    return (used,) if used else ()


def _sentence(what: str, used: str) -> str:
    return join((what, used), ";").replace(" ;", ";") if used else what
