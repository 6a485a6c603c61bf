"""Catalog: the one JSON object that everybody who submits reads, and the templates that it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pulumi

from components.gcp import storage
from slipway.catalog import model
from slipway.catalog.document import write
from slipway.packages.source_package import SourcePackage


class Catalog(pulumi.ComponentResource):
    """Publishes `catalog` once everything that it names is there, under one name that is overwritten in place.

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
        """`after` are the resources that must exist before people may read of them."""
        super().__init__("slipway:components:Catalog", name, dict(facts))
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
                # Somebody who overwrites the object changes these too. They would replace it: the new one is written
                # over the old, whose deletion then takes what was just published.
                ignore_changes=["cacheControl", "contentType"],
            ),
        )
        self.register_outputs({"object": self.object.name})


class JobTemplate(pulumi.ComponentResource):
    """Uploads a template's packages under their contents' hashes.

    A package stays in the bucket when the template changes or goes: queued and restarting jobs still install it.
    """

    def __init__(
        self,
        name: str,
        *,
        facts: Mapping[str, Any],
        packages: Mapping[Path, SourcePackage],
        bucket: pulumi.Input[str],
    ) -> None:
        """`packages` by their files, none for an image; `bucket` is the catalog's, as an output to wait for."""
        super().__init__("slipway:components:JobTemplate", name, dict(facts))
        for archive, package in packages.items():
            storage.BucketObject(
                package.name.removesuffix(".tar.gz"),
                bucket=bucket,
                name=package.path,
                source=pulumi.FileAsset(str(archive)),
                content_type="application/gzip",
                opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True),
            )
        self.register_outputs({"package": facts["package"]})
