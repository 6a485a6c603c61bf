"""Cloud Quotas: the limits of a service in a project, as the API gives them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from slipway.cloud.answers import Json, shaped
from slipway.cloud.endpoints import Endpoints
from slipway.cloud.failures import Call
from slipway.cloud.session import Session

SERVICE = "aiplatform.googleapis.com"


@dataclass(frozen=True)
class QuotaInfo:
    """One quota. `metric` has the service in front of it.

    `limits` with the locations where they hold, most specific first; -1 is unlimited. `ineligibility` is the API's word
    for why no increase can be asked for, None when one can.
    """

    metric: str
    limits: tuple[tuple[tuple[str, ...], int], ...]
    ineligibility: str | None = None

    def limit(self, region: str) -> int | None:
        """The limit in a region: the first that applies counts. None when the quota says nothing about that region."""
        return next((limit for locations, limit in self.limits if region in locations), None)

    @classmethod
    def read(cls, body: Json) -> QuotaInfo:
        """From the API's JSON, for where its client library is not installed. An int64 that is left out is 0."""
        eligibility = body.get("quotaIncreaseEligibility", {})
        return cls(
            body.get("metric", ""),
            tuple(
                (tuple(info.get("applicableLocations", ())), int(info.get("details", {}).get("value", 0)))
                for info in body.get("dimensionsInfos", ())
            ),
            None
            if eligibility.get("isEligible", False)
            else eligibility.get("ineligibilityReason", "INELIGIBILITY_REASON_UNSPECIFIED"),
        )


ReadQuota = Callable[[Json], QuotaInfo]


class Quotas:
    def __init__(self, session: Session, endpoints: Endpoints, project: str) -> None:
        self._session, self._project = session, project
        self._parent = f"{endpoints.quotas}projects/{project}/locations/global/services/{SERVICE}/quotaInfos"

    def info(self, quota_id: str) -> QuotaInfo:
        """One quota. Raises NotFound for an id that the service does not have."""
        call = Call(f"read quota {quota_id}", "cloudquotas.quotas.get", f"project {self._project}")
        return shaped(call, QuotaInfo.read, self._session.get(f"{self._parent}/{quota_id}", call))

    def infos(self, metrics: Collection[str], read: ReadQuota = QuotaInfo.read) -> Iterator[QuotaInfo]:
        """The quotas of some metrics (without the service), found in the list of all; no others are parsed."""
        call = Call(f"read the quotas of {self._project}", "cloudquotas.quotas.get", f"project {self._project}")
        wanted = {f"{SERVICE}/{metric}" for metric in metrics}
        for body in self._session.pages(self._parent, call, "quotaInfos", {"pageSize": 500}):
            if str(body.get("metric")) in wanted:
                yield shaped(call, read, body)
