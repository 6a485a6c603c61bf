"""JobTemplate: a template's code in the catalog bucket, and its facts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
from pulumi_gcp import storage

from slipway.package import SourcePackage


class JobTemplate(pulumi.ComponentResource):
    """Uploads the package of a template under its content's hash. `entry` is what the catalog says of the template.

    A package stays in the bucket when the template changes or goes: queued and restarting jobs still install it.
    """

    def __init__(
        self,
        name: str,
        *,
        entry: Mapping[str, Any],
        package: SourcePackage,
        archive: Path,
        bucket: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`archive` is the package as a file; `bucket` is the catalog's, as an output that the upload waits for."""
        super().__init__("slipway:components:JobTemplate", name, _facts(entry), opts)
        self.package = storage.BucketObject(
            package.name.removesuffix(".tar.gz"),
            bucket=bucket,
            name=package.path,
            source=pulumi.FileAsset(str(archive)),
            content_type="application/gzip",
            opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True),
        )
        self.register_outputs({"package": entry["package"]})


def _facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    ways: dict[str, str] = {}
    for way in entry["ways"]:
        name = f"{way['way']} {way['cluster']}" if "cluster" in way else way["way"]
        ways[name] = "available" if way["available"] else f"unavailable: {way['why']}"
    return {
        "summary": entry["summary"],
        "package": entry["package"],
        "parameters": [parameter["name"] for parameter in entry["parameters"]],
        "ways": ways,
    }
