"""JobTemplate: a template's code in the catalog bucket, and its entry for the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
from pulumi_gcp import storage

from slipway.package import SourcePackage
from slipway.quota import WayVerdict
from slipway.template import JobTemplate as Template
from slipway.template.compile import Setting
from slipway.template.document import template_entry
from slipway.template.proof import Offer


class JobTemplate(pulumi.ComponentResource):
    """Uploads the package under its content's hash and compiles the template; `entry` goes into the catalog.

    A package stays in the bucket when the template changes or goes: queued and restarting jobs still install it.
    """

    entry: Mapping[str, Any]

    def __init__(
        self,
        template: Template,
        *,
        offers: tuple[Offer, ...],
        verdicts: Mapping[str, WayVerdict],
        setting: Setting,
        package: SourcePackage,
        archive: Path,
        bucket: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`archive` is the package as a file; `bucket` is the catalog's, as an output that the upload waits for.

        Raises ConfigError when the official message type rejects the template.
        """
        path = f"packages/{package.name}"
        uri = f"gs://{setting.catalog_bucket}/{path}"
        self.entry = template_entry(template, offers, verdicts, setting, uri)
        super().__init__("slipway:components:JobTemplate", template.name, _facts(self.entry), opts)
        self.package = storage.BucketObject(
            package.name.removesuffix(".tar.gz"),
            bucket=bucket,
            name=path,
            source=pulumi.FileAsset(str(archive)),
            content_type="application/gzip",
            opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True),
        )
        self.register_outputs({"package": uri})


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
