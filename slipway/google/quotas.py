"""Cloud Quotas: the limits of a service in a project, as the API has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slipway.base.codec import given
from slipway.base.formatting import last_part
from slipway.google.answers import Json, displayable, shaped
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Call
from slipway.google.session import Session

SERVICE = "aiplatform.googleapis.com"
PREFIX = "custom_model_training_"
"""The prefix of the metrics of training, after the service's name."""


@dataclass(frozen=True)
class QuotaInfo:
    #: Begins with the service's name.
    metric: str
    #: Each with the locations where it holds, most specific first; -1 is unlimited.
    limits: tuple[tuple[tuple[str, ...], int], ...]
    #: The API's word for why no increase is possible; None where one is.
    ineligibility: str | None = None
    #: The quota's id in preferences.
    id: str = ""
    #: It can't be raised at all: the API refuses preferences of it.
    fixed: bool = False

    def limit(self, region: str) -> int | None:
        """Return the limit in a region: the first that applies counts. None when the quota has none for that region."""
        return next((limit for locations, limit in self.limits if region in locations), None)

    @classmethod
    def read(cls, body: Json) -> QuotaInfo:
        """Read the API's JSON, where its client library is not installed. An omitted int64 is 0."""
        eligibility = body.get("quotaIncreaseEligibility", {})
        reason = None
        if not eligibility.get("isEligible", False):
            reason = eligibility.get("ineligibilityReason", "INELIGIBILITY_REASON_UNSPECIFIED")
        return cls(
            metric=body.get("metric", ""),
            limits=tuple(
                (tuple(info.get("applicableLocations", ())), int(info.get("details", {}).get("value", 0)))
                for info in body.get("dimensionsInfos", ())
            ),
            ineligibility=reason,
            id=body.get("quotaId", ""),
            fixed=body.get("isFixed", False),
        )


@dataclass(frozen=True)
class QuotaPreference:
    """A request for more of one quota in one region, and its outcome. -1 is unlimited."""

    #: The preference's own id, within the project.
    id: str
    quota_id: str
    region: str
    preferred: int
    #: None until a value is granted.
    granted: int | None = None
    reconciling: bool = False
    detail: str = ""
    etag: str = ""

    @classmethod
    def read(cls, body: Json) -> QuotaPreference:
        """Read the API's JSON. `grantedValue` is a wrapped number: its 0 is not omitted."""
        config = body.get("quotaConfig", {})
        granted = config.get("grantedValue")
        return cls(
            id=last_part(str(body.get("name", ""))),
            quota_id=str(body.get("quotaId", "")),
            region=str(body.get("dimensions", {}).get("region", "")),
            preferred=int(config.get("preferredValue", 0)),
            granted=None if granted is None else int(granted),
            reconciling=bool(body.get("reconciling", False)),
            detail=displayable(config.get("stateDetail")),
            etag=str(body.get("etag", "")),
        )


ReadQuota = Callable[[Json], QuotaInfo]


class Quotas:
    """A client of Cloud Quotas. `ids` by metric (without the service), as far as a catalog has them."""

    def __init__(
        self, session: Session, endpoints: Endpoints, project: str, ids: Mapping[str, str] | None = None
    ) -> None:
        self._session, self._project, self.ids = session, project, ids
        everywhere = f"{endpoints.of('quotas')}projects/{project}/locations/global"
        self._parent = f"{everywhere}/services/{SERVICE}/quotaInfos"
        self._preferences = f"{everywhere}/quotaPreferences"

    def info(self, quota_id: str) -> QuotaInfo:
        """Return a quota. Raises NotFound for an id that the service does not have."""
        call = Call(f"read quota {quota_id}", "cloudquotas.quotas.get", f"project {self._project}")
        return shaped(call, QuotaInfo.read, self._session.get(f"{self._parent}/{quota_id}", call))

    def infos(self, metrics: Collection[str] | None, read: ReadQuota = QuotaInfo.read) -> Iterator[QuotaInfo]:
        """Yield the quotas of some metrics (without the service), None for all of training; no others are parsed."""
        call = Call(f"read the quotas of {self._project}", "cloudquotas.quotas.get", f"project {self._project}")
        for body in self._session.pages(self._parent, call, "quotaInfos", {"pageSize": 500}):
            metric = str(body.get("metric")).removeprefix(f"{SERVICE}/")
            if metric in metrics if metrics is not None else metric.startswith(PREFIX):
                yield shaped(call, read, body)

    def preferences(self, region: str) -> Iterator[QuotaPreference]:
        """Yield the preferences in a region. The API documents no filter by service or region."""
        call = Call(f"read what quota {self._project} asked for", "cloudquotas.quotas.get", f"project {self._project}")
        for body in self._session.pages(self._preferences, call, "quotaPreferences", {"pageSize": 500}):
            if body.get("service") == SERVICE and body.get("dimensions") == {"region": region}:
                yield shaped(call, QuotaPreference.read, body)

    def ask(self, preference: str, body: Json) -> QuotaPreference:
        """Make a preference, or change the one with that id. Sent once: a second time it would be another request.

        A body with an etag is refused when somebody has changed the preference meanwhile.
        """
        call = Call(f"ask for quota {preference}", "cloudquotas.quotas.update", f"project {self._project}")
        fields = "quotaConfig.preferredValue,contactEmail,justification"
        params = {"allowMissing": "true", "updateMask": fields}
        answer = self._session.write("PATCH", f"{self._preferences}/{preference}", call, body, params)
        return shaped(call, QuotaPreference.read, answer)


def preference_body(asked: QuotaPreference, *, contact: str, justification: str) -> dict[str, Any]:
    return given(
        service=SERVICE,
        quotaId=asked.quota_id,
        dimensions={"region": asked.region},
        quotaConfig={"preferredValue": str(asked.preferred)},
        contactEmail=contact,
        justification=justification,
        etag=asked.etag,
    )
