"""The resource type `SQuotaPreference`: a wish for a quota, which can be made and changed and never deleted."""

from collections.abc import Mapping
from typing import Any

from ..cloud import Cloud
from ..comparing import changed
from ..kind import Found, ImportIdError, Kind
from ..schema import AutoName, Field, Schema, mapping, output, record, text
from ..settings import Settings
from ..transport import CloudError, GoogleError
from ..values import COMPUTED, Properties
from ..wire import from_api, to_api

_TOKEN = "gcp:cloudquota/sQuotaPreference:SQuotaPreference"
_SERVICE = "cloudQuotas"
_MIDDLE = "/locations/global/quotaPreferences/"

_CONFIG: Mapping[str, Field] = {
    "preferredValue": text(required=True),
    "annotations": mapping(),
    "grantedValue": output(),
    "requestOrigin": output(),
    "stateDetail": output(),
    "traceId": output(),
}
_SENT: Mapping[str, Field] = {
    "name": text(computed=True, same=lambda a, b: str(a).rsplit("/", 1)[-1] == str(b).rsplit("/", 1)[-1]),
    "service": text(computed=True),
    "quotaId": text(computed=True),
    "quotaConfig": record(_CONFIG, required=True),
    "dimensions": mapping(computed=True),
    "justification": text(null=True),
    "contactEmail": text(null=True),
}
_ECHOED = ("stateDetail", "grantedValue", "requestOrigin")
"""Fields that the cloud alone fills in and a later request holds all the same."""
_READ: Mapping[str, Field] = {
    "etag": output(),
    "createTime": output(),
    "updateTime": output(),
    "reconciling": output("boolean"),
}
_FIELDS: Mapping[str, Field] = {
    "parent": text(computed=True, replace=True),
    **_SENT,
    "ignoreSafetyChecks": text(
        null=True,
        default="QUOTA_SAFETY_CHECK_UNSPECIFIED",
        choices=("QUOTA_SAFETY_CHECK_UNSPECIFIED", "QUOTA_DECREASE_BELOW_USAGE", "QUOTA_DECREASE_PERCENTAGE_TOO_HIGH"),
    ),
    **_READ,
}
_KEPT = ("parent", "ignoreSafetyChecks", "justification", "contactEmail")
"""Fields that are never read: they stay as the program said, and an import has none."""


class QuotaPreference(Kind):
    """A quota preference, by plain requests without operations."""

    schema = Schema(
        _TOKEN,
        "CloudQuotasQuotaPreference",
        _FIELDS,
        AutoName("name", 255),
        timeouts=dict.fromkeys(("create", "update", "delete"), 20 * 60.0),
    )

    def create(self, cloud: Cloud, planned: Properties) -> Found:
        """POST under the chosen id."""
        parent = planned.get("parent")
        if not parent or parent is COMPUTED:
            if not cloud.settings.project:
                raise CloudError("parent: required field is not set (neither on the resource nor as gcp:project)")
            parent = f"projects/{cloud.settings.project}"
        params = {"quotaPreferenceId": planned["name"], "ignoreSafetyChecks": planned["ignoreSafetyChecks"]}
        path = f"{parent}{_MIDDLE.rstrip('/')}"
        try:
            cloud.send(_SERVICE, "POST", path, params=params, body=_body(planned))
        except GoogleError as error:
            raise CloudError(f"Error creating QuotaPreference: {error}") from error
        return self.reread(cloud, f"{parent}{_MIDDLE}{planned['name']}", {**planned, "parent": parent})

    def read(self, cloud: Cloud, id: str, state: Properties) -> Found | None:
        """GET, by the name in the state."""
        body = self.fetched(cloud, _SERVICE, _path(state), id)
        if body is None:
            return None
        read = from_api({**_SENT, **_READ}, body) | {name: state.get(name) for name in _KEPT}
        read = {name: value for name, value in read.items() if value is not None}
        read["name"] = str(body.get("name", id)).rsplit("/", 1)[-1]
        config = read.get("quotaConfig")
        if config is not None:
            config.pop("annotations", None)
            if annotations := (state.get("quotaConfig") or {}).get("annotations"):
                config["annotations"] = annotations
        return Found(id, read)

    def update(self, cloud: Cloud, id: str, old: Properties, planned: Properties) -> Found:
        """PATCH with a mask of the changed fields, under the name that the preference is to have."""
        differing = changed(self.schema, old, planned)
        if mask := [name for name in _SENT if name in differing]:
            params = {"ignoreSafetyChecks": planned["ignoreSafetyChecks"], "updateMask": ",".join(mask)}
            try:
                cloud.send(_SERVICE, "PATCH", _path(planned), params=params, body=_body(planned))
            except GoogleError as error:
                raise CloudError(f'Error updating QuotaPreference "{id}": {error}') from error
        return self.reread(cloud, id, planned)

    def delete(self, cloud: Cloud, id: str, state: Properties) -> None:
        """Send nothing, as the API has no delete."""

    def locate(self, id: str, settings: Settings) -> Found:
        """Parse `projects/P/locations/global/quotaPreferences/N` (a folder or organization as well)."""
        parent, middle, name = id.partition(_MIDDLE)
        if not parent or not middle or not name or "/" in name:
            raise ImportIdError(_TOKEN, id, (f"{{parent}}{_MIDDLE}{{name}}",))
        return Found(id, {"parent": parent, "name": name})


def _path(state: Properties) -> str:
    return f"{state['parent']}{_MIDDLE}{state['name']}"


def _body(planned: Properties) -> dict[str, Any]:
    body = to_api(_SENT, planned)
    config = planned["quotaConfig"]
    echoed = {name: value for name in _ECHOED if isinstance(value := config.get(name), str) and value}
    return {**body, "quotaConfig": {**body["quotaConfig"], **echoed}}
