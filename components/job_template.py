"""JobTemplate: a template's code in the catalog bucket, and its facts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
from pulumi_gcp import storage

from slipway.package import SourcePackage


class JobTemplate(pulumi.ComponentResource):
    """Uploads a template's packages under their contents' hashes. `entry` is what the catalog says of the template.

    A package stays in the bucket when the template changes or goes: queued and restarting jobs still install it.
    """

    def __init__(
        self,
        name: str,
        *,
        entry: Mapping[str, Any],
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
        self.register_outputs({"package": entry["package"]})


def _facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    ways: dict[str, str] = {}
    for way in entry["ways"]:
        ways[_label(way, entry["kind"])] = "available" if way["available"] else f"unavailable: {way['why']}"
    facts = {
        "summary": entry["summary"],
        "package": entry["package"],
        "parameters": [parameter["name"] for parameter in entry["parameters"]],
        "ways": ways,
    }
    return facts if entry["package"] else {**facts, "package": "", "image": entry["image"]}


def _label(way: Mapping[str, Any], kind: str) -> str:
    """`pool cpu`, `flex-start (accelerator=L4)`, `spot as training-pipeline`"""
    words = [way["way"], *([way["cluster"]] if "cluster" in way else [])]
    if when := way["when"]:
        words.append("(" + ", ".join(f"{name}={' or '.join(map(str, values))}" for name, values in when.items()) + ")")
    if way["kind"] != kind:
        words.append(f"as {way['kind']}")
    return " ".join(words)
