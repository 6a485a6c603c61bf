"""Cloud Quotas: the limits of a service in a project, as the API gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slipway.cloud.answers import shaped
from slipway.cloud.endpoints import Endpoints
from slipway.cloud.failures import Call
from slipway.cloud.resources import Json
from slipway.cloud.session import Session

UNLIMITED = -1


@dataclass(frozen=True)
class DimensionsInfo:
    """One limit and where it holds. ``value`` is -1 for unlimited; an int64 that the JSON leaves out is 0."""

    dimensions: Mapping[str, str]
    value: int
    applicable_locations: tuple[str, ...]


@dataclass(frozen=True)
class QuotaInfo:
    """One quota. ``ineligibility`` says why no increase can be asked for, and is empty when one can."""

    quota_id: str
    metric: str
    infos: tuple[DimensionsInfo, ...]
    eligible: bool
    ineligibility: str

    def limit(self, region: str) -> int | None:
        """The limit in a region: the entries come most specific first, so the first that applies counts.

        None when the quota says nothing about that region.
        """
        return next((info.value for info in self.infos if region in info.applicable_locations), None)

    @classmethod
    def read(cls, body: Json) -> QuotaInfo:
        eligibility = body.get("quotaIncreaseEligibility", {})
        return cls(
            quota_id=body.get("quotaId", ""),
            metric=body.get("metric", ""),
            infos=tuple(
                DimensionsInfo(
                    dict(info.get("dimensions", {})),
                    int(info.get("details", {}).get("value", 0)),
                    tuple(info.get("applicableLocations", ())),
                )
                for info in body.get("dimensionsInfos", ())
            ),
            eligible=bool(eligibility.get("isEligible", False)),
            ineligibility=eligibility.get("ineligibilityReason", ""),
        )


class Quotas:
    def __init__(self, session: Session, endpoints: Endpoints, project: str) -> None:
        self._session, self._project = session, project
        self._parent = f"{endpoints.quotas}projects/{project}/locations/global"

    def info(self, quota_id: str, service: str = "aiplatform.googleapis.com") -> QuotaInfo:
        """One quota. Raises NotFound for an id that the service does not have."""
        call = Call(f"read quota {quota_id}", "cloudquotas.quotas.get", f"project {self._project}")
        found = self._session.get(f"{self._parent}/services/{service}/quotaInfos/{quota_id}", call)
        return shaped(call, QuotaInfo.read, found)

    def infos(self, service: str = "aiplatform.googleapis.com") -> Iterator[QuotaInfo]:
        """Every quota of a service, read page by page."""
        call = Call(f"read the quotas of {self._project}", "cloudquotas.quotas.get", f"project {self._project}")
        url = f"{self._parent}/services/{service}/quotaInfos"
        for body in self._session.pages(url, call, "quotaInfos", {"pageSize": 500}):
            yield shaped(call, QuotaInfo.read, body)
