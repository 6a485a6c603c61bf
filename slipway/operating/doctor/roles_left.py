"""Roles that Slipway gave: those of a member whom no stack names any more, and those that are gone.

IAM does not tell who granted a role. A stack gives its submitters four at once, which nobody else has together.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator

from slipway.base.formatting import few, short
from slipway.deploying.deployment.shared_grants import rights
from slipway.deploying.deployment.workspace_plan import SUBMITTER_ROLES
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Unknown
from slipway.google.permissions import Bound, living
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.operating.doctor.picture import Picture, Policy, UnseenPolicy

_ROLES = frozenset(SUBMITTER_ROLES.values())
_AGENT, _AGENT_ROLE = "@gcp-sa-aiplatform.iam.gserviceaccount.com", "roles/aiplatform.serviceAgent"
_OTHER_TOOL = "if it goes again, another tool manages that policy: docs/organisation.md#other-tools"
_WITHOUT = {"project": "nobody can submit", "account": "nobody can submit as it", "bucket": "no job can write there"}
"""The lack of all roles that a stack gave on a resource, by its kind."""


def strangers(policies: Iterable[Policy | UnseenPolicy], own: PublishedCatalog | Unknown | None) -> dict[str, Policy]:
    """Return the members who have all roles of a submitter on the project and are not in the stack's own catalog, with
    the policy."""
    named = _submitters((own,))
    return {
        member: policy
        for policy in policies
        if isinstance(policy, Policy) and policy.on.what == "project"
        for member in sorted({bound.member for bound in policy.bound})
        if member.lower() not in named and {Bound(role, member) for role in _ROLES} <= policy.bound
    }


def roles_left(picture: Picture) -> Iterator[Finding]:
    """Find them. The stack's own state has those that a killed run has not come to."""
    others = picture.neighbours
    unread = [str(others)] if isinstance(others, Unknown) else list(_unread((*others.values(), picture.published)))
    named = _submitters(() if isinstance(others, Unknown) else others.values())
    state = picture.backend.state if picture.backend else None
    known = () if state is None or isinstance(state, Unknown) else state.submitters
    for member, policy in strangers(picture.policies, picture.published).items():
        if member.lower() in named:
            continue
        who = member if living(member) == member else f"{living(member)}, which was deleted,"
        subject, what = Subject("member", member), f"{who} has the roles of a submitter on {policy.on}"
        left = f"{what}, and no stack names them any more"
        if unread:
            words = f"{what}, and whether a stack names them can't be told: {short(unread[0], 200)}"
            again = f"slipway doctor{f' --stack {picture.stack}' if picture.document else picture.of_catalog}"
            yield KINDS["unread-part"].of(subject, words, again, "once that can be read")
        elif member in known:
            mend = (picture.up, "it takes away what no stack needs") if picture.published else picture.go_on
            yield KINDS["roles-left"].of(subject, left, *mend)
        else:
            revoke = " && ".join(policy.revoke(Bound(role, member)) for role in sorted(_ROLES))
            means = "unless somebody gave them by hand, or a stack with an adopted catalog bucket did"
            yield KINDS["roles-left"].of(subject, left, revoke, means)


def roles_gone(picture: Picture) -> Iterator[Finding]:
    """Find roles that the stack gave to its submitters and trainers, and that are gone, as with an account that was
    deleted and made again."""
    catalog = picture.catalog
    if catalog is None or picture.may_be_deploying:
        return
    accounts = (catalog.trainer, *catalog.trainers.values())
    # As they are written: rights have them as IAM compares them.
    written = {account.lower(): account for account in (f"serviceAccount:{account}" for account in accounts)}
    written |= {member.lower(): member for some in catalog.submitters.values() for member in some}
    given = rights(catalog.submitters, catalog.work_buckets, accounts, ())
    for policy in picture.policies:
        if not isinstance(policy, Policy):
            continue
        on = {"project": "", "bucket": f"gs://{policy.on.name}"}.get(policy.on.what, policy.on.name)
        has = {(bound.role, bound.member.lower()) for bound in policy.bound}
        here = {(role, member) for role, member, at in given if at == on}
        if gone := here - has:
            members = sorted({written[member] for _, member in gone})
            words = f"{few(members)} lost {few(sorted({role for role, _ in gone}))} on {policy.on}"
            shut = f": {_WITHOUT[policy.on.what]} any more" if gone == here else ""
            mends = f"it gives again what the {picture.origin.noun} names; {_OTHER_TOOL}"
            yield KINDS["roles-gone"].of(policy.on, f"{words}{shut}", picture.up, mends)


def agent(picture: Picture) -> Iterator[Finding]:
    """Find the role that Vertex AI's own agent lost on the project. Google gives it once, when the API is enabled."""
    for policy in picture.policies:
        if not isinstance(policy, Policy) or policy.on.what != "project" or not picture.there:
            continue
        if not any(bound.role == _AGENT_ROLE and _AGENT in bound.member for bound in policy.bound):
            words = f"Vertex AI's own agent has no {_AGENT_ROLE} on {policy.on}, so clusters and jobs may fail to start"
            project = shlex.quote(policy.on.name)
            number = f"$(gcloud projects describe {project} --format='value(projectNumber)')"
            give = f"gcloud projects add-iam-policy-binding {project} --role={_AGENT_ROLE}"
            fix = f"{give} --member=serviceAccount:service-{number}{_AGENT}"
            yield KINDS["agent-role-gone"].of(policy.on, words, fix, f"unless a folder gives it; {_OTHER_TOOL}")


def _submitters(catalogs: Iterable[PublishedCatalog | Unknown | None]) -> Collection[str]:
    whole = (catalog.whole for catalog in catalogs if isinstance(catalog, PublishedCatalog) and catalog.whole)
    return {member.lower() for catalog in whole for some in catalog.submitters.values() for member in some}


def _unread(catalogs: Iterable[PublishedCatalog | Unknown | None]) -> Iterator[str]:
    for catalog in catalogs:
        if isinstance(catalog, Unknown):
            yield str(catalog)
        elif catalog and catalog.whole is None:
            whose = catalog.identity.words if catalog.identity else "another stack"
            yield catalog.damage or f"another version published the catalog of {whose}"
