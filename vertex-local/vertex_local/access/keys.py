"""Service-account keys of the roles: application default credentials for clients that find their own.

A key exists as its file alone: whoever holds it may sign in, and the cloud verifies a signature by that file.
"""

import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import exceptions, jwt

from .. import files
from ..identities import Project

TOKEN_PATH = "/token"
"""Path at which a client exchanges a signed assertion for a token."""
_FOLDER = "credentials"
_BITS, _EXPONENT = 2048, 65537


class Keys:
    """The keys in a state folder, read again when one of their files has changed."""

    def __init__(self, folder: Path, project: Callable[[], Project]) -> None:
        self._folder, self._project = folder, project
        self._known: dict[Path, tuple[int, bytes]] = {}

    def principal(self, signed: str) -> str | None:
        """Return the principal whose key signed a JSON web token that is valid by this machine's clock, else None."""
        try:
            claims: dict[str, Any] = jwt.decode(signed, verify=False)  # type: ignore[no-untyped-call]
            principals = self._project().principals
            who = {principal.partition(":")[2]: who for who, principal in principals.items()}[
                str(claims.get("iss", ""))
            ]
            jwt.decode(signed, certs=self._public(_file(self._folder, who)))  # type: ignore[no-untyped-call]
        except (OSError, ValueError, KeyError, exceptions.GoogleAuthError):
            return None
        return principals[who]

    def _public(self, file: Path) -> bytes:
        changed = file.stat().st_mtime_ns
        if self._known.get(file, (0, b""))[0] != changed:
            self._known[file] = changed, _public_key(json.loads(file.read_text(encoding="utf-8"))["private_key"])
        return self._known[file][1]


def write(folder: Path, project: Project, who: str, url: str) -> Path:
    """Return the file of somebody's key for the cloud at an address, readable by its owner. The key itself is made
    once. `folder` is the project's."""
    file = _file(folder, who)
    try:
        keys = json.loads(file.read_text(encoding="utf-8"))
        key, key_id = keys["private_key"], keys["private_key_id"]
        _public_key(key)
    except (OSError, ValueError, KeyError):
        key, key_id = _new_key(), secrets.token_hex(20)
    content = {
        "type": "service_account",
        "project_id": project.id,
        "private_key_id": key_id,
        "private_key": key,
        "client_email": project.principals[who].partition(":")[2],
        "client_id": project.number,
        "token_uri": url + TOKEN_PATH,
        "universe_domain": "googleapis.com",
    }
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.write_json(file, content)
    return file


def _file(folder: Path, who: str) -> Path:
    return folder / _FOLDER / f"{who}.json"


def _new_key() -> str:
    made = rsa.generate_private_key(_EXPONENT, _BITS)
    form = serialization.PrivateFormat.PKCS8
    return made.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def _public_key(private: str) -> bytes:
    """Return the public half of a private key. Raises ValueError for anything else."""
    key = serialization.load_pem_private_key(private.encode(), None).public_key()
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
