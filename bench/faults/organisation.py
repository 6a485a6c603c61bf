"""The policies of an organisation that journeys may be played under: what the cloud refuses then, and what the page on
organisations has a stack's file say instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import yaml
from vertex_local.identities import PROJECT_ID

from tests.checkouts.checkout import Checkout

_KEY = f"projects/{PROJECT_ID}/locations/us-central1/keyRings/ml/cryptoKeys/bench"
_SERVICES = ("aiplatform", "cloudquotas", "cloudresourcemanager", "iam", "logging", "monitoring", "storage")
_LET_IN = (
    *(f"serviceAccount:{role}@{PROJECT_ID}.iam.gserviceaccount.com" for role in ("deployer", "previewer")),
    "user:owner@company.example",
    "user:ada@company.example",
)


@dataclass(frozen=True)
class Organisation:
    """An organisation: settings of the local cloud, and what they ask of a stack."""

    settings: Mapping[str, str] = field(default_factory=dict)
    #: Buckets, clusters and jobs need a key.
    keys: bool = False
    #: Nobody makes accounts: the trainer is there, and named.
    named_trainer: bool = False

    def __or__(self, other: Organisation) -> Organisation:
        return Organisation(
            {**self.settings, **other.settings},
            keys=self.keys or other.keys,
            named_trainer=self.named_trainer or other.named_trainer,
        )

    @property
    def key(self) -> str:
        """The key of whatever is made; empty where none is needed."""
        return _KEY if self.keys else ""

    def can_play(self, file: Mapping[str, Any]) -> bool:
        """Tell whether a journey with this file can be played: a key is of one region, so its cluster and jobs stay
        there."""
        clusters = file.get("persistentResources", {}).values()
        return not (self.keys and ("regions" in file or any("alternatives" in one for one in clusters)))

    def restrict(self, checkout: Checkout) -> None:
        """Add to a checkout's stack file what the page says."""
        document = yaml.safe_load(checkout.file.read_text("utf-8"))
        config = document["config"]
        workspace = config["slipway:workspace"]
        if self.named_trainer:
            workspace["trainer"] = trainer(checkout.stack)
        if self.keys:
            for part in (workspace, *config.get("slipway:persistentResources", {}).values()):
                part["encryption"] = {"kmsKey": _KEY}
        checkout.file.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")


def trainer(stack: str) -> str:
    """Return the account that somebody makes for a stack where it may make none."""
    return f"{stack}-ml-training"


_ORGANISATIONS: Mapping[str, Organisation] = {
    "locations": Organisation(
        {"policy.gcp.resourceLocations": "in:us-central1-locations in:us-east4-locations in:us-east5-locations"}
    ),
    "keys": Organisation(
        {
            "policy.gcp.restrictNonCmekServices": "storage.googleapis.com aiplatform.googleapis.com",
            "policy.gcp.restrictCmekCryptoKeyProjects": f"under:projects/{PROJECT_ID}",
        },
        keys=True,
    ),
    "members": Organisation({"policy.iam.allowedPolicyMemberDomains": "is:C0company0"}),
    "accounts": Organisation(
        {
            "policy.iam.disableServiceAccountCreation": "true",
            "policy.iam.disableServiceAccountKeyCreation": "true",
            "policy.iam.managed.disableServiceAccountCreation": "true",
        },
        named_trainer=True,
    ),
    "buckets": Organisation(
        {"policy.storage.uniformBucketLevelAccess": "true", "policy.storage.publicAccessPrevention": "true"}
    ),
    "perimeter": Organisation(
        {
            "perimeter": " ".join(f"{service}.googleapis.com" for service in _SERVICES),
            "perimeter_ingress": " ".join(_LET_IN),
        }
    ),
    "quota-project": Organisation({"quota_project": "cloudquotas.googleapis.com"}),
    "deleted-members": Organisation({"deleted_member": "reject"}),
}
ALL = "all"
NAMES = (*_ORGANISATIONS, ALL)


def named(name: str) -> Organisation:
    """Return the organisation of a name, all policies at once for `all`; one without policies for an empty one."""
    if name == ALL:
        return reduce(Organisation.__or__, _ORGANISATIONS.values())
    return _ORGANISATIONS.get(name, Organisation())
