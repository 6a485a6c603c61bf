"""Quota preferences: the values asked for and granted, and when they took effect."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any

from ..clock import timestamp
from ..messages import Messages
from ..repository import Repository
from ..wire import Call

MESSAGES = Messages(
    packages={"v1": "cloudquotas_v1", "v1beta": "cloudquotas_v1beta"},
    modules={
        "CreateQuotaPreferenceRequest": "cloudquotas",
        "GetQuotaInfoRequest": "cloudquotas",
        "GetQuotaPreferenceRequest": "cloudquotas",
        "ListQuotaInfosRequest": "cloudquotas",
        "ListQuotaPreferencesRequest": "cloudquotas",
        "QuotaInfo": "resources",
        "QuotaPreference": "resources",
        "UpdateQuotaPreferenceRequest": "cloudquotas",
    },
)


def check_query(call: Call, request: str) -> None:
    """Raise 400 for a query parameter that the request's message lacks. This API has no discovery document."""
    MESSAGES.check_query(call, call.params["version"], request, ("parent", "name", "quotaPreference"))


@dataclass(frozen=True)
class Preference:
    """A preference."""

    name: str
    service: str
    quota_id: str
    dimensions: Mapping[str, str]
    preferred: int
    create_time: str
    update_time: str
    etag: str
    #: From `due` on; None is the service's limit, -1 unlimited.
    granted: int | None = None
    #: The limit until then.
    before: int | None = None
    due: str = ""
    state_detail: str = ""
    trace_id: str = ""
    justification: str = ""
    contact_email: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)


def effective(item: Preference, now: datetime) -> int | None:
    """Return the limit that the preference puts in force, None while there is none."""
    return item.granted if settled(item, now) else item.before


def settled(item: Preference, now: datetime) -> bool:
    return item.due <= timestamp(now)


def answer(item: Preference, now: datetime) -> dict[str, Any]:
    """Return the body of a read, in canonical JSON."""
    done = settled(item, now)
    granted = effective(item, now)
    config: dict[str, Any] = {"preferredValue": str(item.preferred)}
    if granted is not None:
        config["grantedValue"] = str(granted)
    if item.trace_id:
        config["traceId"] = item.trace_id
    if done and item.state_detail:
        config["stateDetail"] = item.state_detail
    if item.annotations:
        config["annotations"] = dict(item.annotations)
    body: dict[str, Any] = {
        "name": item.name,
        "service": item.service,
        "quotaId": item.quota_id,
        "dimensions": dict(item.dimensions),
        "quotaConfig": config,
        "etag": item.etag,
        "createTime": item.create_time,
        "updateTime": item.update_time,
    }
    if not done:
        body["reconciling"] = True
    if item.justification:
        body["justification"] = item.justification
    return body


PREFERENCES = Repository(kind="quotaPreference", record=Preference, key=attrgetter("name"))
