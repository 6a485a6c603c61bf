"""Requests for more quota: those that a change makes, their possible grants, and their outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slipway.google.live import Unknown
from slipway.google.quota.increases import became_of, preference_of
from slipway.google.quota.request import more
from slipway.model.facts import QuotaLine
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.change import Change, drawn_as_deployed, drawn_by_season
from slipway.reviewing.rules.words import in_words, of_limit

_WORST_FIRST = {
    "hopeless": ", nothing granted of what was asked for",
    "partly": ", less granted than asked for",
    "pending": ", what is missing is asked for",
}


def asked_for(change: Change) -> Iterator[Finding]:
    """Find requests to Google that nobody has made before."""
    before = (change.before.quota.requests if change.before else None) or {}
    for metric, asked in _requests(change).items():
        there = preference_of(change.live, metric)
        if (there and not more(asked, there.preferred)) or not more(asked, before.get(metric, 0)):
            continue
        limits = change.live.limits
        limit = None if isinstance(limits, Unknown) else limits.get(metric)
        what = f"{asked:,} {in_words(metric)} in {change.after.quota.region if change.after else ''}"
        season, deployed = drawn_by_season(change, metric), drawn_as_deployed(change, metric)
        yield KINDS[f"{'season-' if season else 'deployed-' if deployed else ''}quota-requested"].of(
            Subject("quota", metric),
            f"Google is asked for {what}{of_limit(limit.limit if limit else None)}: its answer may take days, and what "
            "is granted is never given back",
        )


def may_get(change: Change, line: QuotaLine) -> int:
    """Return the limit that the stack asks for and may get; 0 where it asks for none, as in another region than its
    own, or has been given less already."""
    if line.region:
        return 0
    asked, there = _requests(change).get(line.metric, 0), preference_of(change.live, line.metric)
    settled = there is not None and not there.reconciling and there.preferred == asked
    return 0 if settled else asked


def requests_in_words(change: Change, lines: Iterable[QuotaLine]) -> str:
    """Return the outcome of the requests for these, if there are any: the worst one, after a comma."""
    states = set()
    for line in lines:
        there = None if line.region else preference_of(change.live, line.metric)
        if may_get(change, line):
            states.add("pending")
        elif there:
            states.add(became_of(there).state)
    return next((words for state, words in _WORST_FIRST.items() if state in states), "")


def _requests(change: Change) -> dict[str, int]:
    return dict((change.after.quota.requests if change.after else None) or {})
