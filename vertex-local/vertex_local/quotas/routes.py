"""Routes of Cloud Quotas."""

from ..wire import Route
from ..world import World
from .quota_infos import QuotaInfos
from .quota_preferences import QuotaPreferences

API = "cloudquotas.googleapis.com"


def routes(world: World) -> list[Route]:
    return [*QuotaInfos(world).routes(), *QuotaPreferences(world).routes()]
