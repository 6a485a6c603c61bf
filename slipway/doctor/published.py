"""The catalog, and the quota that what it offers draws."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from math import ceil

from slipway.catalog.document import PublishedCatalog
from slipway.doctor.commands import destroys, go_on
from slipway.doctor.picture import Picture
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join, short
from slipway.live import INCREASABLE, UNLIMITED, Unknown
from slipway.quota.by_hand import by_gcloud
from slipway.quota.metrics import label, namespace
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
        yield _missing(subject, picture)
        return
    if published.whole is None:
        why = short(published.damage or "another version wrote it", 300)
        words = f"the catalog of {picture.stack} can't be read ({why}): nobody can submit with this version"
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


def _missing(subject: Subject, picture: Picture) -> Finding:
    """A run that takes a stack down deletes its catalog first, and then its clusters."""
    backend = picture.backend
    state = backend.state if backend else None
    known = state if isinstance(state, State) else State()
    there = (picture.there.get(one.name) for one in known.clusters)
    # What was pending a later run has cleared; that the cloud deletes a cluster tells as much.
    if backend and (backend.deletes or any(one and one.state == "STOPPING" for one in there)):
        words = f"stack {picture.stack} has no catalog, as a run that takes it down has not come to its end"
        return KINDS["catalog-missing"].of(subject, words, *go_on(picture))
    does = "it publishes one" if known == State() else f"it publishes one; {destroys(picture)}"
    words = f"stack {picture.stack} has no catalog: nobody can submit"
    return KINDS["catalog-missing"].of(subject, words, picture.up, does)


def _unfinished(published: PublishedCatalog, picture: Picture) -> Iterator[Finding]:
    """The catalog is written last: what the state has and it does not is of a deployment that ended before. One that
    replaces a cluster in place takes it out of the catalog first."""
    backend, kind = picture.backend, KINDS["deployment-unfinished"]
    ended = backend is not None and not backend.busy
    for one in published.whole.dormant.values() if published.whole else ():
        late = one.since is not None and picture.now - one.since > _LONGEST_RUN
        if (one.why == "in-place" and (late or ended)) or (one.awaited and ended):
            since = f" for {picture.since(one.since)}" if one.since and one.why == "in-place" else ""
            words = f"a deployment ended before {one.name} was made: no job can be sent to it{since}"
            yield kind.of(Subject("cluster", one.id), words, picture.up, "it goes on from there")
    if backend and ended and isinstance(backend.state, State):
        known = {one.name for one in backend.state.clusters}
        ahead = sorted(known - {*published.clusters.values(), *published.retiring})
        if ahead:
            words = f"the last deployment ended before it published: the state has {join(ahead)}, the catalog does not"
            yield kind.of(Subject("state", picture.stack), words, picture.up, "it goes on from there")


def quota(picture: Picture) -> Iterator[Finding]:
    if isinstance(picture.quota, QuotaReport):
        for line in picture.quota.lines:
            yield from _nearly(line, picture)
        for one in picture.quota.findings:
            if one.kind == AWAITS:
                # What nobody has asked for yet; else where the answers stand.
                short = (line for line in one.facts["lines"] if not line.requested and line.limit is not None)
                asks = dict.fromkeys(_ask_for_more(line, line.limit, picture) for line in short)
                yield replace(one, fix=join(asks) or f"slipway quota{picture.of_catalog}")


def _nearly(line: Line, picture: Picture) -> Iterator[Finding]:
    if line.now is None or line.others is None or line.limit is None or line.limit == UNLIMITED:
        return
    used = line.now + (line.retiring or 0) + line.others
    if not used or used < _NEARLY * line.limit:
        return
    rest = max(0, line.limit - used)
    which = f"{namespace(line.metric)} {label(line.metric)} in {line.region}"
    words = f"{which}: {used:,} of {line.limit:,} in use, {rest:,} left"
    words += f" ({line.others:,} by others)" if line.others else ""
    mend, means = f"slipway quota{picture.of_catalog}", f"more was asked for: {line.requested}"
    if line.requested is None:
        mend, means = _ask_for_more(line, line.limit, picture), line.increase
    yield KINDS["quota-nearly-used"].of(Subject("quota", line.key), words, mend, means)


def _ask_for_more(line: Line, limit: int, picture: Picture) -> str:
    """As much as is drawn at most, or a quarter more, in whole machines."""
    if line.increase != INCREASABLE:
        return "free some of it, or use machines of another type"
    more = line.enough if line.enough > limit else limit + line.each * ceil(limit / 4 / line.each)
    if line.elsewhere:
        words = f"ask for {more:,} of {line.metric} in {line.region}, on the page of quotas in Google's console"
        return by_gcloud(picture.project, line, more, picture.catalog.quotas if picture.catalog else None) or words
    ask = f"slipway quota --request {line.metric}={more}{picture.of_catalog}"
    if picture.contact:
        return f"{ask} --contact {shlex.quote(picture.contact)}"
    return f"ask for more: {ask}, with --contact"
