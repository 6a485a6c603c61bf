"""Publications: the catalog, which every submitter reads, its templates, and the verdict on quota."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulumi

from slipway.authoring.packages.source_package import SourcePackage
from slipway.google.catalog.document import write
from slipway.google.quota.request import QuotaRequest
from slipway.google.quotas import SERVICE
from slipway.model.catalog import model
from slipway.model.facts import CATALOG, QUOTA, TEMPLATE

from .gcp import cloudquota, storage

if TYPE_CHECKING:
    from slipway.deploying.deployment.deployment import Deployment

_PACKAGES = Path(".slipway/packages")
"""The folder of archives: a relative one, as the state keeps the path, and checkouts differ."""


class Catalog(pulumi.ComponentResource):
    """The publication of `catalog` once everything that it names exists, under one name that is overwritten in place.

    Deleted first of all when a stack is destroyed, as it depends on everything: the guard on it stops a destruction
    that would cancel jobs before any of it has happened.
    """

    def __init__(
        self,
        name: str,
        *,
        catalog: model.Catalog,
        facts: Mapping[str, Any],
        bucket: pulumi.Input[str],
        after: Sequence[pulumi.Resource],
        hooks: pulumi.ResourceHookBinding | None = None,
    ) -> None:
        """Declare the catalog.

        `catalog`: the document.
        `facts`: what a preview shows of the component itself.
        `bucket`: the name of the catalog's bucket.
        `after`: the resources that must exist before people may read of them.
        `hooks`: asked before it is deleted.
        """
        super().__init__(CATALOG, name, dict(facts))
        self.object = storage.BucketObject(
            "catalog",
            bucket=bucket,
            name=model.NAME,
            content=write(catalog),
            content_type="application/json",
            cache_control="no-cache",
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=list(after),
                hooks=hooks,
                # An overwritten object may have others of these. They would replace it: the new object is written over
                # the old one, whose deletion then takes the new publication.
                ignore_changes=["cacheControl", "contentType"],
            ),
        )
        self.register_outputs({"object": self.object.name})


class JobTemplate(pulumi.ComponentResource):
    """The upload of a template's packages under their contents' hashes.

    A package stays in the bucket when the template changes or goes: queued and restarting jobs still install it.
    """

    #: The addresses of the packages, as a job's `packageUris` have them.
    packages: list[pulumi.Output[str]]

    def __init__(
        self,
        name: str,
        *,
        packages: Iterable[SourcePackage],
        bucket: pulumi.Input[str],
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Declare the packages.

        `name`: the template's.
        `packages`: of `slipway.authoring.packages.source_package.built`; none for images without a launcher.
        `bucket`: the name of a bucket, as an output to wait for.
        `facts`: what a preview shows of the component itself.

        Raises ConfigError where the working directory can't be written.
        """
        facts = facts or {}
        super().__init__(TEMPLATE, name, dict(facts))
        self.packages = []
        # Several variants of a template may run the same code.
        for package in {package.path: package for package in packages}.values():
            self.packages.append(pulumi.Output.concat("gs://", bucket, "/", package.path))
            storage.BucketObject(
                package.name.removesuffix(".tar.gz").removesuffix(".pyz"),
                bucket=bucket,
                name=package.path,
                source=pulumi.FileAsset(str(package.save(_PACKAGES))),
                content_type="application/gzip" if package.name.endswith(".gz") else "application/zip",
                opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True),
            )
        self.register_outputs({"package": facts.get("package")})


class QuotaCheck(pulumi.ComponentResource):
    """The facts of quota, and each request for more as a quota preference; the rules are `slipway.google.quota`'s.

    The service deletes no preference, so neither does this component: a request no longer declared stays granted.
    """

    #: The requests as resources, for clusters that are to wait for them.
    requests: list[pulumi.Resource]

    def __init__(
        self,
        name: str,
        *,
        project: str,
        requests: Sequence[QuotaRequest] = (),
        contact: str = "",
        justification: str = "",
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Declare the requests, each by its metric's name, whatever its preference is called: it may be another's.

        `project`: whose quota it is.
        `requests`: what is asked for; none asks for nothing.
        `contact`: an address, which Google asks about them, and `justification`, the reason.
        `facts`: what a preview shows of the component itself.
        """
        super().__init__(QUOTA, name, dict(facts or {}))
        parent = f"projects/{project}"
        self.requests = [
            cloudquota.SQuotaPreference(
                request.metric,
                parent=parent,
                name=request.id,
                service=SERVICE,
                quota_id=request.quota_id,
                dimensions={"region": request.region},
                quota_config=cloudquota.SQuotaPreferenceQuotaConfigArgs(preferred_value=str(request.value)),
                contact_email=contact,
                justification=justification or None,
                opts=pulumi.ResourceOptions(
                    parent=self,
                    retain_on_delete=True,
                    import_=f"{parent}/locations/global/quotaPreferences/{request.id}" if request.adopts else None,
                    # An unchanged request is left alone: sending it again would be another request.
                    ignore_changes=None if request.sends else ["*"],
                ),
            )
            for request in requests
        ]
        self.register_outputs({})


def check_quota(deployment: Deployment) -> QuotaCheck:
    """Declare the check of a deployment's quota, with its requests."""
    stack = deployment.stack
    return QuotaCheck(
        "quota",
        project=stack.project,
        requests=deployment.report.requests,
        contact=stack.quota.contact_email,
        justification=stack.quota.justification,
        facts=deployment.facts.quota_check,
    )
