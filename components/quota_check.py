"""QuotaCheck: stops a deployment that would draw more than the project may, before anything is created."""

from __future__ import annotations

import pulumi

from slipway.errors import PolicyError
from slipway.quota import QuotaReport


class QuotaCheck(pulumi.ComponentResource):
    """The verdict on quota, shown line by line in preview. Declares no resource; the rules are `slipway.quota`'s."""

    def __init__(
        self, name: str, *, region: str, report: QuotaReport, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """Raises PolicyError when the report has errors. Construct it before anything that creates."""
        if report.errors:
            raise PolicyError(
                f"quota does not suffice in {region}, so nothing was changed",
                why="\n".join(report.errors),
                fix="slipway quota shows limits and use; `slipway:quota: {mode: warn}` deploys all the same",
            )
        facts = {
            "region": region,
            "verdict": "ok" if not report.warnings else f"ok now, {len(report.warnings)} warnings",
            "lines": {f"{line.namespace} {line.label}: {line.who}": line.verdict for line in report.lines},
        }
        super().__init__("slipway:components:QuotaCheck", name, facts, opts)
        self.register_outputs({})
