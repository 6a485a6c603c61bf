"""JobTemplate: a template's code in the catalog bucket, and its facts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi

from components.gcp import storage
from slipway.packages.source_package import SourcePackage


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
