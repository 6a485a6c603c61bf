"""The catalog, and leftovers of killed runs: in the engine's backend, in this checkout's journals, among packages."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import timedelta
from itertools import chain

from slipway.base.formatting import counted, join, short, size
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.catalog.lookup import ended_images, jobs_of
from slipway.google.live import Unknown
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.state import State
from slipway.operating.doctor.picture import LONGEST_RUN, Picture

_OWN_IMAGE = "set an image of your own in these templates, as Google's list has nothing newer: code=Image(…)"
_GOES_ON = "it goes on from there, unless that deployment is still at work"
_ABANDONED = timedelta(minutes=10)
_KEPT = timedelta(days=90)
_AT_ONCE = 5
"""The most packages in one command."""
_CALLED = {"creation": "clusters/asked-for.json (the object whose writing makes the clusters)"}
"""The names that people see in the bucket, by the engine's own, which tell nobody anything."""


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
        does = f"it deploys them; {picture.origin.command('preview')} says what changes"
        yield KINDS["catalog-older"].of(subject, words, picture.up, does)
    if published.whole.dirty:
        words = f"the catalog was deployed from {commit} with local changes, which nobody can look up"
        yield KINDS["catalog-dirty"].of(subject, words, picture.up, "from a clean checkout")
    yield from _unfinished(published, picture)


def images(picture: Picture) -> Iterator[Finding]:
    """Find prebuilt images past a day of Google's list, which only the templates' owners can replace."""
    templates = picture.catalog.templates.values() if picture.catalog else ()
    for image, names in ended_images(templates, picture.now).items():
        words = f"{image.ended(picture.now)}; {join(names)} {'runs' if len(names) == 1 else 'run'} it"
        grade = Grade.WARNING if image.gone(picture.now) else Grade.NOTE
        fix = f"set in these templates {image.fix}" if image.newer else _OWN_IMAGE
        yield KINDS["image-ended"].of(Subject("image", image.name), words, fix, grade=grade)


def _missing(subject: Subject, picture: Picture) -> Finding:
    backend = picture.backend
    state = backend.state if backend else None
    known = state if isinstance(state, State) else State()
    living = (picture.there.get(cluster.name) for cluster in known.clusters)
    # A run that takes a stack down deletes the catalog first, and then the clusters. A later run may have cleared its
    # pending steps; a cluster in deletion tells as much.
    if backend and (backend.deletes or any(cluster and cluster.state == "STOPPING" for cluster in living)):
        words = f"stack {picture.stack} has no catalog, as a run that takes it down has not come to its end"
        return KINDS["catalog-missing"].of(subject, words, *picture.go_on)
    does = "it publishes one"
    if known != State():
        does += f"; where it was refused, first do as its error says (slipway explain reads it); {picture.destroy}"
    words = f"stack {picture.stack} has no catalog: nobody can submit"
    return KINDS["catalog-missing"].of(subject, words, picture.up, does)


def _unfinished(published: PublishedCatalog, picture: Picture) -> Iterator[Finding]:
    """Find an unfinished deployment. The catalog is written last, so a resource that only the state has is of one that
    ended before. One that replaces a cluster in place takes it out of the catalog first."""
    backend, kind = picture.backend, KINDS["deployment-unfinished"]
    ended = backend is not None and not backend.pending
    for cluster in published.whole.dormant.values() if published.whole else ():
        late = cluster.since is not None and picture.now - cluster.since > LONGEST_RUN
        if cluster.why == "in-place" and (late or ended):
            since = f" for {picture.since(cluster.since)}" if cluster.since else ""
            words = f"a deployment ended before {cluster.name} was made: no job can be sent to it{since}"
            yield kind.of(Subject("cluster", cluster.id), words, picture.up, _GOES_ON)
    if backend and ended and isinstance(backend.state, State):
        known = {cluster.name for cluster in backend.state.clusters}
        ahead = sorted(known - {*published.clusters.values(), *published.retiring})
        if ahead:
            words = f"the last deployment ended before it published: the state has {join(ahead)}, the catalog does not"
            yield kind.of(Subject("state", picture.stack), words, picture.up, _GOES_ON)


def backend(picture: Picture) -> Iterator[Finding]:
    """Find a missing state, and steps that a run has begun and not ended."""
    engine = picture.backend
    if engine is None:
        return
    if engine.state is None and picture.published is not None and not isinstance(picture.published, Unknown):
        sentence = f"the backend {engine.address} has no stack {picture.stack}, and its catalog is published"
        fix = "set PULUMI_BACKEND_URL to where the stack was deployed from, and look again"
        means = f"or, where the state is lost: {picture.origin.command('select')}, and a deployment adopts what lives"
        yield KINDS["state-missing"].of(Subject("stack", picture.stack), sentence, fix, means)
    if engine.pending:
        names = join(_CALLED.get(name, name) for name in engine.pending)
        if engine.deletes:
            sentence = f"a run is deleting {names}, or was killed there: then nobody knows whether it was done"
            fix, means = picture.go_on
        else:
            sentence = f"a run is at work on {names}, or was killed there: then nobody knows whether it was done"
            fix = picture.origin.command("refresh", "--clear-pending-creates")
            means = "where it was killed: clears that; then a deployment takes over what was made"
        yield KINDS["operation-pending"].of(Subject("state", picture.stack), sentence, fix, means)


def submissions(picture: Picture) -> Iterator[Finding]:
    """Find submissions of this machine to which no answer came."""
    for submission in picture.submissions:
        if picture.now - submission.when < _ABANDONED:
            continue
        template, request_id = submission.template, submission.request_id
        ago = picture.since(submission.when)
        if submission.words is None:
            fix = f"submit {template} with --request-id {request_id} and the parameters and flags that it had"
        else:
            typed = ["slipway", "submit", template, *submission.words, "--request-id", request_id]
            fix = shlex.join(typed) + picture.of_catalog
        yield KINDS["submission-abandoned"].of(
            Subject("submission", request_id),
            f"submission {request_id} of {template} was interrupted {ago} ago as it was sent",
            fix,
            "finds its job, or sends it once",
        )


def packages(picture: Picture) -> Iterator[Finding]:
    if picture.catalog is None or isinstance(picture.packages, Unknown) or isinstance(picture.jobs, Unknown):
        return
    templates = picture.catalog.templates.values()
    used = {template.package for template in templates}
    used |= {uri for job in (*picture.jobs, *chain.from_iterable(map(jobs_of, templates))) for uri in job.needed}
    old = picture.now - _KEPT
    unused = (stored for stored in picture.packages if str(stored.at) not in used)
    left = [
        (stored.updated, str(stored.at), stored.size)
        for stored in unused
        if stored.updated is not None and stored.updated < old
    ]
    if left:
        amount = f"{counted(len(left), 'package')}, {size(sum(length for _, _, length in left))}"
        words = f"packages of earlier deployments older than {_KEPT.days} days are used by nothing: {amount}"
        does = "or leave them: the bucket's lifecycle deletes packages after two years"
        if len(left) > _AT_ONCE:
            does = f"the oldest {_AT_ONCE}; slipway doctor then names the next; {does}"
        mend = f"gcloud storage rm {shlex.join(uri for _, uri, _ in sorted(left)[:_AT_ONCE])}"
        yield KINDS["package-left"].of(Subject("packages", picture.stack), words, mend, does)
