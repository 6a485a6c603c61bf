"""QuotaCheck: stops a deployment that would draw more than the project may, before anything is created."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from slipway.errors import PolicyError
from slipway.quota.report import QuotaReport


class QuotaCheck(pulumi.ComponentResource):
    """The verdict on quota, shown line by line in preview. Declares no resource; the rules are `slipway.quota`'s."""

    def __init__(
        self,
        name: str,
        *,
        region: str,
        report: QuotaReport,
        facts: Mapping[str, Any],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Raises PolicyError when the report has errors. Construct it before anything that creates."""
        if report.errors:
            raise PolicyError(
                f"quota does not suffice in {region}, so nothing was changed",
                why="\n".join(report.errors),
                fix="slipway quota shows limits and use; `slipway:quota: {mode: warn}` deploys all the same",
            )
        super().__init__("slipway:components:QuotaCheck", name, dict(facts), opts)
        self.register_outputs({})
