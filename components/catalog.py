"""Catalog: the one JSON object that everybody who submits reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from components.gcp import storage
from slipway.catalog import model
from slipway.catalog.document import write


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
