"""Jobs of other deployments, which run as an account, or write to a bucket, that this stack has not made and does not
delete. The other deployment's catalog keeps the roles that they need, so such jobs keep nothing of this stack. Pure."""

from __future__ import annotations

from collections.abc import Collection

from slipway.deploying.deployment.workspace_plan import others_accounts
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.jobs import VertexJob
from slipway.google.live import InUse, Neighbours, Unknown
from slipway.model.labels import STACK_LABEL
from slipway.model.state import State, is_adopted_bucket


def jobs_of_others(use: InUse, known: State, labels: Collection[str]) -> list[VertexJob]:
    """Return the jobs that need nothing of a stack but what it has not made. `labels`: the stack's, and those of the
    stacks that go with it."""
    adopted = _adopted(known)
    made = {each.name for each in (*known.accounts, *known.buckets)} - adopted
    others = [job for job in use.jobs if _is_of_another(job, use, labels)]
    lent = [job for job in others if any(map(job.needs, adopted))]
    return [job for job in lent if not any(map(job.needs, made))]


def kept_by_their_catalogs(jobs: Collection[VertexJob], known: State, catalogs: Neighbours) -> list[VertexJob]:
    """Return those of other deployments' jobs whose own catalogs, which are published, keep what they need."""
    if isinstance(catalogs, Unknown):
        return []
    published = {each.owner: each for each in catalogs.values() if isinstance(each, PublishedCatalog)}
    adopted = _adopted(known)
    return [job for job in jobs if _is_kept(job, published.get(job.labels[STACK_LABEL]), adopted)]


def _is_kept(job: VertexJob, catalog: PublishedCatalog | None, adopted: Collection[str]) -> bool:
    return catalog is not None and all(catalog.offers(name) for name in adopted if job.needs(name))


def _is_of_another(job: VertexJob, use: InUse, labels: Collection[str]) -> bool:
    is_labelled = job.labels.get(STACK_LABEL, "") not in ("", *labels)
    return is_labelled and job.persistent_resource_id not in (use.clusters or ())


def _adopted(known: State) -> set[str]:
    """Return the accounts and buckets that the stack has not made."""
    buckets = {bucket.name for bucket in known.buckets if is_adopted_bucket(bucket.logical)}
    return {*others_accounts(known), *buckets}
