"""The methods of secrets."""

import re
from collections.abc import Iterable
from dataclasses import replace
from operator import itemgetter
from typing import Any

from .. import bodies, document_filters, documents, filter_fields, policy_methods
from ..repository import Repository
from ..wire import Call, Reply, Route, aborted, already_exists, invalid_argument, permission_denied
from ..world import World
from . import rules
from .vault import Vault

SECRETS = Repository(kind="secret", record=dict, key=itemgetter("name"))
VERSIONS = Repository(kind="secretVersion", record=dict, key=itemgetter("name"))
BASE = "/v1/projects/{project}/secrets"
_API = "secretmanager.v1"
_ID = re.compile(r"[A-Za-z0-9_-]{1,255}")
_KEPT = ("replication", "secretType", "labels")
_PAGE, _MAX_PAGE = 25, 25_000


class Secrets:
    def __init__(self, world: World) -> None:
        self._world = world
        self.vault = Vault(world.state_folder / "secrets")

    def routes(self) -> list[Route]:
        path = BASE + "/{secret}"
        policy = policy_methods.routes(self._world, path, _API, "secretmanager.secrets", self._resource)
        return [
            Route("POST", BASE, self.create),
            Route("GET", BASE, self.list),
            Route("GET", path, self.get),
            Route("PATCH", path, self.patch),
            Route("DELETE", path, self.delete),
            # This API reads policies with GET.
            *(replace(item, method="GET") if item.template.endswith(":getIamPolicy") else item for item in policy),
        ]

    def create(self, call: Call) -> Reply:
        secret_id = call.query.get("secretId", "")
        self.require(call, "secrets.create", f"projects/{call.params['project']}")
        body = bodies.parsed(_API, "Secret", call.object())
        if not _ID.fullmatch(secret_id):
            raise invalid_argument("The provided Secret ID does not match the expected format [[a-zA-Z_0-9]+].")
        rules.check(body)
        name = self._name(secret_id)
        with self._world.store.transaction():
            if SECRETS.get(self._world.store, name):
                raise already_exists(f"Secret [{name}] already exists.")
            kept = {key: value for key, value in body.items() if key in _KEPT}
            made = self.put(SECRETS, {**kept, "name": name, "createTime": self._world.now()})
        return Reply(body=made)

    def get(self, call: Call) -> Reply:
        return Reply(body=self.find(self.entered(call, "secrets.get")))

    def list(self, call: Call) -> Reply:
        """Return the secrets, the newest first."""
        self.require(call, "secrets.list", f"projects/{call.params['project']}")
        return page(call, "secrets", "Secret", reversed(SECRETS.every(self._world.store)))

    def patch(self, call: Call) -> Reply:
        name = self.entered(call, "secrets.update")
        sent = bodies.parsed(_API, "Secret", call.object())
        if documents.masked(call) != ("labels",):
            raise invalid_argument("The update mask must name labels, the one field that can be changed here.")
        with self._world.store.transaction():
            secret = self.find(name)
            if sent.get("etag", secret["etag"]) != secret["etag"]:
                raise aborted(f"The etag does not match that of Secret [{name}].")
            changed = documents.merged(secret, sent, ("labels",))
            rules.check(changed)
            made = self.put(SECRETS, changed)
        return Reply(body=made)

    def delete(self, call: Call) -> Reply:
        name = self.entered(call, "secrets.delete")
        with self._world.store.transaction():
            secret = self.find(name)
            if call.query.get("etag", secret["etag"]) != secret["etag"]:
                raise aborted(f"The etag does not match that of Secret [{name}].")
            for version in VERSIONS.every(self._world.store, f"{name}/"):
                VERSIONS.remove(self._world.store, version["name"])
            self._world.policies.delete(f"//secretmanager.googleapis.com/{name}")
            SECRETS.remove(self._world.store, name)
            self.vault.destroy_all(call.params["secret"])
        return Reply(body={})

    def entered(self, call: Call, permission: str) -> str:
        """Check that the caller has a permission on the call's secret, and return its full name. Raises 403."""
        name = self._name(call.params["secret"])
        rest = f"/versions/{call.params['version']}" if "version" in call.params else ""
        self.require(call, permission, f"projects/{call.params['project']}/secrets/{call.params['secret']}{rest}", name)
        return name

    def find(self, name: str) -> dict[str, Any]:
        """Return a secret. Raises 404."""
        return SECRETS.find(self._world.store, name, f"Secret [{name}] not found.")

    def require(self, call: Call, permission: str, shown: str, secret: str = "") -> None:
        """Check that a role on project or secret grants the permission. Raises 403 in this service's words."""
        permission = f"secretmanager.{permission}"
        resource = f"//secretmanager.googleapis.com/{secret}" if secret else None
        known = self._world.project.is_called(call.params["project"])
        if not known or not self._world.access.granted(call.principal, permission, resource):
            raise permission_denied(f"Permission '{permission}' denied for resource '{shown}' (or it may not exist).")

    def put(self, records: Repository[dict[str, Any]], body: dict[str, Any]) -> dict[str, Any]:
        """Keep a secret or a version, and return it with a new etag."""
        body = {**body, "etag": f'"{self._world.store.next_id("secretEtag"):x}"'}
        records.put(self._world.store, body)
        return body

    def _name(self, secret_id: str) -> str:
        return f"projects/{self._world.project.number}/secrets/{secret_id}"

    def _resource(self, call: Call) -> str:
        name = self._name(call.params["secret"])
        self.find(name)
        return f"//secretmanager.googleapis.com/{name}"


def page(call: Call, key: str, schema: str, bodies: Iterable[dict[str, Any]]) -> Reply:
    """Return a page of documents of a schema that fit the call's filter. Raises 400."""
    test = document_filters.parsed(call.query.get("filter", ""), filter_fields.of_schema(_API, schema))
    bodies = [body for body in bodies if test(body)]
    listed = documents.listed(call, key, documents.sliced(bodies), lambda body: body, usual=_PAGE, most=_MAX_PAGE)
    return Reply(body=documents.without_empty(listed).body | {"totalSize": len(bodies)})
