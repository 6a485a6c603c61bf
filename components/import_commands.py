"""The commands that import resources of the program itself into Pulumi's state."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from slipway.deploying.deployment.workspace_plan import trainer_email
from slipway.model.state import ACCOUNT, BUCKET

from .id_forms import IDS, arguments_in

_IDS: Mapping[str, str] = {
    **IDS,
    BUCKET: "{name}",
    "gcp:compute/subnetwork:Subnetwork": "projects/{project}/regions/{region}/subnetworks/{name}",
    "gcp:compute/router:Router": "projects/{project}/regions/{region}/routers/{name}",
    "gcp:compute/address:Address": "projects/{project}/regions/{region}/addresses/{name}",
    "gcp:compute/globalAddress:GlobalAddress": "projects/{project}/global/addresses/{name}",
    "gcp:compute/firewall:Firewall": "projects/{project}/global/firewalls/{name}",
    "gcp:pubsub/topic:Topic": "projects/{project}/topics/{name}",
    "gcp:secretmanager/secret:Secret": "projects/{project}/secrets/{secret_id}",
}
"""The form of the id by which Pulumi imports a resource, by its type, from its arguments."""


def import_command(args: pulumi.ResourceTransformationArgs, stack: str, project: str, region: str) -> str:
    """Return the command that imports a resource. `project` and `region`: those of the configuration."""
    id_ = _id_of(args, project, region)
    return f"pulumi import --stack {stack} {args.type_} {args.name} {id_} --generate-code=false"


def _id_of(args: pulumi.ResourceTransformationArgs, project: str, region: str) -> str:
    """Return the id by which Pulumi imports a resource; the word ID if the arguments do not contain it."""
    values = {"project": project, "region": region}
    values |= {key: value for key, value in args.props.items() if isinstance(value, str)}
    account = values.get("account_id")
    if args.type_ == ACCOUNT and account:
        project = values["project"]
        return f"projects/{project}/serviceAccounts/{trainer_email(account, project)}"
    form = _IDS.get(args.type_, "")
    if not form or not all(values.get(argument) for argument in arguments_in(form)):
        return "ID"
    return form.format_map(values)
