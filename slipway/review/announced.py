"""What was announced: what a deployment said that time alone would bring, once it has. Pure.

A scheduled deployment is there for that. In the review of a pull request it is a change that nobody has to approve.
"""

from __future__ import annotations

from slipway.catalog.model import Catalog
from slipway.deployment.workspace_plan import WRITES_METRICS
from slipway.facts import Kept
from slipway.kinds import KINDS
from slipway.review.change import Change


def let_go(change: Change, id_: str) -> Kept | None:
    """An account or a bucket, by its name, that was kept for jobs alone, and that nothing needs any more. None for all
    others: what the deployed catalog still sends jobs to was not given up by a deployment that came to its end."""
    if change.before is None or change.after is None or id_ in change.after.kept or _needed(id_, change):
        return None
    asked_for = {*_names(change.before.catalog), *_names(change.after.catalog)}
    kept = None if id_ in asked_for else change.before.kept.get(id_)
    return kept if kept and kept.kind != "cluster" else None


def lapsed(change: Change, account: str, role: str, place: str) -> bool:
    """Whether an account's role, which the workspace granted it, was kept for jobs alone that have ended: the account
    itself was, or no template had asked for the role when the stack was deployed last. `place`: empty for the project.
    """
    if let_go(change, account):
        return True
    if role != WRITES_METRICS or place or change.old is None or change.new is None or _needed(account, change):
        return False
    return not any(_writes_metrics(catalog, account) for catalog in (change.old, change.new))


def _needed(id_: str, change: Change) -> bool:
    return any(job.needs(id_) for job in change.jobs)


def _names(catalog: Catalog) -> tuple[str, ...]:
    """Of what jobs of this catalog need: accounts and buckets."""
    return catalog.trainer, *catalog.trainers.values(), catalog.catalog_bucket, catalog.work_bucket


def _writes_metrics(catalog: Catalog, account: str) -> bool:
    """Whether some template asks for what `workspace_plan.trainer_roles` grants; true for an account of none."""
    if account not in _names(catalog):
        return True
    offers = (offer for template in catalog.templates.values() for offer in template.offers if offer.kind in KINDS)
    specs = (KINDS[offer.kind].spec_of(offer.request) for offer in offers)
    return any(
        spec.get("serviceAccount") == account and (spec.keys() & {"experiment", "tensorboard"}) for spec in specs
    )
