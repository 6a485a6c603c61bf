"""The methods of secret versions, among them the one that returns a value."""

import base64
from typing import Any

import google_crc32c

from .. import bodies
from ..wire import Call, Reply, Route, aborted, failed_precondition, invalid_argument, not_found
from ..world import World
from .secrets import BASE, VERSIONS, Secrets, page

_MOST_BYTES = 64 * 1024
_LATEST = "latest"


class Versions:
    def __init__(self, world: World, secrets: Secrets) -> None:
        self._world, self._secrets = world, secrets

    def routes(self) -> list[Route]:
        path = BASE + "/{secret}/versions/{version}"
        return [
            Route("POST", BASE + "/{secret}:addVersion", self.add),
            Route("GET", BASE + "/{secret}/versions", self.list),
            Route("GET", path, self.get),
            Route("GET", path + ":access", self.access),
            Route("POST", path + ":enable", self.enable),
            Route("POST", path + ":disable", self.disable),
            Route("POST", path + ":destroy", self.destroy),
        ]

    def add(self, call: Call) -> Reply:
        secret = self._secrets.entered(call, "versions.add")
        body = bodies.parsed("secretmanager.v1", "AddSecretVersionRequest", call.object())
        payload = body.get("payload", {})
        value = _decoded(payload)
        with self._world.store.transaction():
            self._secrets.find(secret)
            number = len(VERSIONS.every(self._world.store, f"{secret}/")) + 1
            self._secrets.vault.put(call.params["secret"], number, value)
            made = {
                "name": f"{secret}/versions/{number}",
                "createTime": self._world.now(),
                "replicationStatus": {"automatic": {}},
                "clientSpecifiedPayloadChecksum": "dataCrc32c" in payload,
                "state": "ENABLED",
            }
            made = self._secrets.put(VERSIONS, made)
        return Reply(body=made)

    def list(self, call: Call) -> Reply:
        """Return the versions, the newest first."""
        secret = self._secrets.entered(call, "versions.list")
        self._secrets.find(secret)
        versions = reversed(VERSIONS.every(self._world.store, f"{secret}/"))
        return page(call, "versions", "SecretVersion", versions)

    def get(self, call: Call) -> Reply:
        secret = self._secrets.entered(call, "versions.get")
        return Reply(body=self._find(secret, call.params["version"]))

    def access(self, call: Call) -> Reply:
        """Return the value of a version by number, or `latest`: the newest, whatever its state."""
        secret = self._secrets.entered(call, "versions.access")
        version = self._find(secret, call.params["version"])
        if version["state"] != "ENABLED":
            raise failed_precondition(f"Secret Version [{version['name']}] is in {version['state']} state.")
        value = self._secrets.vault.get(call.params["secret"], _number(version))
        data = base64.b64encode(value).decode()
        payload = {"data": data, "dataCrc32c": str(_checksum(value))}
        return Reply(body={"name": version["name"], "payload": payload}, headers={"Cache-Control": "no-store"})

    def enable(self, call: Call) -> Reply:
        return self._moved(call, "enable", "ENABLED")

    def disable(self, call: Call) -> Reply:
        return self._moved(call, "disable", "DISABLED")

    def destroy(self, call: Call) -> Reply:
        return self._moved(call, "destroy", "DESTROYED")

    def _moved(self, call: Call, verb: str, state: str) -> Reply:
        """Return a version in another state. Nothing restores a destroyed one."""
        secret = self._secrets.entered(call, f"versions.{verb}")
        with self._world.store.transaction():
            version = self._find(secret, call.params["version"])
            sent = bodies.parsed("secretmanager.v1", f"{verb.title()}SecretVersionRequest", call.object())
            if sent.get("etag", version["etag"]) != version["etag"]:
                raise aborted(f"The etag does not match that of Secret Version [{version['name']}].")
            if version["state"] == "DESTROYED":
                raise failed_precondition(f"Secret Version [{version['name']}] is in DESTROYED state.")
            if state == "DESTROYED":
                version = {**version, "destroyTime": self._world.now()}
            made = self._secrets.put(VERSIONS, {**version, "state": state})
        if state == "DESTROYED":
            self._secrets.vault.destroy(call.params["secret"], _number(made))
        return Reply(body=made)

    def _find(self, secret: str, version: str) -> dict[str, Any]:
        """Return a version by number or `latest`. Raises 404."""
        self._secrets.find(secret)
        if version == _LATEST:
            version = str(len(VERSIONS.every(self._world.store, f"{secret}/")))
            if version == "0":
                raise not_found(f"Secret [{secret}] not found or has no versions.")
        name = f"{secret}/versions/{version}"
        return VERSIONS.find(self._world.store, name, f"Secret Version [{name}] not found.")


def _decoded(payload: dict[str, Any]) -> bytes:
    """Return the value of a payload, checked against its checksum where there is one. Raises 400, without the value."""
    try:
        value = base64.b64decode(payload.get("data", ""), validate=True)
    except ValueError as error:  # `binascii.Error` is one, and so is the error for letters beyond ASCII
        raise invalid_argument("Invalid value at 'payload.data' (TYPE_BYTES), Base64 decoding failed.") from error
    if not value:
        raise invalid_argument("The payload of a secret version can't be empty.")
    if len(value) > _MOST_BYTES:
        raise invalid_argument(f"The payload of a secret version may have {_MOST_BYTES} bytes.")
    if "dataCrc32c" in payload and int(payload["dataCrc32c"]) != _checksum(value):
        raise invalid_argument("The checksum in payload.dataCrc32c does not match the payload's data.")
    return value


def _checksum(value: bytes) -> int:
    return int(google_crc32c.value(value))


def _number(body: dict[str, Any]) -> int:
    return int(body["name"].rpartition("/")[2])
