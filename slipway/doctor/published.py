"""The catalog, and the quota that what it offers draws."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from math import ceil

from slipway.catalog.document import PublishedCatalog
from slipway.doctor.picture import Picture
from slipway.doctor.taking_down import broke_off, destroys, ways
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join, short, span
from slipway.live import INCREASABLE, UNLIMITED, Unknown
from slipway.quota.by_hand import by_gcloud
from slipway.quota.report import Line, QuotaReport
from slipway.quota.seasons import AWAITS
from slipway.state import State

_NEARLY = 0.9
_LONGEST_RUN = timedelta(hours=3)


def catalog(picture: Picture) -> Iterator[Finding]:
    published, subject = picture.published, Subject("catalog", picture.stack)
    if isinstance(published, Unknown):
        return
    if published is None:
        words = f"stack {picture.stack} has no catalog: nobody can submit"
        mend, does = picture.up, "it publishes one"
        if broke_off(picture):
            words = f"stack {picture.stack} has no catalog, as a run that takes it down has not come to its end"
            mend, does = ways(picture)
        elif picture.backend is not None and isinstance(known := picture.backend.state, State) and known != State():
            does += f"; {destroys(picture)}"
        yield KINDS["catalog-missing"].of(subject, words, mend, does)
        return
    if published.whole is None:
        why = published.damage or "another version wrote it"
        words = f"the catalog of {picture.stack} can't be read ({short(why, 300)}): nobody can submit with this version"
        yield KINDS["catalog-damaged"].of(subject, words, picture.up, "it publishes it anew")
        return
    commit = published.whole.commit
    if picture.commits:
        change = "commit since then changes" if len(picture.commits) == 1 else "commits since then change"
        words = f"the catalog is of {commit}, and {len(picture.commits)} {change} what is deployed"
        words += f" (the newest: {short(picture.commits[0], 80)})"
        does = f"it deploys them; pulumi preview --stack {picture.stack} says what changes"
        yield KINDS["catalog-older"].of(subject, words, picture.up, does)
    if published.whole.dirty:
        words = f"the catalog was deployed from {commit} with local changes, which nobody can look up"
        yield KINDS["catalog-dirty"].of(subject, words, picture.up, "from a clean checkout")
    yield from _unfinished(published, picture)


def _unfinished(published: PublishedCatalog, picture: Picture) -> Iterator[Finding]:
    """The catalog is written last: what the state has and it does not is of a deployment that ended before. One that
    replaces a cluster in place takes it out of the catalog first."""
    backend = picture.backend
    for one in published.whole.dormant.values() if published.whole else ():
        since = picture.now - one.since if one.since else timedelta()
        if one.why == "in-place" and (since > _LONGEST_RUN or (backend is not None and not backend.busy)):
            words = f"a deployment that replaces {one.name} in place ended before it was done: no job can be sent to it"
            words += f" for {span(since.total_seconds())}"
            yield KINDS["deployment-unfinished"].of(
                Subject("cluster", one.id), words, picture.up, "it goes on from there"
            )
        if one.awaited and backend is not None and not backend.busy:
            words = f"a deployment ended before it could make {one.name}: no job can be sent to it"
            yield KINDS["deployment-unfinished"].of(Subject("cluster", one.id), words, picture.up, "it tries again")
    if backend is None or backend.busy or not isinstance(backend.state, State):
        return
    known = {one.name for one in backend.state.clusters}
    ahead = sorted(known - {*published.clusters.values(), *published.retiring})
    if ahead:
        words = f"the last deployment ended before it published: the state has {join(ahead)}, the catalog does not"
        yield KINDS["deployment-unfinished"].of(
            Subject("state", picture.stack), words, picture.up, "it goes on from there"
        )


def quota(picture: Picture) -> Iterator[Finding]:
    if isinstance(picture.quota, QuotaReport):
        for line in picture.quota.lines:
            yield from _nearly(line, picture)
        for one in picture.quota.findings:
            if one.kind == AWAITS:
                yield replace(one, fix=_ask_for_all(one.facts["lines"], picture))


def _ask_for_all(lines: tuple[Line, ...], picture: Picture) -> str:
    """What nobody has asked for yet; else where the answers stand."""
    asks = [_ask_for_more(one, one.limit, picture) for one in lines if not one.requested and one.limit is not None]
    return join(dict.fromkeys(asks)) or f"slipway quota{picture.of_catalog}"


def _nearly(line: Line, picture: Picture) -> Iterator[Finding]:
    if line.now is None or line.others is None or line.limit is None or line.limit == UNLIMITED:
        return
    used = line.now + (line.retiring or 0) + line.others
    if not used or used < _NEARLY * line.limit:
        return
    rest = max(0, line.limit - used)
    words = f"{line.namespace} {line.label} in {line.region}: {used:,} of {line.limit:,} in use, {rest:,} left"
    words += f" ({line.others:,} by others)" if line.others else ""
    if line.requested is not None:
        mend, means = f"slipway quota{picture.of_catalog}", f"more was asked for: {line.requested}"
    else:
        mend, means = _ask_for_more(line, line.limit, picture), line.increase
    yield KINDS["quota-nearly-used"].of(Subject("quota", line.key), words, mend, means)


def _ask_for_more(line: Line, limit: int, picture: Picture) -> str:
    """What is drawn at most, or a quarter more, in whole machines, where the limit is enough for that."""
    if line.increase != INCREASABLE:
        return "free some of it, or use machines of another type"
    more = line.enough if line.enough > limit else limit + line.each * ceil(limit / 4 / line.each)
    if line.elsewhere:
        words = f"ask for {more:,} of {line.metric} in {line.region}, on the page of quotas in Google's console"
        published = picture.published
        catalog = published.whole if isinstance(published, PublishedCatalog) else None
        return by_gcloud(picture.project, line, more, catalog.quotas if catalog else None) or words
    ask = f"slipway quota --request {line.metric}={more}{picture.of_catalog}"
    return (
        f"{ask} --contact {shlex.quote(picture.contact)}" if picture.contact else f"ask for more: {ask}, with --contact"
    )
