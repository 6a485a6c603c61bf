"""Clusters that are broken, that nobody keeps, or that are there for too long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from slipway.catalog.document import PublishedCatalog
from slipway.cloud.clusters import RUNNING_STATES, PersistentResource
from slipway.doctor.picture import Picture
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join, short, span
from slipway.generations.current_generation import is_ours
from slipway.labels import NAME_LABEL, STACK_LABEL
from slipway.live import Unknown
from slipway.prices import dollars
from slipway.state import State

ADVISED = timedelta(days=30)
"""vertex-rules 0.10: the service advises to make a cluster anew after that, for its machines' updates."""
_RETIRES_WITHIN = timedelta(days=1)
_MADE_WITHIN = timedelta(hours=2)


def clusters(picture: Picture) -> Iterator[Finding]:
    if isinstance(picture.clusters, Unknown):
        return
    there = picture.there
    for name, id_ in picture.current.items():
        if id_ not in there and id_ in picture.adopted:
            words = f"cluster {id_}, adopted as {name}, is not there any more: submissions to it fail"
            mend, does = picture.line(name, "id"), "name another id, or take the entry out; then pulumi up"
            yield KINDS["cluster-gone"].of(Subject("cluster", id_), words, mend, does)
        elif id_ not in there:
            words = f"cluster {id_} is not there, and the catalog offers it as {name}: submissions to it fail"
            yield KINDS["cluster-gone"].of(Subject("cluster", id_), words, picture.up, "it makes the cluster anew")
    for cluster in sorted(picture.clusters, key=lambda one: one.id):
        if is_ours(cluster, picture.stack):
            yield from _ours(cluster, picture, there)
        elif cluster.id in picture.adopted and picture.at_home(cluster):
            yield from _adopted(cluster, picture)
        elif cluster.id not in picture.spoken_for or not picture.at_home(cluster):
            yield from _others(cluster, picture)


def _adopted(cluster: PersistentResource, picture: Picture) -> Iterator[Finding]:
    """What becomes of one that somebody else made is theirs; that jobs can't run on it is told."""
    if cluster.state in ("ERROR", "STOPPING"):
        name = next(name for name, id_ in picture.current.items() if id_ == cluster.id)
        why = f" ({short(cluster.error, 200)})" if cluster.error else ""
        words = f"cluster {cluster.id}, adopted as {name}, is in {cluster.state}{why}: submissions to it fail"
        mend, does = (
            picture.line(name, "id"),
            "name another id, or take the entry out; whoever made it mends the cluster",
        )
        yield KINDS["cluster-failed"].of(Subject("cluster", cluster.id), words, mend, does)


def _ours(cluster: PersistentResource, picture: Picture, there: Mapping[str, PersistentResource]) -> Iterator[Finding]:
    name, subject = cluster.labels[NAME_LABEL], Subject("cluster", cluster.id)
    if cluster.failed:
        yield _failed(cluster, picture, there)
        return
    if cluster.state == "PROVISIONING" and (age := _age(cluster, picture)) and age > _MADE_WITHIN:
        words = f"{picture.called(cluster)} has been in the making for {_span(age)}"
        words += ", which may go on until there are machines"
        yield KINDS["cluster-slow"].of(subject, words, picture.up, "it waits for its end, and says what became of it")
    yield from _unknown(cluster, picture)
    current = picture.current.get(name)
    if current == cluster.id:
        yield from _old(cluster, name, picture)
    elif cluster.state in RUNNING_STATES and cluster.id in _retiring(picture):
        yield from _retires(cluster, picture, there.get(current or ""))


def _failed(cluster: PersistentResource, picture: Picture, there: Mapping[str, PersistentResource]) -> Finding:
    since = f" for {_span(picture.now - cluster.update_time)}" if cluster.update_time else ""
    why = f" ({short(cluster.error, 200)})" if cluster.error else ""
    subject, name = Subject("cluster", cluster.id), cluster.labels[NAME_LABEL]
    words = f"{picture.called(cluster)} has been in ERROR{since}{why} and holds its name"
    current = there.get(picture.current.get(name, ""))
    if current is not None and current.id != cluster.id and not current.failed:
        words += f"; {current.id} is there in its place"
        return KINDS["name-blocked"].of(subject, words, picture.up, "it clears what failed")
    return KINDS["cluster-failed"].of(subject, words, picture.up, "it clears the cluster and tries again")


def _unknown(cluster: PersistentResource, picture: Picture) -> Iterator[Finding]:
    """To the state, where that was read, else to the catalog."""
    subject, called, costs = Subject("cluster", cluster.id), picture.called(cluster), dollars(picture.per_hour(cluster))
    backend = picture.backend
    busy = Grade.NOTE if backend is not None and backend.busy else None
    under_way = "; a deployment seems to be under way, which may be making it" if busy else ""
    if backend is not None and isinstance(backend.state, State):
        if not backend.state.has(picture.project, cluster.region or picture.region, cluster.id):
            words = f"{called} is in no state, so no deployment ends it by itself: {costs}{under_way}"
            does = "it takes the cluster over, or deletes it when idle"
            yield KINDS["cluster-in-no-state"].of(subject, words, picture.up, does, grade=busy)
    elif picture.catalog is not None and not _listed(cluster, picture):
        words = f"{called} belongs to the stack and is not in its catalog: {costs}{under_way}"
        does = "when no deployment is under way; it takes the cluster over, or deletes it"
        yield KINDS["cluster-in-no-catalog"].of(subject, words, picture.up, does, grade=busy)


def _listed(cluster: PersistentResource, picture: Picture) -> bool:
    """By the catalog: as offered, as retiring, or as one that rests."""
    rests = [one.id for one in picture.catalog.dormant.values()] if picture.catalog else []
    known = cluster.id in {*picture.current.values(), *_retiring(picture)}
    return known or any(cluster.id == id_ or cluster.id.startswith(f"{id_}-") for id_ in rests)


def _old(cluster: PersistentResource, name: str, picture: Picture) -> Iterator[Finding]:
    age = _age(cluster, picture)
    if cluster.state in RUNNING_STATES and age is not None and age > ADVISED:
        words = f"{picture.called(cluster)} is {_span(age)} old; the cloud advises {ADVISED.days}"
        mend = f"raise `generation` of {name} in {picture.line(name)}"
        yield KINDS["cluster-old"].of(Subject("cluster", cluster.id), words, mend, "a new cluster, as after an edit")


def _retires(cluster: PersistentResource, picture: Picture, successor: PersistentResource | None) -> Iterator[Finding]:
    """Counted from its successor's making, or from the end of its season; of one that the stack file names no more,
    from when that was deployed where it had a limit. Else it is known only that it retires since the catalog that says
    so was published at the latest: no alarm until that is too long, and told all the same, as a new commit publishes
    anew and it is paid for meanwhile."""
    name, subject, called = cluster.labels[NAME_LABEL], Subject("cluster", cluster.id), picture.called(cluster)
    whole = picture.catalog
    rests = whole.dormant.get(name) if whole else None
    declared = rests or (whole.clusters.get(name) if whole else None)
    within = timedelta(seconds=declared.retire_within) if declared and declared.retire_within else _RETIRES_WITHIN
    since = successor.create_time if successor else rests.since if rests else None
    gone = (whole.removed or {}).get(cluster.id) if whole and declared is None else None
    if gone:
        within, since = timedelta(seconds=gone.retire_within), gone.since
    at_least = picture.published.age if isinstance(picture.published, PublishedCatalog) else None
    lasts = picture.now - since if since else at_least
    late = lasts is not None and lasts > within
    if since and not late:
        return
    costs, jobs = dollars(picture.per_hour(cluster)), picture.jobs_on(cluster)
    long = f" for {_span(lasts)}{'' if since else ' or longer'}" if lasts is not None else " for an unknown time"
    if jobs:
        are = f"{join(job.display_name for job in jobs)} still {'runs' if len(jobs) == 1 else 'run'}"
        words = f"{called} has been retiring{long}: {are}, {costs}"
        mend = f"slipway jobs show {jobs[0].typed}{picture.of_catalog}"
        does = "or wait: a deployment deletes the cluster when it is idle"
    elif cluster.in_use:
        words = f"{called} has been retiring{long}: a job that no list shows uses its machines, {costs}"
        mend, does = (
            f"slipway pools{picture.of_catalog}",
            "wait until none is in use: a deployment deletes the cluster then",
        )
    else:
        words = f"{called} has been retiring{long} and is idle: {costs} for nothing"
        mend, does = picture.up, "it deletes the cluster"
    yield KINDS["cluster-retires-long"].of(subject, words, mend, does, grade=None if late else Grade.NOTE)


def _others(cluster: PersistentResource, picture: Picture) -> Iterator[Finding]:
    stack, subject = cluster.labels.get(STACK_LABEL, ""), Subject("cluster", cluster.id)
    region, called = cluster.region or picture.region, picture.called(cluster)
    delete = f"gcloud ai persistent-resources delete {cluster.id} --project={picture.project} --region={region}"
    busy, look = _at_work(cluster, picture)
    if cluster.id in {*picture.current.values(), *_retiring(picture)} - picture.adopted:
        words = f"{called} has an id of this stack and not its labels: somebody else made it, so it is left alone{busy}"
        does = "ask whoever uses it to delete it" if look else "if nobody needs it"
        does += "; until then nothing is deployed, with another `generation` neither"
        yield KINDS["name-taken"].of(subject, words, look or delete, does)
        return
    if cluster.state == "STOPPING" or (stack and (not picture.stacks or stack in picture.stacks)):
        return
    costs = "" if cluster.failed else f": {dollars(picture.per_hour(cluster))}"
    whose = f"belongs to stack {stack}, of which there is no file here" if stack else "is in no stack"
    does = "ask whoever uses it" if look else "if nobody needs it; ask whoever made it first"
    if not stack and not cluster.failed and picture.at_home(cluster):
        does += f"; to keep it and submit to it, adopt it by `id: {cluster.id}` (docs/adoption.md)"
    yield KINDS["cluster-in-no-stack"].of(subject, f"{called} {whose}{costs}{busy}", look or delete, does)


def _at_work(cluster: PersistentResource, picture: Picture) -> tuple[str, str]:
    """What somebody else's cluster does, and what to look at first, as no deletion is named while it does something;
    both empty where it does nothing."""
    if jobs := picture.jobs_on(cluster):
        on_it = f", and {join(job.display_name for job in jobs)} on it"
        return on_it, f"slipway jobs show {jobs[0].typed}{picture.of_catalog}"
    if cluster.in_use and not cluster.failed:
        return ", and its machines are in use", f"leave {cluster.id} alone until nothing uses its machines"
    return "", ""


def _retiring(picture: Picture) -> tuple[str, ...]:
    return () if picture.published is None or isinstance(picture.published, Unknown) else picture.published.retiring


def _age(cluster: PersistentResource, picture: Picture) -> timedelta | None:
    return picture.now - cluster.create_time if cluster.create_time else None


def _span(age: timedelta) -> str:
    return span(age.total_seconds())
