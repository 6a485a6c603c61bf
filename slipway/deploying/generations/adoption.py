"""Adopted clusters: somebody else made them, the stack file names them by their ids, and they are used unchanged.

The engine has no resource for an adopted cluster. So it can't change or delete it, whatever becomes of the stack, and a
lost state loses nothing. Each deployment compares the entry with the living cluster, as templates are proven by the
entry. Pure.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace

from slipway.base.formatting import join, nearest
from slipway.google.clusters import STEADY, PersistentResource
from slipway.model.cluster import ACCOUNTS_FLAG, Adoption, ClusterSpec, CurrentCluster
from slipway.model.cluster_fields import as_asked, compare
from slipway.model.fingerprint import is_id_of
from slipway.model.identity import words_of
from slipway.model.labels import NAME_LABEL, STACK_LABEL
from slipway.model.origin import Origin

_FILE = Origin("")
_USABLE = ("RUNNING", "UPDATING", "REBOOTING")
_ACCOUNTS = "serviceAccount.custom"
_OUT = "name another, or leave the cluster out"


def adopted(spec: ClusterSpec, adoption: Adoption, cluster: PersistentResource | None) -> CurrentCluster:
    """Return the cluster with its own labels and display name. None: it was not read."""
    if cluster is None:
        return CurrentCluster(spec, adoption.id, "", import_=True, state="adopted, not read")
    named = replace(spec, display_name=cluster.display_name or spec.name, labels=cluster.labels)
    return CurrentCluster(named, adoption.id, "", import_=True, state=cluster.state)


def _own(spec: ClusterSpec, cluster: PersistentResource, origin: Origin) -> str:
    """Return how an entry keeps a cluster of the stack itself: by the settings, and by the name that the id is of."""
    made = f"{origin.whole('this')} made {cluster.id}"
    name = cluster.labels.get(NAME_LABEL, spec.name)
    if name == spec.name:
        return f"{made}; leave `id` out: the settings by which it was made keep it"
    return f"{made} as cluster {name}; leave `id` out, and {origin.keep(name)}"


def obstacles(
    spec: ClusterSpec,
    adoption: Adoption,
    clusters: Mapping[str, PersistentResource],
    generated: Iterable[str],
    *,
    stack: str,
    place: str,
    kept: Container[str] = (),
    origin: Origin = _FILE,
) -> Iterator[str]:
    """Yield the reasons why a cluster can't be adopted as its entry says, a sentence each, with where to mend it.
    `clusters` by id; `generated`: the first ids of the stack's own clusters; `kept`: ids that the engine has as its
    own; `place`: the region and project, as text."""
    id_, cluster = adoption.id, clusters.get(adoption.id)
    whose = cluster.labels.get(STACK_LABEL) if cluster else None
    if cluster is None:
        near = nearest(id_, clusters)
        others = f"did you mean {near}?" if near else f"there: {join(sorted(clusters)) or 'none'}"
        yield _at(origin, spec, "id", f"there is no cluster {id_} in {place}; {others}; {_OUT}")
    elif whose == stack:
        yield _at(origin, spec, "id", _own(spec, cluster, origin))
    elif whose:
        words = f"{id_} belongs to {words_of(whose)} ({STACK_LABEL}), which deletes it when it is done with it"
        yield _at(origin, spec, "id", f"{words}; submit to it by that stack, or {_OUT}")
    elif id_ in kept:
        words = f"{id_} is in the state, so the engine would delete it as one of its own"
        out = "pulumi state delete URN makes the engine forget it (pulumi stack --show-urns tells the URN)"
        yield _at(origin, spec, "id", f"{words}; {out}; or {_OUT}")
    elif any(is_id_of(id_, base) for base in generated):
        words = f"{id_} is an id of {origin.whole('this')}'s own clusters, and somebody else made this one"
        yield _at(origin, spec, "id", f"{words}; raise `generation` of the cluster that would have it, or {_OUT}")
    elif cluster.state not in _USABLE:
        why = f" ({cluster.error})" if cluster.error else ""
        then = "deploy again when it runs" if cluster.state == "PROVISIONING" else _OUT
        yield _at(origin, spec, "id", f"{id_} is in {cluster.state}{why}, so nobody could submit to it; {then}")
    else:
        yield from differences(spec, cluster, origin)


def differences(spec: ClusterSpec, cluster: PersistentResource, origin: Origin = _FILE) -> Iterator[str]:
    """Yield the differences between an entry and the living cluster, a sentence each. While the cluster grows or
    shrinks its numbers are not compared."""
    for difference in compare(spec, as_asked(cluster.spec, spec, steady=cluster.state == STEADY)):
        last = difference.key.rpartition(".")[2]
        mend = f"take `{origin.argument(last)}` out"
        if difference.after:
            mend = f"write `{origin.written(last, difference.written or difference.after)}`"
        if difference.key == _ACCOUNTS and difference.after == "false":
            mend = f"no template can run on it: name one that was made with {ACCOUNTS_FLAG}, or {mend}"
        before, after = difference.before or "none", difference.after or "none"
        words = f"the {origin.noun} says {before}, and {cluster.id} has {after}; {mend}"
        yield _at(origin, spec, difference.key, words)


def _at(origin: Origin, spec: ClusterSpec, key: str, words: str) -> str:
    """Return `stacks/Pulumi.dev.yaml:12  slipway:persistentResources.ray.id: …`, as findings of a stack file begin."""
    line = spec.adopted.line(key) if spec.adopted else ""
    return f"{f'{line}  ' if line else ''}{origin.key(f'slipway:persistentResources.{spec.name}.{key}')}: {words}"
