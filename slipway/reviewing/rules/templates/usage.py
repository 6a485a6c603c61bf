"""Use of a template in the last days: its users, and their parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from slipway.base.formatting import counted, join
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.model.catalog.model import Offer, Template, case_in_words
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.change import DAYS, UNASKED, Change

_MOST_PEOPLE = 4


@dataclass(frozen=True)
class Usage:
    """Jobs of a template in the last days, unfinished ones among them. `unread`: why the ended ones are unknown, so
    that no use can't be claimed."""

    jobs: tuple[VertexJob, ...]
    unread: Unknown | None = None

    def having(self, fits: Callable[[VertexJob], bool]) -> Usage:
        return replace(self, jobs=tuple(job for job in self.jobs if fits(job)))

    def giving(self, parameter: str, fits: Callable[[object], bool]) -> Usage:
        return self.having(lambda job: fits((job.parameters or {}).get(parameter)))

    def grade(self, used: Grade) -> Grade:
        return min(used, Grade.WARNING) if self.unread is None and not self.jobs else used

    def words(self, did: str = "used it") -> str:
        """Return `3 submissions by 2 people used it in the last 30 days (ada 2 and ci 1)`; unknown use is told."""
        if self.unread is not None:
            why = self.unread.why if self.unread == UNASKED else f"the jobs of the last {DAYS} days could not be read"
            return f"who {did} is not known: {why}"
        if not self.jobs:
            return f"nobody {did} in the last {DAYS} days"
        people = Counter(job.user or "somebody" for job in self.jobs)
        named = [f"{who} {count}" for who, count in people.most_common(_MOST_PEOPLE)]
        more = len(people) - _MOST_PEOPLE
        whom = join([*named, *([f"{more} more"] if more > 0 else [])])
        by, each = (next(iter(people)), "") if len(people) == 1 else (f"{len(people)} people", f" ({whom})")
        return f"{counted(len(self.jobs), 'submission')} by {by} {did} in the last {DAYS} days{each}"


def finding(
    kind: str,
    template: Template,
    words: str,
    part: str = "",
    more: str = "",
    *,
    used: Usage | None = None,
    did: str = "used it",
    details: Iterable[str] = (),
    grade: Grade | None = None,
    field: str = "",
) -> Finding:
    """Return a finding. `more` ends the sentence with the part that a headline leaves out. With `used`, its users are
    named, and decide the grade."""
    if used is not None:
        details, grade = (*details, used.words(did)), grade or used.grade(KINDS[kind].usual)
    subject, more = Subject("template", template.name, part), f": {more}" if more else ""
    return KINDS[kind].of(subject, words, more=more, details=details, grade=grade, field=field)


def whose(offers: Iterable[Offer], template: Template) -> str:
    """Return the case of parameters that offers are for: ` (model=9b)`; empty where they are for several, or for
    all."""
    cases = {case_in_words(one.when) for one in offers}
    every = {case_in_words(one.when) for one in template.offers}
    return f" ({cases.pop()})" if len(cases) == 1 and cases < every and "" not in cases else ""


def usage(change: Change, template: str) -> Usage:
    unread = change.recent if isinstance(change.recent, Unknown) else None
    recent = () if isinstance(change.recent, Unknown) else change.recent
    jobs = {job.name: job for job in (*recent, *change.jobs) if job.template == template}
    return Usage(tuple(jobs.values()), unread)
