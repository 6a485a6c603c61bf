"""The provider's configuration: keys of the stack or of an explicit provider, and environment variables.

Only endpoints on this machine are taken. The token comes from the environment alone, so that no stack file holds one.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

TOKEN_VARIABLE = "GOOGLE_OAUTH_ACCESS_TOKEN"
_PROJECT_VARIABLES = ("GOOGLE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT")
_REFUSED_KEYS = ("accessToken", "credentials")
_SUFFIX = "CustomEndpoint"

ENDPOINT_VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "vertexAi": "GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT",
        "cloudQuotas": "GOOGLE_CLOUD_QUOTAS_CUSTOM_ENDPOINT",
        "storage": "GOOGLE_STORAGE_CUSTOM_ENDPOINT",
        "iamBeta": "GOOGLE_IAM_BETA_CUSTOM_ENDPOINT",  # service accounts use this API too
        "resourceManager": "GOOGLE_RESOURCE_MANAGER_CUSTOM_ENDPOINT",
    }
)
"""Service (as in the configuration key `<service>CustomEndpoint`) to its environment variable."""


class SettingsError(Exception):
    """A configuration that is refused; `key` is its configuration key, or empty for an environment variable."""

    def __init__(self, key: str, what: str) -> None:
        super().__init__(what)
        self.key = key


@dataclass(frozen=True)
class Settings:
    """The configuration. endpoints: service → base URL with its slash. attribution: whether Pulumi's label is set."""

    endpoints: Mapping[str, str]
    token: str
    project: str = ""
    deletion_policy: str = ""
    attribution: bool = True


def check(given: Mapping[str, Any]) -> list[SettingsError]:
    """Return the errors in a configuration as it is, before anything is sent."""
    problems: list[SettingsError] = []
    for key in _REFUSED_KEYS:
        if given.get(key):
            # The key is left out: the engine prints the value of a key that is refused.
            problems.append(
                SettingsError("", f"the local gcp plugin takes no {key}: give the token as {TOKEN_VARIABLE} instead")
            )
    for key, value in given.items():
        if key.endswith(_SUFFIX) and isinstance(value, str):
            try:
                _on_this_machine(f"gcp:{key}", key, value)
            except SettingsError as problem:
                problems.append(problem)
    return problems


def load(given: Mapping[str, Any], environment: Mapping[str, str]) -> Settings:
    """Return the configuration in force; a key goes before an environment variable. Raises SettingsError."""
    for problem in check(given):
        raise problem
    token = environment.get(TOKEN_VARIABLE, "")
    if not token:
        raise SettingsError(
            "", f'no credentials: {TOKEN_VARIABLE} is not set; `eval "$(make shell)"` sets it for this shell'
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise SettingsError("", f"no credentials: {TOKEN_VARIABLE} has characters that no token has; export it again")
    endpoints = {}
    for service, variable in ENDPOINT_VARIABLES.items():
        key = f"{service}{_SUFFIX}"
        if url := given.get(key):
            endpoints[service] = str(url)
        elif url := environment.get(variable, ""):
            endpoints[service] = _on_this_machine(variable, "", url)
    return Settings(
        endpoints=MappingProxyType({service: url.rstrip("/") + "/" for service, url in endpoints.items()}),
        token=token,
        project=str(given.get("project") or next((v for n in _PROJECT_VARIABLES if (v := environment.get(n))), "")),
        deletion_policy=str(given.get("deletionPolicy") or ""),
        attribution=str(given.get("addPulumiAttributionLabel", "true")).lower() != "false",
    )


def _on_this_machine(name: str, key: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        scheme, host = parts.scheme, parts.hostname or ""
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        scheme, loopback = "", False
    if scheme not in ("http", "https") or not loopback:
        raise SettingsError(
            key,
            f"{name}: {url!r} is not an address on this machine, and the local gcp plugin talks to no other; "
            "to reach Google Cloud use a shell without the local cloud's variables, with the official plugin",
        )
    return url
