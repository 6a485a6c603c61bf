"""Google's methods, as its own files list them: discovery documents; for Cloud Quotas, which has none, the client."""

import importlib
import re

from vertex_local import discovery

_CLIENTS = {f"cloudquotas.{version}": f"google.cloud.cloudquotas_{version}" for version in ("v1", "v1beta")}


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
