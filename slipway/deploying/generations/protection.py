"""Refusals to change a protected cluster, or to replace a cluster in use in place. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from slipway.base.errors import PolicyError
from slipway.base.formatting import join
from slipway.deploying.generations.action import Action, What, Why
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.live import Unknown
from slipway.google.unfinished_jobs import ways_out
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import PROTECT, ClusterSpec
from slipway.model.cluster_fields import compare
from slipway.model.fingerprint import cluster_id, is_id_of
from slipway.model.labels import NAME_LABEL
from slipway.model.origin import Origin

_GONE = "its declaration, which is gone"
_NONE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Refusal:
    what: str
    why: str
    fix: str
    #: Whether only another stack file helps, so that a preview ends with it too. Others pass with time.
    for_good: bool = False
    #: Fields of the workspace with their deployed values.
    stays: Mapping[str, str] = field(default_factory=dict)

    @property
    def error(self) -> PolicyError:
        return PolicyError(self.what, why=self.why, fix=self.fix)


def protected(
    named: Iterable[tuple[ClusterSpec, str]],
    ours: Mapping[str, PersistentResource],
    deployed: Catalog | None,
    known: Mapping[str, str],
) -> Iterator[Action]:
    """Yield a refusal for each protected cluster that the stack file changes.

    `named`: the stack file's clusters with their fingerprints.
    `known`: the names of protected clusters in the engine's state, by id.

    A cluster is protected if the last deployment had it so, which the published catalog tells: the stack file's present
    word may be a part of the same edit. Where that catalog can't be read, the engine's state and the file's own word
    count, both compared with the living clusters.
    """
    asked = {spec.name: (spec, fingerprint) for spec, fingerprint in named}
    if deployed is not None:
        for name, was in deployed.clusters.items():
            if was.replacement == PROTECT and (changed := _changed(was, asked.get(name))):
                yield _refused(name, was.id, *changed)
        return
    for name, (spec, fingerprint) in asked.items():
        living = [cluster for cluster in ours.values() if cluster.labels[NAME_LABEL] == name and not cluster.failed]
        mine = cluster_id(name, fingerprint)
        kept = spec.replacement == PROTECT or any(cluster.id in known for cluster in living)
        if kept and living and not any(is_id_of(cluster.id, mine) for cluster in living):
            yield _refused(name, living[0].id, "what makes another cluster of it")
    for id_, name in known.items():
        if name not in asked and id_ in ours and not ours[id_].failed:
            yield _refused(name, id_, _GONE)


def _changed(was: Cluster, asked: tuple[ClusterSpec, str] | None) -> list[str]:
    if asked is None:
        return [_GONE]
    spec, fingerprint = asked
    before = was.season
    if fingerprint and is_id_of(was.id, cluster_id(spec.name, fingerprint)) and spec.season == before:
        return []
    keys = [difference.key for difference in compare(was, spec)]
    if spec.adopted:
        keys.append("id")
    if spec.season != before:
        keys.append("the dates or the `idleLimit`")
    return keys or ["its project, its region or its stack"]


def _refused(name: str, id_: str, *changed: str) -> Action:
    return Action(name, id_, What.REFUSE, Why.PROTECTED, edited=changed)


def refusal(action: Action, origin: Origin) -> Refusal:
    """Return the refusal to deploy anything while that is asked for."""
    old, entry = action.id, f"slipway:persistentResources.{action.cluster}"
    rollover = origin.assign("replacement", "rollover")
    if action.why is Why.PROTECTED:
        parts = (origin.argument(part) if " " in part else f"`{origin.argument(part)}`" for part in action.edited)
        edited = f"this edits {join(parts)}, which would end {old}"
        return Refusal(
            f"cluster {action.cluster} is protected, so nothing was changed",
            why=f"{origin.place(entry)}: {edited} ({origin.protects})",
            fix=f"put {origin.key(entry)} back as it was\n"
            f"or, in two deployments: put it back with {origin.unprotected} and no other edit; then make this edit",
            for_good=True,
        )
    jobs = join(job.display_name for job in action.jobs)
    has = "has" if len(action.jobs) == 1 else "have"
    wait = ways_out(action.jobs, "then deploy again") if jobs else ""
    return Refusal(
        f"cluster {old} is not replaced in place now, so nothing was changed",
        why=f"{f'{jobs} {has} not ended' if jobs else action.why.words}, and {old} would be deleted before "
        f"{join(action.instead)} is made ({origin.place(f'{entry}.replacement')})",
        fix=f"{wait or 'try again when slipway pools shows it running and no machine in use'}\n"
        f"or `{rollover}`, where there are machines for both: it is made beside the old one",
    )


def undeletable(
    file: Iterable[ClusterSpec],
    catalog: PublishedCatalog | Unknown | None,
    origin: Origin,
    known: Mapping[str, str] = _NONE,
) -> Refusal | None:
    """Return the refusal to take a stack with protected clusters down.

    A cluster is protected by the file's word, or by the last deployment's. The catalog tells that; where it can't be
    read, the engine's state does (`known`: the names of protected clusters, by id).
    """
    whole = catalog.whole if isinstance(catalog, PublishedCatalog) else None
    deployed = (
        [cluster.name for cluster in whole.clusters.values() if cluster.replacement == PROTECT]
        if whole
        else known.values()
    )
    names = sorted({*deployed, *(cluster.name for cluster in file if cluster.replacement == PROTECT)})
    if not names:
        return None
    first, *others = (f"slipway:persistentResources.{name}" for name in names)
    keys = join((origin.place(first), *map(origin.key, others)))
    return Refusal(
        f"{origin.whole()} is not taken down: cluster {join(names)} {'is' if len(names) == 1 else 'are'} protected",
        why=f"{keys}: {origin.protects}, or so it was deployed last",
        fix=f"put {origin.unprotected} there, deploy that, and take {origin.whole()} down after that",
        for_good=True,
    )
