"""What may not be done to a cluster: to change one that is protected, to replace one in place that is in use. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from slipway.catalog.clusters import Cluster
from slipway.catalog.document import PublishedCatalog
from slipway.cloud.clusters import PersistentResource
from slipway.cluster import PROTECT, ClusterSpec, CurrentCluster
from slipway.errors import PolicyError
from slipway.fingerprint import cluster_id, is_id_of
from slipway.formatting import join
from slipway.generations.published_clusters import declared, differences
from slipway.generations.retiring import RetiringCluster
from slipway.labels import NAME_LABEL
from slipway.live import Unknown
from slipway.unfinished_jobs import ways_out

_GONE = "the entry itself, which is gone"
_NONE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Refusal:
    """`for_good`: only another stack file helps, so a preview ends with it too. The others go by with time.
    `then_goes`: the id of a cluster that is deleted then, before its successor is made."""

    what: str
    why: str
    fix: str
    for_good: bool = False
    then_goes: str = ""

    def __str__(self) -> str:
        return str(PolicyError(self.what, why=self.why, fix=self.fix))


def key_of(stack: str, name: str) -> str:
    """Where a person finds the cluster's entry."""
    return f"stacks/Pulumi.{stack}.yaml, slipway:persistentResources.{name}"


def protected(
    named: Iterable[tuple[ClusterSpec, str]],
    ours: Mapping[str, PersistentResource],
    catalog: PublishedCatalog | Unknown | None,
    stack: str,
    known: Mapping[str, str] = _NONE,
) -> Iterator[Refusal]:
    """A refusal for each protected cluster that the stack file changes. `named`: its clusters with their fingerprints.

    It was protected when it was deployed last, which the published catalog tells: what the stack file says now may be a
    part of the same edit. Where that catalog can't be read, the engine's state tells, which has the names of protected
    clusters (`known`, by id), and the file's own word counts, both against what lives.
    """
    asked = {spec.name: (spec, fingerprint) for spec, fingerprint in named}
    whole = catalog.whole if isinstance(catalog, PublishedCatalog) else None
    if whole is not None:
        for name, was in whole.clusters.items():
            if was.replacement == PROTECT and (changed := _changed(was, asked.get(name))):
                yield _refusal(name, was.id, changed, stack)
        return
    for name, (spec, fingerprint) in asked.items():
        living = [one for one in ours.values() if one.labels[NAME_LABEL] == name and not one.failed]
        mine = cluster_id(name, fingerprint)
        kept = spec.replacement == PROTECT or any(one.id in known for one in living)
        if kept and living and not any(is_id_of(one.id, mine) for one in living):
            yield _refusal(name, living[0].id, ["what makes another cluster of it"], stack)
    for id_, name in known.items():
        if name not in asked and id_ in ours and not ours[id_].failed:
            yield _refusal(name, id_, [_GONE], stack)


def _changed(was: Cluster, asked: tuple[ClusterSpec, str] | None) -> list[str]:
    """The keys that are edited; empty when it stays the cluster that it is."""
    if asked is None:
        return [_GONE]
    spec, fingerprint = asked
    before = declared(was).season
    if fingerprint and is_id_of(was.id, cluster_id(spec.name, fingerprint)) and spec.season == before:
        return []
    keys = [f"`{one.key}`" for one in differences(was, spec)]
    keys += ["`id`"] if spec.adopted else []
    keys += ["the dates or the `idleLimit`"] if spec.season != before else []
    return keys or ["its project, its region or its stack"]


def _refusal(name: str, id_: str, changed: list[str], stack: str) -> Refusal:
    return Refusal(
        f"cluster {name} is protected and stays as it is, so nothing was changed",
        why=f"{key_of(stack, name)}: this edits {join(changed)}: that would end {id_} (`replacement: protect`)",
        fix="put the entry back as it was\n"
        "or change it on purpose, in two deployments: put the entry back with `replacement: rollover` (or in-place) "
        "and nothing else edited, pulumi up; then make this edit",
        for_good=True,
    )


def undeletable(
    file: Iterable[ClusterSpec],
    catalog: PublishedCatalog | Unknown | None,
    stack: str,
    known: Mapping[str, str] = _NONE,
) -> Refusal | None:
    """Why a stack is not taken down: by the word of its file, or of what it deployed last: the catalog's, or where that
    can't be read the state's (`known`: protected clusters' names by id)."""
    whole = catalog.whole if isinstance(catalog, PublishedCatalog) else None
    deployed = [one.name for one in whole.clusters.values() if one.replacement == PROTECT] if whole else known.values()
    names = sorted({*deployed, *(one.name for one in file if one.replacement == PROTECT)})
    if not names:
        return None
    keys = join(f"slipway:persistentResources.{name}" for name in names)
    return Refusal(
        f"the stack is not taken down: cluster {join(names)} {'is' if len(names) == 1 else 'are'} protected",
        why=f"stacks/Pulumi.{stack}.yaml, {keys}: `replacement: protect`, or so it was deployed last",
        fix="put `replacement: rollover` there, pulumi up, and take the stack down after that",
        for_good=True,
    )


def in_the_way(old: RetiringCluster, new: CurrentCluster, stack: str) -> Refusal:
    """Why one that is in use is not replaced in place."""
    jobs = join(job.display_name for job in old.jobs)
    has = "has" if len(old.jobs) == 1 else "have"
    wait = ways_out(old.jobs, "then pulumi up again") if old.jobs else ""
    return Refusal(
        f"cluster {old.id} is not replaced in place now, so nothing was changed",
        why=f"{f'{jobs} {has} not ended' if jobs else old.why.words}, and {old.id} would be deleted before {new.id} "
        f"is made ({key_of(stack, old.name)}.replacement)",
        fix=f"{wait or 'try again when slipway pools shows it running and no machine in use'}\n"
        "or `replacement: rollover`, where there are machines for both: it is made beside the old one",
        then_goes=old.id,
    )
