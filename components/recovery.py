"""The recovery of a program after its state was lost: Slipway imports what is its own, and a person the rest."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping

import pulumi

from slipway.base.errors import SlipwayError
from slipway.deploying.deployment.takeover import NameTakenError, imports_first, is_recovered
from slipway.deploying.deployment.workspace_plan import trainer_email
from slipway.google.live import Unknown
from slipway.model.state import ACCOUNT, BUCKET

from .engine import EngineRun
from .member import Member
from .namesakes import noted
from .predicted_ids import IDS, arguments_in

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


def add_imports(error: SlipwayError, run: EngineRun) -> None:
    """Add the imports of the program's own resources to the error of an empty state under a name in use."""
    missing = list(_missing(run))
    if not isinstance(error, NameTakenError) or not missing:
        return
    error.fix = f"{error.fix}\n{_imports(missing, run)}"
    if not run.preview:
        error.why = (
            f"{error.why}\nPulumi may have created resources of the program's own already, as it creates them before "
            "Slipway decides; `pulumi preview` says all this and creates nothing"
        )


def warn_of_imports(run: EngineRun) -> None:
    """Warn at the beginning of a recovery of what Pulumi would create a second time."""
    if isinstance(run.state, Unknown) or run.is_deployed or not is_recovered(os.environ, run.identity()):
        return
    missing = list(_missing(run))
    if missing:
        pulumi.log.warn(_imports(missing, run))


def _missing(run: EngineRun) -> Iterator[pulumi.ResourceTransformationArgs]:
    """Yield the program's own resources that the state lacks."""
    known = frozenset[tuple[str, str]]() if isinstance(run.state, Unknown) else run.state.names
    for each in noted():
        is_own = isinstance(each.resource, pulumi.CustomResource) and not isinstance(each.opts.parent, Member)
        if is_own and not isinstance(each.resource, pulumi.ProviderResource) and (each.type_, each.name) not in known:
            yield each


def _imports(missing: list[pulumi.ResourceTransformationArgs], run: EngineRun) -> str:
    """Return what a person does about the missing resources."""
    commands = [
        f"pulumi import --stack {run.name} {each.type_} {each.name} {_id_of(each, run)} --generate-code=false"
        for each in missing
    ]
    return imports_first(commands, [each.name for each in missing if _is_nameless(each)])


def _is_nameless(args: pulumi.ResourceTransformationArgs) -> bool:
    """Tell whether the program leaves the name of a resource to Pulumi, of a type that takes one."""
    taken = getattr(type(args.resource), "_internal_init", None)
    takes_name = taken is not None and "name" in inspect.signature(taken).parameters
    return takes_name and args.props.get("name") is None


def _id_of(args: pulumi.ResourceTransformationArgs, run: EngineRun) -> str:
    """Return the id by which Pulumi imports a resource; the word ID if the program does not tell it."""
    values = {"project": run.project, "region": run.region}
    values |= {key: value for key, value in args.props.items() if isinstance(value, str)}
    account = values.get("account_id")
    if args.type_ == ACCOUNT and account:
        project = values["project"]
        return f"projects/{project}/serviceAccounts/{trainer_email(account, project)}"
    form = _IDS.get(args.type_, "")
    if not form or not all(values.get(argument) for argument in arguments_in(form)):
        return "ID"
    return form.format_map(values)
