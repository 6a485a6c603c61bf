"""The check of quota: on-demand metrics of clusters, preemptible metrics of templates, and requests for more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from slipway.base.codec import camel
from slipway.google.quotas import SERVICE
from slipway.model.facts import QUOTA

from .args import QuotaMode, told
from .component import Component
from .gcp import cloudquota
from .group import Group
from .job_template import JobTemplate
from .keywords import arguments_of
from .persistent_resource import PersistentResource
from .workspace import Workspace


@told
@dataclass(kw_only=True)
class QuotaCheckArgs:
    """Arguments of `QuotaCheck`. A change holds for this deployment and later ones."""

    clusters: Sequence[PersistentResource] = ()
    """Clusters that draw on-demand quota."""
    templates: Sequence[JobTemplate] = ()
    """Templates whose flex-start and Spot jobs draw preemptible quota."""
    mode: pulumi.Input[str | QuotaMode] | None = None
    """Consequence where quota does not suffice: "enforce" (the default) is an error, "warn" a warning, "request" asks
    Google for more."""
    contact_email: pulumi.Input[str] | None = None
    """Address that Google asks about an increase; needed for "request"."""
    justification: pulumi.Input[str] | None = None
    """Reason for the request, for Google to read."""
    strict: pulumi.Input[bool] | None = None
    """Require that pools at their maximum, and each capacity type of a template, fit; False by default."""
    workspace: Workspace | None = None
    """The workspace, where the program has several and neither cluster nor template tells it."""


class QuotaCheck(Component):
    """A check, before anything is created, that quota suffices. Too little is an error in a preview and in `up`.

    In mode "request" it asks Google for more, each as a quota preference. The service deletes no preference, so neither
    does this component: a request that is no longer declared stays granted, and one that exists is taken up again.
    """

    kind = "quota"
    args: QuotaCheckArgs
    #: By metric, the limits that are asked for; empty in other modes.
    requested: pulumi.Output[Mapping[str, int]]

    def __init__(
        self,
        name: str,
        args: QuotaCheckArgs | pulumi.ResourceOptions | None = None,
        opts: pulumi.ResourceOptions | None = None,
        **arguments: Any,
    ) -> None:
        """Declare the check of the clusters and templates of its arguments.

        `arguments`: those of `QuotaCheckArgs` as keywords, in place of `args`.
        """
        given, opts = arguments_of(QuotaCheckArgs, name, args, opts, arguments)
        super().__init__(QUOTA, name, given, opts)
        self.requested = self.output("requested")

    async def facts(self, group: Group) -> Mapping[str, Any]:
        # Requests come before the clusters that need them. Without any, the check tells of those that came to be.
        asks = bool(group.deployment.report.requests)
        return (group.deployment if asks else await group.as_made()).facts.quota_check

    async def declare(self, group: Group) -> Mapping[str, Any]:
        planned = group.deployment
        parent, quota = f"projects/{group.project}", planned.stack.quota
        # The provider returns its inputs: what is secret among them stays secret in its outputs as well.
        kept = group.given[self].kept
        for request in planned.report.requests:
            preference = cloudquota.SQuotaPreference(
                group.child(self, request.metric),
                parent=parent,
                name=request.id,
                service=SERVICE,
                quota_id=request.quota_id,
                dimensions={"region": request.region},
                quota_config=cloudquota.SQuotaPreferenceQuotaConfigArgs(preferred_value=str(request.value)),
                contact_email=kept.get("contact_email", quota.contact_email),
                justification=kept.get("justification", quota.justification or None),
                opts=pulumi.ResourceOptions(
                    parent=self,
                    retain_on_delete=True,
                    protect=False,  # Nothing is deleted, so a request may go from a protected check.
                    additional_secret_outputs=[camel(name) for name in kept],
                    import_=f"{parent}/locations/global/quotaPreferences/{request.id}" if request.adopts else None,
                    # An unchanged request is left alone: sending it again would be another request.
                    ignore_changes=None if request.sends else ["*"],
                ),
            )
            self.needed.append(preference)
        return {"requested": {request.metric: request.value for request in planned.report.requests}}
