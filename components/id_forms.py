"""The forms of ids of resources in Google Cloud, from the arguments of the resources."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter

_COMPUTE = "gcp:compute/"
IDS: Mapping[str, str] = {
    f"{_COMPUTE}network:Network": "projects/{project}/global/networks/{name}",
    f"{_COMPUTE}networkAttachment:NetworkAttachment": "projects/{project}/regions/{region}/networkAttachments/{name}",
    "gcp:kms/keyRing:KeyRing": "projects/{project}/locations/{location}/keyRings/{name}",
    "gcp:kms/cryptoKey:CryptoKey": "{key_ring}/cryptoKeys/{name}",
}
"""The form of the id of each type, from the arguments of a resource."""


def arguments_in(form: str) -> list[str]:
    """Return the arguments of a resource that are in the form of its id."""
    return [argument for _, argument, _, _ in Formatter().parse(form) if argument]
