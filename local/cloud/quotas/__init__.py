"""Cloud Quotas: what the limits are, and preferences for other ones. Imported when the server asks."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from local.cloud.services import World
    from local.cloud.wire import Route

API = "cloudquotas.googleapis.com"


def routes(world: "World") -> "list[Route]":
    from local.cloud.quotas.infos import QuotaInfos
    from local.cloud.quotas.preferences import QuotaPreferences

    return [*QuotaInfos(world).routes(), *QuotaPreferences(world).routes()]
