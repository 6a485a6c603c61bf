"""QuotaCheck: the verdict on quota, as a review reads it, and what is asked for because of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from components.gcp import cloudquota
from slipway.cloud.quotas import SERVICE
from slipway.quota.request import QuotaRequest


class QuotaCheck(pulumi.ComponentResource):
    """Publishes facts, and declares each request for more as a quota preference; the rules are `slipway.quota`'s.

    The service deletes no preference, so nothing that is declared here does: what is no longer asked for stays granted.
    """

    requests: list[pulumi.Resource]

    def __init__(
        self,
        name: str,
        *,
        facts: Mapping[str, Any],
        requests: Sequence[QuotaRequest] = (),
        project: str = "",
        contact: str = "",
        justification: str = "",
    ) -> None:
        """`contact` is an address, whom Google asks about the requests."""
        super().__init__("slipway:components:QuotaCheck", name, dict(facts))
        self._parent, self._contact, self._justification = f"projects/{project}", contact, justification
        self.requests = [self._request(one) for one in requests]
        self.register_outputs({})

    def _request(self, request: QuotaRequest) -> pulumi.Resource:
        """Declare it by the metric's name, whatever its preference is called: somebody else may have made that."""
        id_ = f"{self._parent}/locations/global/quotaPreferences/{request.id}"
        made: pulumi.Resource = cloudquota.SQuotaPreference(
            request.metric,
            parent=self._parent,
            name=request.id,
            service=SERVICE,
            quota_id=request.quota_id,
            dimensions={"region": request.region},
            quota_config=cloudquota.SQuotaPreferenceQuotaConfigArgs(preferred_value=str(request.value)),
            contact_email=self._contact,
            justification=self._justification or None,
            opts=pulumi.ResourceOptions(
                parent=self,
                retain_on_delete=True,
                import_=id_ if request.adopts else None,
                # What asks for nothing new is left as it is: to send it again would be another request.
                ignore_changes=None if request.sends else ["*"],
            ),
        )
        return made
