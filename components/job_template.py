"""JobTemplate: a template's code in the catalog bucket, and its facts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
from pulumi_gcp import storage

from slipway.catalog.model import Template
from slipway.packages import SourcePackage


class JobTemplate(pulumi.ComponentResource):
    """Uploads a template's packages under their contents' hashes. `entry` is what the catalog says of the template.

    A package stays in the bucket when the template changes or goes: queued and restarting jobs still install it.
    """

    def __init__(
        self,
        name: str,
        *,
        entry: Template,
        packages: Mapping[Path, SourcePackage],
        bucket: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`packages` by their files, none for an image; `bucket` is the catalog's, as an output to wait for."""
        super().__init__("slipway:components:JobTemplate", name, _facts(entry), opts)
        for archive, package in packages.items():
            storage.BucketObject(
                package.name.removesuffix(".tar.gz"),
                bucket=bucket,
                name=package.path,
                source=pulumi.FileAsset(str(archive)),
                content_type="application/gzip",
                opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True),
            )
        self.register_outputs({"package": entry.package})


def _facts(entry: Template) -> dict[str, Any]:
    offers = {}
    for offer in entry.offers:
        label = offer.label(entry.kind, with_cluster=True)
        offers[label] = "available" if offer.available else f"unavailable: {offer.why}"
    facts = {
        "summary": entry.summary,
        "package": entry.package,
        "parameters": [parameter.name for parameter in entry.parameters],
        "offers": offers,
    }
    return facts if entry.package else {**facts, "package": "", "image": entry.image}
