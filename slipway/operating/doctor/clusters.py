"""Clusters that are broken, unknown to the stack, or too old."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from slipway.base.formatting import join, short, span
from slipway.deploying.generations.generations import retirement
from slipway.google.clusters import RUNNING_STATES, PersistentResource
from slipway.google.live import Unknown
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.fingerprint import cluster_id, fingerprint_of, is_id_of
from slipway.model.identity import words_of
from slipway.model.labels import NAME_LABEL, STACK_LABEL
from slipway.model.prices import dollars
from slipway.model.season import MACHINES
from slipway.model.state import State
from slipway.operating.doctor.picture import Picture

ADVISED = timedelta(days=30)
"""vertex-rules 0.10: the service advises to make a cluster anew after that, for its machines' updates."""
_RETIRES_WITHIN = timedelta(days=1)
_MADE_WITHIN = timedelta(hours=2)
_ANOTHER_ID = "name another id, or take the entry out; then deploy"


def clusters(picture: Picture) -> Iterator[Finding]:
    if isinstance(picture.clusters, Unknown):
        return
    for name, id_ in picture.offered.clusters.items():
        if id_ not in picture.there:
            words = f"cluster {id_} is not there, and the catalog offers it as {name}: submissions to it fail"
            mend, means = picture.up, "it makes the cluster anew"
            if id_ in picture.offered.adopted:
                mend, means = picture.line(name, "id"), _ANOTHER_ID
            yield KINDS["cluster-gone"].of(Subject("cluster", id_), words, mend, means)
    for cluster in sorted(picture.clusters, key=lambda cluster: cluster.id):
        if cluster.made_by(picture.identity.label):
            yield from _ours(cluster, picture)
        elif cluster.id in picture.offered.adopted and picture.at_home(cluster):
            yield from _adopted(cluster, picture)
        elif cluster.id not in picture.adopted_by_stacks or not picture.at_home(cluster):
            yield from _others(cluster, picture)


def not_made(picture: Picture) -> Iterator[Finding]:
    """Find declared clusters that are not there, mostly as no deployment could have their machines yet. The catalog has
    those that it offers nothing for; the others the stack's file tells, as their predecessors are offered meanwhile."""
    catalog, age = picture.catalog, picture.offered.age
    if catalog is None:
        return
    lasts = f"for {span(age.total_seconds())} or longer" if age else "for an unknown time"
    for rests in catalog.dormant.values():
        if rests.awaited:
            words = f"is declared and has not been there {lasts}: no job can be sent to it"
            yield _not_made(rests.name, rests.id, words, picture)
        elif MACHINES in (rests.lacks or ()):
            words = f"{rests.reason(picture.now).state}: no job can be sent to it"
            yield _not_made(rests.name, rests.id, words, picture)
    ago = f", of {span(age.total_seconds())} ago," if age else ""
    for spec in picture.declared:
        if spec.adopted or spec.name in catalog.dormant or not spec.season.includes(picture.now):
            continue
        hashes = (
            fingerprint_of(catalog.identity.label, catalog.project, catalog.region, option) for option in spec.options
        )
        ids, offered = [cluster_id(spec.name, fingerprint) for fingerprint in hashes], catalog.clusters.get(spec.name)
        if any(is_id_of(id_, base) for id_ in (*picture.there, offered.id if offered else "") for base in ids):
            continue
        has = f"offers {offered.id} in its place" if offered else "does not have it"
        words = f"is declared{' anew' if offered else ''}, as {ids[0]}, and not there: the catalog{ago} {has}"
        yield _not_made(spec.name, ids[0], words, picture)


def _not_made(name: str, id_: str, words: str, picture: Picture) -> Finding:
    means = "it tries again; "
    means += f"`createWithin` or `alternatives` in {picture.line(name)} give it more time, or other machines"
    grade = Grade.NOTE if picture.may_be_deploying else None
    at_work = "; a deployment may be making it" if grade else ""
    kind = KINDS["cluster-not-made"]
    return kind.of(Subject("cluster", id_), f"cluster {name} {words}{at_work}", picture.up, means, grade=grade)


def _adopted(cluster: PersistentResource, picture: Picture) -> Iterator[Finding]:
    """Report only that jobs can't run on an adopted cluster: the rest is its owner's business."""
    if cluster.state in ("ERROR", "STOPPING"):
        name = next(name for name, id_ in picture.offered.clusters.items() if id_ == cluster.id)
        words = f"cluster {cluster.id}, adopted as {name}, is in {cluster.state}{_error(cluster)}"
        mend, means = picture.line(name, "id"), f"{_ANOTHER_ID}; its owner mends it"
        yield KINDS["cluster-failed"].of(Subject("cluster", cluster.id), words, mend, means)


def _ours(cluster: PersistentResource, picture: Picture) -> Iterator[Finding]:
    name, subject, called = cluster.labels[NAME_LABEL], Subject("cluster", cluster.id), picture.called(cluster)
    current = picture.offered.clusters.get(name, "")
    age = picture.now - cluster.create_time if cluster.create_time else timedelta()
    if cluster.failed:
        since = f" for {picture.since(cluster.update_time)}" if cluster.update_time else ""
        words = f"{called} has been in ERROR{since}{_error(cluster)} and holds its name"
        successor = picture.there.get(current)
        if successor is not None and successor.id != cluster.id and not successor.failed:
            words += f"; {current} is there in its place"
            yield KINDS["name-blocked"].of(subject, words, picture.up, "it clears the cluster")
        else:
            yield KINDS["cluster-failed"].of(subject, words, picture.up, "it clears the cluster and makes it anew")
        return
    if cluster.state == "PROVISIONING" and age > _MADE_WITHIN:
        words = f"{called} has been in the making for {span(age.total_seconds())}"
        yield KINDS["cluster-slow"].of(subject, words, picture.up, "it waits for its end, and says what became of it")
    yield from _unknown(cluster, picture)
    if current == cluster.id and cluster.state in RUNNING_STATES and age > ADVISED:
        words = f"{called} is {span(age.total_seconds())} old; the cloud advises {ADVISED.days}"
        mend = f"raise `generation` of {name} in {picture.line(name)}"
        yield KINDS["cluster-old"].of(subject, words, mend, "a new cluster, as after an edit")
    elif current != cluster.id and cluster.state in RUNNING_STATES and cluster.id in picture.offered.retiring:
        yield from _retires(cluster, picture)


def _unknown(cluster: PersistentResource, picture: Picture) -> Iterator[Finding]:
    """Find clusters that the state does not know, where that was read, else the catalog."""
    subject, called, costs = Subject("cluster", cluster.id), picture.called(cluster), dollars(picture.per_hour(cluster))
    backend = picture.backend
    busy = Grade.NOTE if backend is not None and backend.pending else None
    under_way = "; a deployment seems to be under way, which may be making it" if busy else ""
    does = "it takes the cluster over, or deletes it when idle"
    if backend is not None and isinstance(backend.state, State):
        if not backend.state.has(picture.project, cluster.region or picture.region, cluster.id):
            words = f"{called} is in no state, so no deployment ends it by itself: {costs}{under_way}"
            yield KINDS["cluster-in-no-state"].of(subject, words, picture.up, does, grade=busy)
    elif picture.catalog is not None and not picture.catalog.knows(cluster.id):
        words = f"{called} belongs to the stack and is not in its catalog: {costs}{under_way}"
        yield KINDS["cluster-in-no-catalog"].of(subject, words, picture.up, does, grade=busy)


def _retires(cluster: PersistentResource, picture: Picture) -> Iterator[Finding]:
    """Report a retiring cluster that is overdue.

    The time is counted from its successor's creation, the end of its season, or the deployment that dropped its entry.
    Otherwise the retirement is only known to have begun by the publication of the catalog that has it: no alarm until
    that is too long ago, but a note all the same, as the cluster is paid for meanwhile.
    """
    name, whole = cluster.labels[NAME_LABEL], picture.catalog
    successor = picture.there.get(picture.offered.clusters.get(name, ""))
    rests = whole.dormant.get(name) if whole else None
    declared = rests or (whole.clusters.get(name) if whole else None)
    gone = (whole.removed or {}).get(cluster.id) if whole and declared is None else None
    since, within = retirement(declared, successor, rests.since if rests else None, gone)
    lasts = picture.now - since if since else picture.offered.age
    late = lasts is not None and lasts > (within or _RETIRES_WITHIN)
    if since and not late:
        return
    long = "for an unknown time"
    if lasts is not None:
        long = f"for {span(lasts.total_seconds())}{'' if since else ' or longer'}"
    use, command = _use(cluster, picture)
    words = f"{picture.called(cluster)} has been retiring {long}: {use or 'it is idle'}, "
    words += dollars(picture.per_hour(cluster))
    if use:
        mend = command or f"slipway pools{picture.of_catalog}"
        does = "or wait: a deployment deletes the cluster when it is idle"
    else:
        mend, does = picture.up, "it deletes the cluster"
    grade = None if late else Grade.NOTE
    yield KINDS["cluster-retires-long"].of(Subject("cluster", cluster.id), words, mend, does, grade=grade)


def _use(cluster: PersistentResource, picture: Picture) -> tuple[str, str]:
    """Return the present use of a cluster as text, and the command that shows it; each is empty if there is none."""
    if isinstance(picture.jobs, Unknown):
        return "its jobs can't be read", ""
    if jobs := picture.jobs_on(cluster):
        use = f"{join(job.display_name for job in jobs)} {'is' if len(jobs) == 1 else 'are'} on it"
        return use, f"slipway jobs show {jobs[0].typed}{picture.of_catalog}"
    if cluster.in_use and not cluster.failed:
        return "its machines are in use", ""
    return "", ""


def _others(cluster: PersistentResource, picture: Picture) -> Iterator[Finding]:
    """Report other states, without a deletion while the service works on the cluster."""
    stack, subject = cluster.labels.get(STACK_LABEL, ""), Subject("cluster", cluster.id)
    called, region = picture.called(cluster), cluster.region or picture.region
    use, command = _use(cluster, picture)
    if use:
        busy = f", and {use}"
        mend = command or f"leave {cluster.id} alone until nothing uses its machines"
        does = "ask whoever uses it"
    else:
        busy = ""
        mend = f"gcloud ai persistent-resources delete {cluster.id} --project={picture.project} --region={region}"
        does = "if nobody needs it; ask whoever made it first"
    if cluster.id in {*picture.offered.clusters.values(), *picture.offered.retiring} - picture.offered.adopted:
        words = f"{called} has an id of this stack and not its labels: somebody else made it, so it is left alone{busy}"
        yield KINDS["name-taken"].of(subject, words, mend, f"{does}; until it is gone nothing is deployed")
    elif cluster.state != "STOPPING" and not (stack and (not picture.stacks or stack in picture.stacks)):
        costs = "" if cluster.failed else f": {dollars(picture.per_hour(cluster))}"
        whose = f"belongs to {words_of(stack)}, of which there is no file here" if stack else "is in no stack"
        if not stack and not cluster.failed and picture.at_home(cluster):
            does += f"; to keep it and submit to it, adopt it by `id: {cluster.id}` (docs/adoption.md)"
        yield KINDS["cluster-in-no-stack"].of(subject, f"{called} {whose}{costs}{busy}", mend, does)


def _error(cluster: PersistentResource) -> str:
    return f" ({short(cluster.error, 200)})" if cluster.error else ""
