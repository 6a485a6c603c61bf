"""Google's methods, as its own files list them: discovery documents; for Cloud Quotas, which has none, the client."""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vertex_local import discovery
from vertex_local.quotas.records import MESSAGES

_CLIENTS = {f"cloudquotas.{version}": f"google.cloud.cloudquotas_{version}" for version in ("v1", "v1beta")}


@dataclass(frozen=True)
class Words:
    """What a method of Google's can be sent: the parameters of its query, and a body of one of its API's schemas."""

    id: str
    parameters: Mapping[str, Any]
    schema: str
    schemas: Mapping[str, Any]


def called(verb: str, path: str) -> Words | None:
    """Return the words of the method that a raw path leads to."""
    method = discovery.method_of(verb, path)
    if method:
        return Words(method.id, method.parameters, method.schema, discovery.document(method.api)["schemas"])
    for api in _CLIENTS:
        for name, of_verb, example in _of_client(_CLIENTS[api]):
            same = re.sub("(?<=/)x(?=/|$)", "[^/]+", example)
            if of_verb == verb and re.fullmatch(same, path) and "quota" in path:
                return _words_of_client(api.rpartition(".")[2], name)
    return None


def _words_of_client(version: str, name: str) -> Words:
    noun, verb = name.split(".")[-2:]
    one = noun.removesuffix("s")[:1].upper() + noun.removesuffix("s")[1:]
    request = f"{verb.title().replace('Patch', 'Update')}{one}{'s' * (verb == 'list')}Request"
    schemas: dict[str, Any] = {}
    fields = _schema(MESSAGES.descriptor(version, request), schemas)["properties"]
    bound = ("parent", "name", "quotaPreference")
    body = one if verb in ("create", "patch") else ""
    return Words(name, {key: value for key, value in fields.items() if key not in bound}, body, schemas)


def _schema(descriptor: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return a message's definition as discovery documents have it, and put those in it among the schemas."""
    made: dict[str, Any] = {"properties": {}}
    schemas[descriptor.name] = made
    for field in descriptor.fields:
        form = _form(field, schemas)
        listed = field.is_repeated and "additionalProperties" not in form
        made["properties"][field.json_name] = {"type": "array", "items": form} if listed else form
    return made


def _form(field: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    if field.enum_type is not None:
        return {"type": "string", "enum": [value.name for value in field.enum_type.values]}
    message = field.message_type
    if message is None:
        kind = {8: "boolean", 9: "string"}.get(field.type, "integer")
        return {"type": kind} | ({"format": "int64"} if kind == "integer" else {})
    if message.full_name.startswith("google.protobuf."):
        forms = {"Timestamp": "google-datetime", "FieldMask": "google-fieldmask", "Int64Value": "int64"}
        return {"type": "string", "format": forms[message.name]}
    if message.GetOptions().map_entry:
        return {"type": "object", "additionalProperties": {"type": "string"}}
    if message.name not in schemas:
        _schema(message, schemas)
    return {"$ref": message.name}


def examples(api: str) -> list[tuple[str, str, str]]:
    """Return (id, HTTP method, an example of a path) of every method of an API such as `storage.v1`."""
    return _of_client(_CLIENTS[api]) if api in _CLIENTS else discovery.examples(api)


def _of_client(package: str) -> list[tuple[str, str, str]]:
    """Return the methods of a client: `_BaseUpdateQuotaPreference` with
    `/v1/{quota_preference.name=projects/*/locations/*/quotaPreferences/*}` is
    `cloudquotas.projects.locations.quotaPreferences.patch`. All resources of Cloud Quotas are in the location
    `global`."""
    module = importlib.import_module(f"{package}.services.cloud_quotas.transports.rest_base")
    found = []
    for name, method in vars(module._BaseCloudQuotasRestTransport).items():
        for option in method._get_http_options() if name.startswith("_Base") else ():
            verb = re.findall(r"[A-Z][a-z]+", name)[1].lower().replace("update", "patch")
            path = re.sub(r"\{[\w.]+=([^}]+)\}", r"\1", option["uri"])
            collections = [word for word in path.split("/")[2:] if word != "*"]
            example = path.replace("locations/*", "locations/global").replace("*", "x")
            found.append((".".join(["cloudquotas", *collections, verb]), option["method"].upper(), example))
    return found
