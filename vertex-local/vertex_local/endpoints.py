"""The variables that lead clients and the gcp provider to this cloud, each with an address on this machine.

The provider asks Google itself, with the token at hand, wherever it finds no endpoint. So every variable it knows gets
a value: those of the APIs that the local cloud serves, and for all others an address that refuses in words.
"""

import importlib.util
import re
from pathlib import Path

UNSERVED = "/not-served/"
"""The path under which the local cloud refuses a service that it lacks; the service's name follows."""

SERVED = {
    "VERTEX_AI": "/v1beta1/",
    "CLOUD_QUOTAS": "/v1/",
    "STORAGE": "/storage/v1/",
    "IAM_BETA": "/v1/",  # service accounts too, since google-beta 7.30
    "IAM": "/v1/",  # service accounts until then
    "RESOURCE_MANAGER": "/v1/",
    "RESOURCE_MANAGER_V3": "/v3/",
    "RESOURCE_MANAGER3": "/v3/",
    "LOGGING": "/v2/",
    "MONITORING": "/v3/",
    "SECRET_MANAGER": "/v1/",
    "SERVICE_USAGE": "/v1/",
    "ORG_POLICY": "/v2/",
    "COMPUTE": "/compute/v1/",
}
"""Service, as in the names of variables, to the base path that the local cloud serves."""

# Names that do not follow from an option of the installed SDK.
_ODD = (
    "CONTAINERAWS",  # from container_aws_custom_endpoint, spelled so in google-beta's SetEndpointDefaults
    "CONTAINERAZURE",  # from container_azure_custom_endpoint, likewise
    "CLOUD_BUILD_WORKER_POOL",  # the others were read by earlier versions of google-beta
    "CLOUD_IOT",
    "DATASTORE",
    "GAME_SERVICES",
    "GKEHUB_FEATURE",
    "ML_ENGINE",
    "NOTEBOOKS",
    "TPU",
)
_OPTION = re.compile(r"\bdef (\w+)_custom_endpoint\(")


def variable(service: str) -> str:
    """Return the environment variable of a service, e.g. of `VERTEX_AI`."""
    return f"GOOGLE_{service}_CUSTOM_ENDPOINT"


def served(url: str) -> dict[str, str]:
    """Return the variables of the APIs that the local cloud at `url` serves."""
    return {variable(service): url + path for service, path in SERVED.items()}


def cloud_variables(url: str, token: str, project: str) -> dict[str, str]:
    """Return the variables with which clients and the provider reach a project of the cloud with a token."""
    return {
        **served(url),
        "GOOGLE_OAUTH_ACCESS_TOKEN": token,
        "GOOGLE_CLOUD_PROJECT": project,
        "STORAGE_EMULATOR_HOST": f"{url}/t/{token}",
        "CLOUD_STORAGE_EMULATOR_ENDPOINT": f"{url}/t/{token}",  # read by Google's C++ client, which is inside pyarrow
    }


def every(url: str) -> dict[str, str]:
    """Return all variables that the provider knows or knew, by the installed SDK and the table above."""
    others = {
        variable(service): f"{url}{UNSERVED}{service.lower()}/v1/"
        for service in (*_options(), *_ODD)
        if service not in SERVED
    }
    return {**served(url), **others}


def _options() -> list[str]:
    """Return the services with an option in the installed SDK, read from its text, since importing it takes seconds."""
    spec = importlib.util.find_spec("pulumi_gcp")
    if spec is None or spec.origin is None:
        return []
    text = (Path(spec.origin).parent / "config" / "vars.py").read_text(encoding="utf-8")
    return sorted({name.upper() for name in _OPTION.findall(text)})
