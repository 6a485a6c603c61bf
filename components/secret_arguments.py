"""Secret values among components' arguments: each argument either can't be secret, with a reason, or stays secret.

A value made from a secret is secret, as everywhere in Pulumi. Most arguments are part of names, or are published for
submitters and reviewers. A secret there would be readable, so it is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pulumi

from slipway.authoring.stack.encrypted import OF_THE_PROVIDER

from .entries import ArgumentError
from .member import Kind, Member
from .resolution import KEPT

NAME = "it is part of resource names, which the state, previews and Google Cloud show in plain text"
CATALOG = "the catalog publishes it, and every submitter can read the catalog"
CLUSTER = "anyone who can list clusters can read it, and the cluster's id contains a hash of it"
REVIEW = "previews and reviews show its value or its effect"

PUBLISHED: Mapping[Kind, Mapping[str, str]] = {
    "workspace": {
        "submitters": NAME,
        "catalog_bucket": NAME,
        "work_bucket": NAME,
        "kms_key": CATALOG,
        "trainer": NAME,
        "code": CATALOG,
        "shell": CATALOG,
        "urgent": CATALOG,
        "confirm_above": CATALOG,
        "board": CATALOG,
        "notify": CATALOG,
        "trainers": NAME,
        "teams": NAME,
        "machines": CATALOG,
        "reservations": CATALOG,
        "budget": CATALOG,
        "sessions": CATALOG,
        "regions": NAME,
        "shares": CATALOG,
        "agents": CATALOG,
        "project": NAME,
        "region": NAME,
    },
    "cluster": {
        "pools": CLUSTER,
        "display_name": CLUSTER,
        "network": CLUSTER,
        "reserved_ip_ranges": CLUSTER,
        "kms_key": CLUSTER,
        "psc_interface": CLUSTER,
        "custom_service_account": CLUSTER,
        "labels": CLUSTER,
        "replacement": REVIEW,
        "generation": CLUSTER,
        "retire_within": REVIEW,
        "create_within": REVIEW,
        "alternatives": CLUSTER,
        "begins": CATALOG,
        "ends": CATALOG,
        "idle_limit": CATALOG,
        "id": NAME,
        "project": NAME,
        "region": NAME,
    },
    "template": {"template": CATALOG},
    "quota": {"mode": REVIEW, "strict": REVIEW},
    "catalog": {"policy": REVIEW},
}
"""Arguments that can't be secret, with the reason. What is below them can't be either."""


async def refuse_secret(component: Member, path: str, output: pulumi.Output[object]) -> None:
    """Raise ArgumentError for a secret Output at a path where the value becomes readable. The value is not repeated."""
    argument = re.split(r"[.\[]", path)[0]
    if argument in KEPT or not await output.is_secret():
        return
    who = f"{component.title}"
    raise ArgumentError(
        f"{who}: {path} is a secret, but `{argument}` can't be secret",
        why=PUBLISHED[component.kind][argument],
        fix="pass a plain value; if it is not secret, `pulumi.Output.unsecret(…)` makes it one",
    )


def refuse_secret_configuration() -> None:
    """Raise ArgumentError for a secret of the stack's configuration that resource names and messages contain."""
    for key in OF_THE_PROVIDER:
        if pulumi.runtime.is_config_secret(f"gcp:{key}"):
            raise ArgumentError(
                f"gcp:{key} is a secret of the stack's configuration, but can't be secret",
                why="resource names and messages contain it in plain text",
                fix=f"set it in plain text: `pulumi config set gcp:{key} VALUE --plaintext`",
            )
