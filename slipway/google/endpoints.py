"""The addresses of the APIs: Google's hosts, or the overrides that the Pulumi provider reads from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from slipway.base.errors import ConfigError

OVERRIDES = {
    "vertex": "GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT",
    "storage": "GOOGLE_STORAGE_CUSTOM_ENDPOINT",
    "quotas": "GOOGLE_CLOUD_QUOTAS_CUSTOM_ENDPOINT",
    "logging": "GOOGLE_LOGGING_CUSTOM_ENDPOINT",
    "monitoring": "GOOGLE_MONITORING_CUSTOM_ENDPOINT",
    "secrets": "GOOGLE_SECRET_MANAGER_CUSTOM_ENDPOINT",
    "iam": "GOOGLE_IAM_BETA_CUSTOM_ENDPOINT",
    "projects": "GOOGLE_RESOURCE_MANAGER_CUSTOM_ENDPOINT",
    "policies": "GOOGLE_ORG_POLICY_CUSTOM_ENDPOINT",
    "compute": "GOOGLE_COMPUTE_CUSTOM_ENDPOINT",
}
"""The provider's variable for each API used here: a base URL with version and trailing slash."""

_HOSTS = {
    "storage": "storage.{}/storage/v1/",
    "quotas": "cloudquotas.{}/v1/",
    "logging": "logging.{}/v2/",
    "monitoring": "monitoring.{}/v3/",
    "secrets": "secretmanager.{}/v1/",
    "iam": "iam.{}/v1/",
    "projects": "cloudresourcemanager.{}/v1/",
    "policies": "orgpolicy.{}/v2/",
    "compute": "compute.{}/compute/v1/",
}


@dataclass(frozen=True)
class Endpoints:
    """Base URLs, each with its version and a trailing slash."""

    #: The domain of a sovereign cloud, `googleapis.com` elsewhere.
    universe: str = "googleapis.com"
    #: The hosts are those that ask for a client certificate.
    mtls: bool = False
    #: Base URLs by API; they take precedence over both, as in the provider.
    overrides: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Endpoints:
        """Read the overrides. Raises ConfigError for one that is not an http(s) URL."""
        overrides: dict[str, str] = {}
        for service, variable in OVERRIDES.items():
            value = environ.get(variable, "").strip()
            if not value:
                continue
            if not _is_base_url(value):
                raise ConfigError(
                    f"{variable} is not a URL: {value!r}",
                    why="an endpoint override is a base URL with version and trailing slash",
                    fix=f"export {variable}=https://HOST/v1/, or unset it to use Google's own",
                )
            overrides[service] = value if value.endswith("/") else value + "/"
        return cls(
            universe=environ.get("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "").strip() or "googleapis.com",
            mtls=environ.get("GOOGLE_API_USE_CLIENT_CERTIFICATE", "").strip().lower() == "true",
            overrides=overrides,
        )

    def of(self, service: str, host: str = "") -> str:
        """Return the base URL of an API by its name in `OVERRIDES`; for Vertex AI and Monitoring ask their methods."""
        domain = f"{'mtls.' if self.mtls else ''}{self.universe}"
        return self.overrides.get(service) or f"https://{(host or _HOSTS[service]).format(domain)}"

    def vertex(self, region: str) -> str:
        """Return Vertex AI's base URL in `region`; the API is regional, and so is its host."""
        return self.of("vertex", f"{region}-aiplatform.{{}}/v1/")

    @property
    def storage_upload(self) -> str:
        """The base URL of uploads: the same host under `/upload`."""
        scheme, _, rest = self.of("storage").partition("://")
        host, _, path = rest.partition("/")
        prefix, storage, version = path.rpartition("storage/")
        return f"{scheme}://{host}/{prefix}upload/{storage}{version}"

    @property
    def monitoring(self) -> str:
        """The base URL of Monitoring. The provider's own override is written without the version."""
        base = self.of("monitoring")
        return base if base.endswith("v3/") else base + "v3/"


def _is_base_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        host, port = url.hostname or "", url.port
    except ValueError:
        return False
    is_address = ":" in host  # An IPv6 address, which has no labels.
    fits = is_address or (len(host) < 254 and all(0 < len(label) < 64 for label in host.removesuffix(".").split(".")))
    plain = text.isascii() and text.isprintable() and " " not in text and not (url.query or url.fragment)
    return url.scheme in ("http", "https") and fits and plain and port != 0
