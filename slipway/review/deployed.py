"""The deployed facts, as far as they can be told, which a change is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from slipway import facts
from slipway.catalog.document import PublishedCatalog
from slipway.catalog.model import Catalog
from slipway.catalog.withdrawal import before_withdrawal
from slipway.codec import MalformedError
from slipway.facts import CATALOG, Fact, Facts
from slipway.live import Unknown
from slipway.review.events import Published, deployed
from slipway.review.preview import Preview

_OBJECT = "gcp:storage/bucketObject:BucketObject"


@dataclass(frozen=True)
class Deployed:
    """`facts` is None where nothing is deployed, or nobody can tell, which `unread` says, a sentence each."""

    facts: Facts | None
    unread: tuple[str, ...] = ()


def published_in(preview: Preview) -> str:
    """The bucket that has the stack's catalog; empty while none is published."""
    for step in (*preview.standing.values(), *preview.steps):
        if step.type == _OBJECT and step.parent == CATALOG and step.old is not None:
            return str((step.old.outputs or step.old.inputs).get("bucket") or step.old.inputs.get("bucket", ""))
    return ""


def read(preview: Preview, catalog: PublishedCatalog | Unknown | None, after: Facts | None) -> Deployed:
    """`catalog` is what is published: it is written last, so it never runs ahead of what is deployed. The components'
    own inputs do after a deployment that failed, so they tell only what no catalog has, and all of it where the
    catalog can't be read. What neither tells is as in `after`, what the program declares: not compared."""
    components = deployed(preview)
    if catalog is None:
        return Deployed(None)
    if isinstance(catalog, PublishedCatalog) and catalog.whole is not None:
        return _beside(components, catalog.whole, after)
    why = str(catalog) if isinstance(catalog, Unknown) else catalog.damage or "it is of another version"
    told = (
        f"the published catalog can't be read ({why}), so what is deployed is taken from the last deployment's inputs"
    )
    try:
        found = facts.read(components)
    except MalformedError as problem:
        found, told = None, f"{told}, which another version wrote ({problem}): it is not compared"
    return Deployed(found, (told,))


def as_declared(catalog: Catalog) -> Catalog:
    """The catalog as the components of a preview tell it, without what differs at each deployment; with what was
    withdrawn to be replaced in place, as the deployment of that has not come to its end."""
    bare = Facts(before_withdrawal(catalog))
    told = (facts.read(_components(bare)) or bare).catalog
    return replace(told, retiring=catalog.retiring, trainers=catalog.trainers)


def _beside(components: tuple[Published, ...], catalog: Catalog, after: Facts | None) -> Deployed:
    same = as_declared(catalog)
    try:
        found = facts.read(components, same)
    except MalformedError as problem:
        found, why = None, f"who may submit, and how quota is checked, was written by another version ({problem})"
    else:
        why = "the events do not tell who may submit now"
    if found is None:
        return Deployed(replace(after or Facts(same), catalog=same), (f"{why}, so that is not compared",))
    return Deployed(found)


def _components(of: Facts) -> tuple[Published, ...]:
    clusters: Mapping[str, Fact] = of.clusters
    return (
        (facts.WORKSPACE, "workspace", of.workspace),
        *((facts.CLUSTER, id_, one) for id_, one in clusters.items()),
        *((facts.TEMPLATE, name, one) for name, one in of.templates.items()),
        (CATALOG, "catalog", of.published),
    )
