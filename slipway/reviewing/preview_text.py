"""The first lines of `pulumi preview` and `up`: the consequences, as far as the program itself knows them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from slipway.answers.comparison import DAYS, Comparison, World
from slipway.base.errors import Fault, SlipwayError
from slipway.deploying.deployment.deployment import Deployment
from slipway.deploying.deployment.summary import workspace
from slipway.deploying.deployment.workspace_plan import SUBMITTER_ROLES
from slipway.google.live import Unknown
from slipway.google.quota.report import quota_text
from slipway.google.quota.request import QuotaRequest
from slipway.model.catalog.model import Catalog
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import UNKNOWN_COMMIT
from slipway.model.state import State
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.reading import as_declared
from slipway.reviewing.rejection import rejection
from slipway.reviewing.render.text import plain_text
from slipway.reviewing.reviewer import review

_NOT_READ = Unknown(f"a deployment does not read the jobs of the last {DAYS} days", "", "")
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
) -> tuple[str, ...]:
    """Return the messages of a run, in order.

    Args:
        deployment: The planned deployment.
        known: The state of Pulumi's backend.
        now: The time.
        preview: Whether the run is a preview, which also lists folded details and quota.
        publishes: Whether the catalog is published, so that the templates are offered.
    """
    reviewed = review(Change(_comparison(deployment, known, now, publishes=publishes)))
    called = deployment.stack.origin.called(deployment.stack.name)
    findings = (*_rejection(deployment, reviewed.findings), *reviewed.findings)
    reviewed = replace(reviewed, stack=called, findings=findings)
    commit = ""
    if deployment.revision.commit != UNKNOWN_COMMIT:
        commit = f" @ {deployment.revision}"
    untouched = UNTOUCHED_BY_UP if deployment.stack.program else UNTOUCHED
    shown = plain_text(reviewed, untouched, details=preview)
    old = workspace(deployment.plan, now)
    text = "\n".join((*deployment.plan.notes, f"{called}{commit}", shown, *old))
    if not preview or not deployment.report.lines:
        return (text,)
    suffices = all(line.state == "ok" for line in deployment.report.lines)
    if reviewed.silent and suffices:
        return (text,)
    return text, quota_text(deployment.report)


def _comparison(deployment: Deployment, known: State | Unknown, now: datetime, *, publishes: bool) -> Comparison:
    """Return the comparison with the published catalog, or with nothing if none of this deployment is published."""
    offered = deployment.catalog
    if not publishes:
        offered = replace(offered, templates={})
    after = replace(deployment.facts, catalog=as_declared(offered))
    published = deployment.live.deployed
    before = None
    if published is not None and published.identity == deployment.stack.identity:
        state = State() if isinstance(known, Unknown) else known
        before = _before(published, after, state, deployment.report.requests)
    world = World(replace(deployment.live, recent=_NOT_READ), now)
    return Comparison.between(deployment.stack.origin.stack, before, after, world)


def _rejection(deployment: Deployment, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield why the deployment is rejected, if no other finding says so."""
    try:
        deployment.refuse()
    except SlipwayError as error:
        if not any(KINDS[finding.kind].refuses for finding in findings):
            yield rejection(Fault(error.what, error.why, error.fix))


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
