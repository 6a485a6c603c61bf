"""Sentences of preview and `up`: accounts and buckets that go, alternatives of clusters, and warnings. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from slipway.authoring.stack.stack import Stack
from slipway.authoring.template.job_template import JobTemplate
from slipway.authoring.template.proof import misfits
from slipway.base.formatting import join
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.shared_grants import by_member, who_needs
from slipway.deploying.deployment.workspace_plan import WORK, SharedGrant, others_accounts
from slipway.deploying.generations.action import Action
from slipway.google.catalog.lookup import ended_images, replaceable_images
from slipway.google.live import Live
from slipway.google.quota.assessment import assess
from slipway.google.quota.findings import UNAVAILABLE
from slipway.google.quota.report import QuotaReport
from slipway.google.snapshot import ENCRYPTION_FLAG
from slipway.model.catalog.template import Template
from slipway.model.cluster import IN_PLACE
from slipway.model.findings.finding import Grade
from slipway.model.origin import Origin
from slipway.model.prices import crossing_price, price_in_words, signed, total
from slipway.model.state import State, is_adopted_bucket

_OFFERS_TOLD = 3
_MEANS: Mapping[str, str] = {
    "--uniform-bucket-level-access": "access lists of its objects say who may read them, beside the stack's grants",
    "--public-access-prevention": "it may be opened to the public",
    "--versioning": "no earlier catalog is kept when one is published",
    ENCRYPTION_FLAG: "no key of your own encrypts its new objects",
    "--clear-retention-period": "its retention keeps objects from being replaced, the catalog among them",
}


def workspace(plan: Plan, now: datetime) -> Iterator[str]:
    """Yield a line for each account and bucket that is no longer declared, with its command."""
    for resource in plan.workspace.retiring:
        when = f"with a later deployment ({resource.why.words})"
        if resource.jobs:
            jobs = join(f"{job.display_name} ({job.owner_and_age(now)})" for job in resource.jobs)
            when = f"when {jobs} {'has' if len(resource.jobs) == 1 else 'have'} ended"
        yield f"{resource.words} retires {when}"
    for resource in plan.workspace.released:
        becomes = "will be deleted, as no job needs it"
        if resource.adopted:
            becomes = "is kept as it is, as it was adopted"
        elif resource.role == WORK:
            becomes = f"stays, with people's results, and is not this stack's any more\n{_removal(resource.name)}"
        yield f"{resource.words} is not asked for any more: it {becomes}"


def of_quota(report: QuotaReport) -> Iterator[str]:
    """Yield what doesn't stop the deployment, the unavailable offers in one line."""
    closed = [
        f"{label} of {template} ({verdict.why})"
        for template, by_label in report.offers.items()
        for label, verdict in by_label.items()
        if not (verdict.available or verdict.intended or verdict.dormant)
    ]
    more = len(closed) - _OFFERS_TOLD
    if more > 0:
        closed[_OFFERS_TOLD:] = [f"{more} more, which `slipway templates` marks once deployed"]
    if closed:
        yield f"unavailable: {join(closed)}"
    for finding in report.findings:
        if finding.grade is not Grade.BLOCKING and finding.kind != UNAVAILABLE.word:
            yield str(finding)


def overdue(retiring: Action) -> str:
    """Return the warning for a generation that still exists after the stack's `retireWithin`."""
    jobs = join(job.display_name for job in retiring.jobs)
    late = f"cluster {retiring.id} should have retired by now"
    if not jobs:
        return f"{late}: {retiring.why.words}"
    return f"{late}: {jobs} still on it\n  fix: slipway jobs show {retiring.jobs[0].typed}, or go on waiting"


def shared_grants(grants: Iterable[SharedGrant]) -> str:
    """Return the grants that a destruction leaves, as another stack needs them; empty for none."""
    needed = by_member(grant for grant in grants if grant.stacks)
    return "\n".join(f"the roles of {member} stay, as {who_needs(stacks)} them" for member, stacks in needed.items())


def doubtful_grants(grants: Iterable[SharedGrant], project: str = "") -> tuple[str, ...]:
    """Return a warning where it is unknown whether another stack needs undeclared grants. With `project` the stack is
    being destroyed: no later deployment takes them away, so the warning has commands."""
    doubtful = [grant for grant in grants if not grant.stacks]
    if not doubtful:
        return ()
    whose = join(by_member(doubtful))
    why = "\n  ".join(dict.fromkeys(reason for grant in doubtful for reason in grant.unread))
    fix = "correct that; the next deployment takes away what no stack needs"
    if project:
        fix = "\n    ".join(
            ("correct that first, or afterwards:", *(_revocation(grant, project) for grant in doubtful))
        )
    return (f"the roles of {whose} stay, as nobody can tell whether another stack needs them:\n  {why}\n  fix: {fix}",)


def _revocation(shared: SharedGrant, project: str) -> str:
    grant = shared.grant
    on = f"projects remove-iam-policy-binding {project}"
    if grant.on:
        kind = "storage buckets" if grant.on.startswith("gs://") else "iam service-accounts"
        on = f"{kind} remove-iam-policy-binding {grant.on}"
    return f"gcloud {on} --member={grant.member} --role={grant.role}"


def outliving(known: State) -> str:
    """Return the resources that a destruction leaves on purpose, and how to delete them; empty for none."""
    adopted = [bucket.name for bucket in known.buckets if is_adopted_bucket(bucket.logical)]
    work = (bucket.name for bucket in known.buckets if bucket.logical.startswith(WORK) and bucket.name not in adopted)
    results = (f"bucket gs://{name} stays, with people's results\n{_removal(name)}" for name in work)
    kept = (f"cluster {id_} is kept, as it was adopted: it was there before the stack" for id_ in known.adopted)
    others = (*(f"bucket gs://{name}" for name in adopted), *(f"account {name}" for name in others_accounts(known)))
    return "\n".join((*results, *kept, *(f"{what} stays: it was there before the stack" for what in others)))


def _removal(bucket: str) -> str:
    return f"  to delete it and all in it: gcloud storage rm --recursive gs://{bucket}"


def kept_settings(names: Iterable[str], lacking: Mapping[str, tuple[str, ...]], kms_key: str) -> Iterator[str]:
    """Yield a warning for each of these buckets with missing settings, with the command for its owner. `kms_key`: the
    stack's, empty where it asks for none."""
    for name in sorted(names):
        missing = [flag for flag in lacking.get(name, ()) if kms_key or flag != ENCRYPTION_FLAG]
        if missing:
            why = join(_MEANS[flag] for flag in missing)
            flags = [f"{flag}={kms_key}" if flag == ENCRYPTION_FLAG else flag for flag in missing]
            yield (
                f"bucket gs://{name} was there before the stack and keeps its settings: {why}\n"
                f"  fix: gcloud storage buckets update gs://{name} {' '.join(flags)}"
            )


def lost(buckets: Mapping[str, str], origin: Origin) -> Iterator[str]:
    """Yield a warning for each bucket that its owner has deleted, by its role."""
    for role, name in sorted(buckets.items()):
        yield (
            f"bucket gs://{name}, which was there before the stack, is gone: a deployment makes an empty one of this "
            f"name, which is the stack's own\n  fix: make it again yourself first if it is to stay yours "
            f"({origin.key(f'slipway:workspace.{role}Bucket')})"
        )


def of_alternatives(plan: Plan, live: Live, stack: Stack, templates: Iterable[JobTemplate]) -> Iterator[str]:
    """Yield the quota that the alternatives of clusters to be made lack, which is no error, as other alternatives
    remain; and the templates that fit another configuration of such a cluster, each with the reason why not this
    one."""
    known = tuple(templates)
    for cluster in plan.current:
        unfit = misfits(known, cluster.spec) if cluster.alternatives else {}
        for alternative in cluster.alternatives:
            what = f"cluster {cluster.spec.name} {alternative.spec.called}"
            current = tuple(alternative if present is cluster else present for present in plan.current)
            report = assess(current, live, region=stack.region, mode="enforce", preview=True, old=plan.superseded_ids)
            lacks = (finding.sentence for finding in report.findings if finding.grade is Grade.BLOCKING)
            yield from (f"{what} would be refused: {lacking}" for lacking in lacks)
            for template, why in unfit.get(alternative.spec.alternative, {}).items():
                yield f"{what} is not for template {template}: {why}"


def made_otherwise(before: Plan, after: Plan, templates: Iterable[JobTemplate], region: str) -> Iterator[str]:
    """Yield a sentence for each cluster that was made as an alternative. `before`: the first configurations."""
    known = tuple(templates)
    first = {cluster.spec.name: cluster.spec for cluster in before.current}
    for cluster in after.current:
        spec, asked = cluster.spec, first[cluster.spec.name]
        if not spec.alternative or asked.alternative:
            continue
        price, usual = total((spec,), region), total((asked,), region)
        more = signed(price.floor.known - usual.floor.known)
        change = f" ({more} idle)" if price.complete and usual.complete else ""
        far = ""
        if spec.region:
            moves = f"what they read from {region} crosses regions, {crossing_price(region, [spec.region])}"
            far = f"; its jobs' results stay there, and {moves}"
        unfit = misfits(known, asked).get(spec.alternative, {})
        without = f"; not offered on it: {join(unfit)}" if unfit else ""
        where = "in the place of this one, which goes first" if spec.replacement == IN_PLACE else "beside this one"
        yield (
            f"cluster {spec.name} was made in another way: {cluster.id} {spec.called}, "
            f"{price_in_words(price)}{change}{far}{without}; it stays until another is declared: take "
            f"{spec.place_in_order} out of `alternatives` of {spec.name} to have it made as asked for first, {where}"
        )


def of_images(templates: Mapping[str, Template], published: Mapping[str, Template], now: datetime) -> Iterator[str]:
    """Yield the prebuilt images whose last day is over and that have a newer one, for templates that did not run them
    in the last deployment."""
    before = ended_images(published.values(), now)
    for image, names in replaceable_images(templates.values(), now).items():
        if new := [name for name in names if name not in before.get(image, ())]:
            yield f"{join(new)}: {image.ended(now)}\n  fix: {image.fix}"
