"""The first lines of `pulumi preview` and `up`: the consequences, as far as the program itself knows them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from slipway.base.errors import Fault, SlipwayError
from slipway.deploying.deployment.deployment import Deployment
from slipway.deploying.deployment.summary import workspace
from slipway.deploying.deployment.workspace_plan import SUBMITTER_ROLES
from slipway.google.live import Unknown
from slipway.google.quota.report import quota_text
from slipway.google.quota.request import QuotaRequest
from slipway.model.catalog.model import Catalog
from slipway.model.facts import Facts
from slipway.model.labels import UNKNOWN_COMMIT
from slipway.model.state import State
from slipway.reviewing.change.change import UNASKED, Change
from slipway.reviewing.change.reading import as_declared
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.review import review
from slipway.reviewing.rules.program import refusal
from slipway.reviewing.told.headline import plain_text

UNTOUCHED = "up leaves clusters, templates, people, quota and prices as they are"
"""The parts that the program can tell. The engine may have steps all the same, which follow below."""
UNTOUCHED_BY_UP = "pulumi up changes no clusters, templates, people, quota or prices; pulumi destroy deletes them"
"""The same of a program of one's own, which Pulumi does not tell whether it runs for `up` or for `destroy`."""


def preview_text(
    deployment: Deployment,
    known: State | Unknown,
    now: datetime,
    *,
    preview: bool,
    publishes: bool = True,
    needless: Callable[[Consequence], bool] = lambda _: False,
) -> tuple[str, ...]:
    """Return messages in order, compared with nothing where nothing is deployed, or where that is unknown. Cards stand
    in a preview alone, which an `up` shows first. `publishes`: people are offered the templates; `needless` tells of a
    consequence that they need not read."""
    catalog, plan = deployment.live.deployed, deployment.plan
    offered = deployment.catalog if publishes else replace(deployment.catalog, templates={})
    after = replace(deployment.facts, catalog=as_declared(offered))
    before = None
    if catalog is not None and catalog.identity == deployment.stack.identity:
        before = _before(catalog, after, State() if isinstance(known, Unknown) else known, deployment.report.requests)
    live = replace(deployment.live, recent=UNASKED)
    reviewed = review(Change.between(deployment.stack.name, before, after, live, now))
    called = deployment.stack.origin.called(deployment.stack.name)
    told = tuple(part for part in reviewed.consequences if not needless(part))
    told = (*_refused(deployment, told), *told)
    reviewed = replace(reviewed, stack=called, consequences=told)
    old = workspace(plan, now)
    commit = "" if deployment.revision.commit == UNKNOWN_COMMIT else f" @ {deployment.revision}"
    untouched = UNTOUCHED_BY_UP if deployment.stack.program else UNTOUCHED
    said = "\n".join((*plan.notes, f"{called}{commit}", plain_text(reviewed, untouched, cards=preview), *old))
    idle = reviewed.silent and reviewed.quota == "ok"
    return (said, quota_text(deployment.report)) if preview and deployment.report.lines and not idle else (said,)


def _refused(deployment: Deployment, told: Iterable[Consequence]) -> Iterator[Consequence]:
    """Yield why the deployment is refused, where nothing else tells it."""
    try:
        deployment.refuse()
    except SlipwayError as error:
        if not any(part.refuses for part in told):
            yield refusal(Fault(error.what, error.why, error.fix))


def _before(published: Catalog, after: Facts, known: State, requests: Iterable[QuotaRequest]) -> Facts:
    """Return the facts of the deployed stack. Parts in neither catalog nor state are as in `after`: not compared."""
    catalog = as_declared(published)
    current = {catalog.trainer, *catalog.buckets, *(cluster.id for cluster in catalog.clusters.values())}
    # Without its bucket there is no state: it was lost, or nothing is deployed yet.
    members = known.submitters if known.catalog_bucket else tuple(after.submitters)
    # A former submitter may have roles that another stack needs, and one of a trainer of their own has the same.
    may = published.submitters.get(published.trainer, ())
    roles = {member: dict(SUBMITTER_ROLES) for member in members if member in may}
    listed = {*catalog.retiring, *(thing.name for thing in (*known.clusters, *known.buckets, *known.accounts))}
    kept = {id_: thing for id_, thing in after.kept.items() if id_ in listed - current}
    by_id = {preference.id: preference.preferred for preference in known.preferences}
    checks = {**after.checks, **known.checks}
    quota = replace(
        after.quota,
        mode=checks["mode"],
        strict=checks["strict"],
        requests={each.metric: by_id[each.id] for each in requests if each.id in by_id} or None,
    )
    # A catalog of an older version does not tell whether the stack allowed code, but of a template.
    code = bool(published.code) or any(template.takes_code for template in published.templates.values())
    policy = checks["policy"]
    return replace(after, catalog=catalog, submitters=roles, kept=kept, quota=quota, code=code, policy=policy)
