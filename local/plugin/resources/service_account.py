"""The resource type `serviceaccount.Account`: an identity for programs."""

from collections.abc import Mapping
from typing import Any

from ..cloud import Cloud
from ..comparing import changed
from ..ids import parse
from ..kind import Found, Kind, guarded, project_of
from ..refusals import ACCOUNT_ID, beyond, unless_matching
from ..schema import AutoName, Field, Schema, boolean, deletion_policy, output, text
from ..settings import Settings
from ..transport import CloudError, GoogleError
from ..values import Properties

_TOKEN = "gcp:serviceaccount/account:Account"
_SERVICE = "iamBeta"
_DOMAIN = ".iam.gserviceaccount.com"
_FIELDS: Mapping[str, Field] = {
    "accountId": text(replace=True, refusal=unless_matching("account_id", ACCOUNT_ID)),
    "project": text(computed=True, replace=True),
    "displayName": text(),
    "description": text(refusal=beyond("description", 256)),
    "disabled": boolean(),
    "createIgnoreAlreadyExists": boolean(null=True),
    "deletionPolicy": deletion_policy(),
    "email": output(),
    "member": output(),
    "name": output(),
    "uniqueId": output(),
}


class ServiceAccount(Kind):
    """A service account, whose id is its full name, `projects/P/serviceAccounts/EMAIL`."""

    schema = Schema(
        _TOKEN,
        "Service Account",
        _FIELDS,
        AutoName("accountId", 30),
        default_timeout=5 * 60.0,
        timeouts={"create": 5 * 60.0},
    )

    def drift(self, old: Properties, planned: Properties) -> dict[str, Any]:
        """Return the address of a new account, which is known before it is made."""
        account, project = planned.get("accountId"), planned.get("project")
        if not isinstance(account, str) or not isinstance(project, str) or old.get("accountId") == account:
            return {}
        email = f"{account}@{project}{_DOMAIN}"
        return {"email": email, "member": f"serviceAccount:{email}"}

    def create(self, cloud: Cloud, planned: Properties) -> Found:
        """POST; one that exists is taken over with `createIgnoreAlreadyExists`."""
        project = project_of(planned)
        account = {name: planned[name] for name in ("displayName", "description") if planned.get(name)}
        body = {"accountId": planned["accountId"], "serviceAccount": account}
        id = f"projects/{project}/serviceAccounts/{planned['accountId']}@{project}{_DOMAIN}"
        try:
            made = cloud.send(_SERVICE, "POST", f"projects/{project}/serviceAccounts", body=body)
            id = str(made["name"])
        except GoogleError as error:
            if error.code != 409 or not planned.get("createIgnoreAlreadyExists"):
                raise CloudError(f"Error creating service account: {error}") from error
        if planned.get("disabled"):
            cloud.send(_SERVICE, "POST", f"{id}:disable", body={})
        return self.reread(cloud, id, planned)

    def read(self, cloud: Cloud, id: str, state: Properties) -> Found | None:
        """GET."""
        body = self.fetched(cloud, _SERVICE, id, id)
        if body is None:
            return None
        email = str(body["email"])
        read: dict[str, Any] = {
            "accountId": email.split("@")[0],
            "project": body.get("projectId") or state.get("project"),
            "disabled": bool(body.get("disabled")),
            "deletionPolicy": state.get("deletionPolicy") or cloud.settings.deletion_policy or "DELETE",
            "email": email,
            "member": f"serviceAccount:{email}",
            "name": body["name"],
            "uniqueId": str(body.get("uniqueId", "")),
        }
        read |= {name: body[name] for name in ("displayName", "description") if body.get(name)}
        if "createIgnoreAlreadyExists" in state:
            read["createIgnoreAlreadyExists"] = state["createIgnoreAlreadyExists"]
        return Found(str(body["name"]), read)

    def update(self, cloud: Cloud, id: str, old: Properties, planned: Properties) -> Found:
        """PATCH of the two texts; enabling and disabling are requests of their own."""
        differing = changed(self.schema, old, planned)
        try:
            if mask := [name for name in ("displayName", "description") if name in differing]:
                account = {name: planned.get(name) or "" for name in mask}
                cloud.send(_SERVICE, "PATCH", id, body={"serviceAccount": account, "updateMask": ",".join(mask)})
            if "disabled" in differing:
                verb = "disable" if planned.get("disabled") else "enable"
                cloud.send(_SERVICE, "POST", f"{id}:{verb}", body={})
        except GoogleError as error:
            raise CloudError(f'Error updating service account "{id}": {error}') from error
        return self.reread(cloud, id, planned)

    def delete(self, cloud: Cloud, id: str, state: Properties) -> None:
        """DELETE."""
        if guarded(self.schema.title, id, state):
            return
        try:
            cloud.send(_SERVICE, "DELETE", id)
        except GoogleError as error:
            if error.code != 404:
                raise CloudError(f'Error deleting service account "{id}": {error}') from error

    def locate(self, id: str, settings: Settings) -> Found:
        """Parse `projects/P/serviceAccounts/EMAIL`, `P/EMAIL` or `EMAIL`."""
        forms = ("projects/{project}/serviceAccounts/{email}", "{project}/{email}", "{email}")
        parts = parse(_TOKEN, id, forms, project=settings.project)
        full = f"projects/{parts['project']}/serviceAccounts/{parts['email']}"
        return Found(full, {"project": parts["project"]})
