"""What the server takes of Cloud Quotas."""

from local.cloud.quotas.quota_infos import QuotaInfos
from local.cloud.quotas.quota_preferences import QuotaPreferences
from local.cloud.wire import Route
from local.cloud.world import World

API = "cloudquotas.googleapis.com"


def routes(world: World) -> list[Route]:
    return [*QuotaInfos(world).routes(), *QuotaPreferences(world).routes()]
