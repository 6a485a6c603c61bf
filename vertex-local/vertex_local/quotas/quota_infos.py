"""The methods of quota infos: limits by region (vertex-rules 6.2)."""

from typing import Any

from .. import documents
from ..supply import machines
from ..wire import Call, Reply, Route, not_found, unimplemented
from ..world import World
from . import limits
from .metrics import SERVICE, Quota, table
from .records import MESSAGES, check_query

_BASE = "/{version:v1|v1beta}/projects/{project}/locations/global/services/{service}/quotaInfos"


class QuotaInfos:
    def __init__(self, world: World) -> None:
        self._world = world

    def routes(self) -> list[Route]:
        return [Route("GET", _BASE, self.list_all), Route("GET", _BASE + "/{quota}", self.get)]

    def get(self, call: Call) -> Reply:
        self._require(call, "GetQuotaInfoRequest")
        quota = table().by_id(call.params["quota"])
        if quota is None or call.params["service"] != SERVICE:
            raise not_found(f"Quota {call.params['quota']} of service {call.params['service']} not found.")
        return Reply(body=self._answer(call, quota))

    def list_all(self, call: Call) -> Reply:
        self._require(call, "ListQuotaInfosRequest")
        if call.params["service"] != SERVICE:
            raise unimplemented(f"The local cloud has no quotas of {call.params['service']}, only those of {SERVICE}.")
        every = table().quotas
        return documents.listed(call, "quotaInfos", documents.sliced(every), lambda quota: self._answer(call, quota))

    def _answer(self, call: Call, quota: Quota) -> dict[str, Any]:
        return MESSAGES.render(call.params["version"], "QuotaInfo", self._info(quota))

    def _info(self, quota: Quota) -> dict[str, Any]:
        reason = self._world.settings.quota_ineligible
        number = self._world.project.number
        return {
            "name": f"projects/{number}/locations/global/services/{SERVICE}/quotaInfos/{quota.quota_id}",
            "quotaId": quota.quota_id,
            "metric": f"{SERVICE}/{quota.metric}",
            "service": SERVICE,
            "containerType": "PROJECT",
            "dimensions": ["region"],
            "metricDisplayName": quota.title.removesuffix(" per region"),
            "quotaDisplayName": quota.title,
            "metricUnit": "1",
            **({"isFixed": True} if quota.metric in self._world.settings.quota_fixed.split() else {}),
            "quotaIncreaseEligibility": {"ineligibilityReason": reason} if reason else {"isEligible": True},
            "dimensionsInfos": self._by_region(quota),
        }

    def _by_region(self, quota: Quota) -> list[dict[str, Any]]:
        """Return the regions that differ from the most common limit, each by name, then all the others together."""
        granted = limits.granted(self._world)
        regions = machines.table().all_regions
        limits_there = {region: limits.limit(self._world, quota, region, granted) for region in regions}
        values = list(limits_there.values())
        common = max(dict.fromkeys(values), key=values.count)
        named = [
            {"dimensions": {"region": region}, "details": _details(value), "applicableLocations": [region]}
            for region, value in limits_there.items()
            if value != common
        ]
        others = [region for region, value in limits_there.items() if value == common]
        return [*named, {"details": _details(common), "applicableLocations": others}]

    def _require(self, call: Call, request: str) -> None:
        check_query(call, request)
        self._world.access.require(call.principal, "cloudquotas.quotas.get", call.params["project"])


def _details(limit: int) -> dict[str, str]:
    """Return a limit as JSON gives it: a zero is left out, as protobuf leaves it."""
    return {"value": str(limit)} if limit else {}
