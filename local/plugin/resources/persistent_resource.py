"""The resource type `AiPersistentResource`: a cluster of Vertex AI."""

from collections.abc import Mapping
from typing import Any

from ..cloud import Cloud
from ..comparing import changed
from ..ids import parse
from ..kind import Found, Kind, guarded, project_of
from ..labels import read_labels
from ..schema import AutoName, Field, Schema, boolean, deletion_policy, integer, labelled, many, output, record, text
from ..settings import Settings
from ..transport import CloudError, GoogleError
from ..values import Properties
from ..wire import from_api, to_api

_TOKEN = "gcp:vertex/aiPersistentResource:AiPersistentResource"
_SERVICE = "vertexAi"
_CLIENT_SIDE = ("deletionPolicy", "labels", "pulumiLabels", "effectiveLabels", "name", "location", "project")

_POOL: Mapping[str, Field] = {
    "id": text(computed=True, replace=True),
    "machineSpec": record(
        {
            "machineType": text(replace=True),
            "acceleratorType": text(replace=True),
            "acceleratorCount": integer(replace=True),
        },
        required=True,
        replace=True,
    ),
    "diskSpec": record({"bootDiskType": text(replace=True), "bootDiskSizeGb": integer(replace=True)}, replace=True),
    "autoscalingSpec": record(
        {"minReplicaCount": text(replace=True), "maxReplicaCount": text(replace=True)}, replace=True
    ),
    "replicaCount": text(),
    "usedReplicaCount": output(),
}
_DNS_PEERING: Mapping[str, Field] = {
    "domain": text(required=True, replace=True),
    "targetProject": text(required=True, replace=True),
    "targetNetwork": text(required=True, replace=True),
}
_FIELDS: Mapping[str, Field] = {
    "name": text(replace=True),
    "location": text(replace=True),
    "project": text(computed=True, replace=True),
    "displayName": text(),
    "resourcePools": many(record(_POOL), required=True, replace=True),
    "network": text(replace=True),
    "reservedIpRanges": many(text(replace=True), replace=True),
    "pscInterfaceConfig": record(
        {"networkAttachment": text(replace=True), "dnsPeeringConfigs": many(record(_DNS_PEERING), replace=True)},
        replace=True,
    ),
    "encryptionSpec": record({"kmsKeyName": text(required=True, replace=True)}, replace=True),
    "resourceRuntimeSpec": record(
        {
            "serviceAccountSpec": record(
                {"enableCustomServiceAccount": boolean(required=True, replace=True)}, replace=True
            )
        },
        replace=True,
    ),
    **labelled(replace=True),
    "deletionPolicy": deletion_policy(),
    "state": output(),
    "errors": output(
        "list", api="error", terraform="error", item=record({"code": output("integer"), "message": output()})
    ),
    "resourceRuntimes": output(
        "list",
        api="resourceRuntime",
        terraform="resource_runtime",
        item=record({"accessUris": output("map", item=text())}),
    ),
    "createTime": output(),
    "startTime": output(),
    "updateTime": output(),
    "satisfiesPzi": output("boolean"),
    "satisfiesPzs": output("boolean"),
}
_SENT: Mapping[str, Field] = {name: field for name, field in _FIELDS.items() if name not in _CLIENT_SIDE}


class PersistentResource(Kind):
    """A cluster, made and deleted by long-running operations; an update is a PUT, a verb that the API does not have."""

    schema = Schema(
        _TOKEN,
        "VertexAIPersistentResource",
        _FIELDS,
        AutoName("name", 63),
        timeouts=dict.fromkeys(("create", "update", "delete"), 20 * 60.0),
    )

    def create(self, cloud: Cloud, planned: Properties) -> Found:
        """POST, then the operation to its end. A failure leaves no id, whatever the cloud has made."""
        parent = f"projects/{project_of(planned)}/locations/{planned.get('location', '')}/persistentResources"
        try:
            operation = cloud.send(
                _SERVICE, "POST", parent, params={"persistentResourceId": planned["name"]}, body=_body(planned)
            )
        except GoogleError as error:
            raise CloudError(f"Error creating PersistentResource: {error}") from error
        try:
            cloud.finish(_SERVICE, operation, "Creating PersistentResource")
        except CloudError as error:
            raise CloudError(f"Error waiting to create PersistentResource: {error}") from error
        return self.reread(cloud, f"{parent}/{planned['name']}", planned)

    def read(self, cloud: Cloud, id: str, state: Properties) -> Found | None:
        """GET; the cluster's `state` is taken as it is, ERROR as well."""
        body = self.fetched(cloud, _SERVICE, id, id)
        if body is None:
            return None
        kept = {name: state[name] for name in ("name", "location", "project", "deletionPolicy") if name in state}
        policy = cloud.settings.deletion_policy or "DELETE"
        read = {"deletionPolicy": policy, **kept, **from_api(_SENT, body), **read_labels(body.get("labels"), state)}
        return Found(id, read)

    def update(self, cloud: Cloud, id: str, old: Properties, planned: Properties) -> Found:
        """PUT of the whole body, unless the deletion policy alone changes; the operation is not waited for.

        An update without changes is one that was refused before and that the engine asks for again.
        """
        if changed(self.schema, old, planned) != {"deletionPolicy"}:
            try:
                cloud.send(_SERVICE, "PUT", id, body=_body(planned))
            except GoogleError as error:
                raise CloudError(f'Error updating PersistentResource "{id}": {error}') from error
        return self.reread(cloud, id, planned)

    def delete(self, cloud: Cloud, id: str, state: Properties) -> None:
        """DELETE, then the operation to its end; PREVENT fails and ABANDON sends nothing."""
        if guarded(self.schema.title, id, state):
            return
        try:
            operation = cloud.send(_SERVICE, "DELETE", id)
        except GoogleError as error:
            if error.code == 404:
                return
            raise CloudError(f"Error when reading or editing PersistentResource: {error}") from error
        cloud.finish(_SERVICE, operation, "Deleting PersistentResource")

    def locate(self, id: str, settings: Settings) -> Found:
        """Parse `projects/P/locations/L/persistentResources/N`, `P/L/N` or `L/N`."""
        forms = (
            "projects/{project}/locations/{location}/persistentResources/{name}",
            "{project}/{location}/{name}",
            "{location}/{name}",
        )
        parts = parse(_TOKEN, id, forms, project=settings.project)
        return Found(
            f"projects/{parts['project']}/locations/{parts['location']}/persistentResources/{parts['name']}", {**parts}
        )


def _body(planned: Properties) -> dict[str, Any]:
    body = to_api(_SENT, planned)
    if labels := planned.get("effectiveLabels"):
        body["labels"] = labels
    return body
