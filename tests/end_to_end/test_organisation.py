"""In an organisation that has all policies that the local cloud knows of, a stack comes to a finished job by three
exceptions, and without each of them is refused for the reason that it is there for. # N4"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.checkouts.checkout import MACHINE, PROJECT, Checkout
from tests.checkouts.shell import Done

pytestmark = pytest.mark.journey

KEY = "projects/acme-keys/locations/us-central1/keyRings/ml/cryptoKeys/trial"
ENCRYPTION = {"kmsKey": KEY}
SUBMITTERS = ["group:ml-engineers@company.example"]
POLICY = {
    "gcp.resourceLocations": ["in:us-central1-locations"],
    "gcp.restrictNonCmekServices": ["aiplatform.googleapis.com", "storage.googleapis.com"],
    "gcp.restrictCmekCryptoKeyProjects": ["under:projects/acme-keys"],
    "iam.allowedPolicyMemberDomains": ["is:C0company0"],
    "iam.disableServiceAccountCreation": True,
    "iam.disableServiceAccountKeyCreation": True,
    "storage.publicAccessPrevention": True,
    "storage.uniformBucketLevelAccess": True,
}
SERVICES = ("aiplatform", "cloudquotas", "cloudresourcemanager", "iam", "logging", "monitoring", "storage")
INGRESS = (
    *(f"serviceAccount:{who}@{PROJECT}.iam.gserviceaccount.com" for who in ("deployer", "previewer")),
    "user:ada@company.example",
    "user:owner@company.example",
)


def test_under_all_policies_a_stack_comes_to_a_finished_job(checkout: Checkout, settings: Callable[..., None]) -> None:
    checkout.cloud.rest("POST", f"/v1/projects/{PROJECT}/serviceAccounts", {"accountId": "acme-trainer"})
    perimeter = " ".join(f"{service}.googleapis.com" for service in SERVICES)
    settings(policy=POLICY, perimeter=perimeter, quota_project="cloudquotas.googleapis.com")
    write(checkout, ENCRYPTION, trainer="acme-trainer")

    refused(checkout.pulumi("preview", role="previewer"), "vpcServiceControlsUniqueIdentifier")
    settings(perimeter_ingress=" ".join(INGRESS))
    write(checkout, ENCRYPTION)
    refused(checkout.pulumi("up"), "constraints/iam.disableServiceAccountCreation")
    write(checkout, None, trainer="acme-trainer")
    refused(checkout.pulumi("up"), "constraints/gcp.restrictNonCmekServices")

    write(checkout, ENCRYPTION, trainer="acme-trainer")
    checkout.up()
    done = checkout.slipway("submit", "nap", "-p", "say=hello", "--follow")
    assert done.code == 0 and "the word is hello" in done.out, done.said
    (job,) = checkout.jobs()
    assert job["encryptionSpec"] == {"kmsKeyName": KEY}
    assert checkout.pulumi("preview", "--expect-no-changes", role="previewer").code == 0

    # All but the other cluster is there, so nothing else can be refused before it.
    settings(policy={**POLICY, "gcp.resourceLocations": ["in:eu-locations"]})
    write(checkout, ENCRYPTION, clusters=("cpu", "other"), trainer="acme-trainer")
    done = checkout.pulumi("up")
    refused(done, "the organisation does not permit this location: constraints/gcp.resourceLocations")
    assert "`alternatives` of clusters (stacks/Pulumi.trial.yaml:" in done.said


def test_a_refusal_names_member_constraint_and_line_and_a_preview_warns(
    checkout: Checkout, settings: Callable[..., None]
) -> None:
    settings(policy={"iam.allowedPolicyMemberDomains": ["is:C0company0"]})
    line = write(checkout, None, submitters=["user:ada@other.example"])
    warned = checkout.pulumi("preview", role="owner")
    assert warned.code == 0
    assert f"the organisation may not permit user:ada@other.example (stacks/Pulumi.trial.yaml:{line})" in warned.said
    done = checkout.pulumi("up")
    refused(done, "constraints/iam.allowedPolicyMemberDomains refuses ada@other.example")
    assert f"in place of ada@other.example (stacks/Pulumi.trial.yaml:{line})" in done.said


def test_a_key_that_is_taken_away_is_told_and_another_one_takes_its_place(
    checkout: Checkout, settings: Callable[..., None]
) -> None:
    write(checkout, ENCRYPTION)
    checkout.up()
    settings(keys_unusable=KEY)
    for verb in (("submit", "nap", "-p", "say=hello"), ("pools",), ("doctor",)):
        done = checkout.slipway(*verb)
        assert done.code and "one of Google's own agents may not use the key" in done.said, done.said
    told = checkout.pulumi("preview", role="previewer")
    assert told.code == 0 and "the published catalog can't be read, so all is told as if it were new" in told.said
    # The buckets' key is for new objects, so a catalog that is written anew can be read; the cluster keeps its own.
    write(checkout, {"kmsKey": KEY.replace("trial", "next")})
    checkout.up()
    refused(checkout.slipway("submit", "nap", "-p", "say=hello"), "cannot be used in Vertex AI service")
    settings(keys_unusable="")
    checkout.submit()


def write(
    checkout: Checkout, encryption: dict[str, str] | None, clusters: Sequence[str] = ("cpu",), **more: Any
) -> int:
    """Write the stack file, and return the line of its first submitter."""
    key = {"encryption": encryption} if encryption else {}
    cluster = {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 2}}}, "encryption": ENCRYPTION}
    workspace = {"submitters": SUBMITTERS, "code": True, **key, **more}
    checkout.write(persistentResources=dict.fromkeys(clusters, cluster), workspace=workspace)
    lines = (checkout.folder / f"stacks/Pulumi.{checkout.stack}.yaml").read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if workspace["submitters"][0] in line)


def refused(done: Done, reason: str) -> None:
    assert done.code and reason in done.said, done.said
