"""Identities that may act as others, and openings: to the internet, to whole organizations, often by one field."""

from tests.review.case import BUSY, Case, hurts, stops
from tests.review.engine import (
    DATASET,
    ON_BUCKET,
    ON_PROJECT,
    PROJECT,
    SQL,
    TRAINER,
    creates,
    deletes,
    granted,
    replaces,
    updates,
)

VIEWER = "roles/storage.objectViewer"
GUARDED = {
    "project": PROJECT,
    "role": "roles/aiplatform.user",
    "member": "user:guest@partner.example",
    "condition": {"title": "until May", "expression": 'request.time < timestamp("2027-05-01T00:00:00Z")'},
}
GITHUB = {
    "workloadIdentityPoolId": "ci",
    "workloadIdentityPoolProviderId": "github",
    "attributeCondition": 'assertion.repository == "acme/slipway"',
}

CASES = (
    Case(
        "A guest's access has no end any more",
        names=(stops("access-added | resource-replaced", "", "guest@partner.example", "condition"),),
        may=("access-gone",),
        steps=replaces(ON_PROJECT, "guest", GUARDED, "", condition=None),
        accident="a condition dropped from a grant",
    ),
    Case(
        "Any repository may deploy as this one",
        names=(stops("resource-changed", "github", "attributeCondition"),),
        steps=updates(
            "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
            "github",
            GITHUB,
            attributeCondition=None,
        ),
        accident="a federation that trusted every repository",
    ),
    Case(
        "A member of another organization's group reads the results",
        names=(stops("access-added", "group:all@partner.example", "acme-work"),),
        steps=granted(ON_BUCKET, "group:all@partner.example", VIEWER, bucket="acme-work"),
        accident="a group whose members others choose",
    ),
    Case(
        "The whole company reads the results",
        names=(stops("domain-access | access-added", "domain:acme.example"),),
        steps=granted(ON_BUCKET, "domain:acme.example", VIEWER, bucket="acme-work"),
        accident="a group replaced by everybody",
    ),
    Case(
        "A role of our own may now set policies",
        names=(hurts("resource-changed", "trainers", "setIamPolicy"),),
        steps=updates(
            "gcp:projects/iAMCustomRole:IAMCustomRole",
            "trainers",
            {"roleId": "trainers", "permissions": ["aiplatform.customJobs.create"]},
            permissions=["aiplatform.customJobs.create", "resourcemanager.projects.setIamPolicy"],
        ),
        accident="privileges raised through a custom role",
    ),
    Case(
        "Somebody may act as the trainer",
        names=(stops("access-added", "user:eve@acme.example", "roles/iam.serviceAccountUser", "hf-token"),),
        may=("role-above-table",),
        steps=granted(
            "gcp:serviceaccount/iAMMember:IAMMember",
            "user:eve@acme.example",
            "roles/iam.serviceAccountUser",
            serviceAccountId=f"projects/{PROJECT}/serviceAccounts/{TRAINER}",
        ),
        accident="privileges raised through an account",
    ),
    Case(
        "A binding with everybody in the midst of its members",
        names=(stops("public-access", "allUsers"),),
        may=("access-gone", "access-added"),
        steps=updates(
            "gcp:storage/bucketIAMBinding:BucketIAMBinding",
            "readers",
            {"bucket": "acme-work", "role": VIEWER, "members": ["group:ml@acme.example"]},
            members=["group:ml@acme.example", "allUsers"],
        ),
        accident="a bucket open to the world",
    ),
    Case(
        "The audit of who read what is switched off",
        names=(stops("resource-deleted", "reads"),),
        steps=deletes("gcp:projects/iAMAuditConfig:IAMAuditConfig", "reads", {"service": "storage.googleapis.com"}),
        accident="a theft of which no log told",
    ),
    Case(
        "A deny rule shuts the trainer out",
        names=(stops("access-gone | jobs-lose-account", "", "trainer@"),),
        may=("resource-created",),
        steps=creates(
            "gcp:iam/denyPolicy:DenyPolicy",
            "no-robots",
            {
                "parent": f"cloudresourcemanager.googleapis.com%2Fprojects%2F{PROJECT}",
                "rules": [
                    {
                        "denyRule": {
                            "deniedPrincipals": [
                                f"principal://iam.googleapis.com/projects/-/serviceAccounts/{TRAINER}"
                            ],
                            "deniedPermissions": ["storage.googleapis.com/objects.create"],
                        }
                    }
                ],
            },
        ),
        world=BUSY,
        accident="a deny policy that was wider than meant",
    ),
    Case(
        "A data set lets everybody with a Google account read it, in a list of its own",
        names=(stops("public-access", "measured"),),
        may=("resource-changed",),
        steps=updates(
            DATASET,
            "measured",
            {"datasetId": "measured", "accesses": [{"role": "OWNER", "userByEmail": "ada@acme.example"}]},
            accesses=[
                {"role": "OWNER", "userByEmail": "ada@acme.example"},
                {"role": "READER", "specialGroup": "allAuthenticatedUsers"},
            ],
        ),
        accident="a data set open to the world",
    ),
    Case(
        "A service that anybody may call",
        names=(stops("public-access", "allUsers"),),
        steps=granted(
            "gcp:cloudrunv2/serviceIamMember:ServiceIamMember", "allUsers", "roles/run.invoker", name="judge"
        ),
        accident="an internal service that anybody could call",
    ),
    Case(
        "What is written into a bucket is public from then on",
        names=(stops("public-access", ""),),
        steps=creates(
            "gcp:storage/defaultObjectAccessControl:DefaultObjectAccessControl",
            "results",
            {"bucket": "acme-results", "role": "READER", "entity": "allUsers"},
        ),
        accident="objects made public one by one",
    ),
    Case(
        "A bucket's list of rights by its old name: publicRead",
        names=(stops("public-access", ""),),
        steps=creates(
            "gcp:storage/bucketACL:BucketACL", "results", {"bucket": "acme-results", "predefinedAcl": "publicRead"}
        ),
        accident="a canned list of rights",
    ),
    Case(
        "A database that the whole internet may talk to",
        names=(stops("public-access", "runs"),),
        may=("resource-changed",),
        steps=updates(
            SQL,
            "runs",
            {"name": "runs", "settings": {"ipConfiguration": {"authorizedNetworks": [{"value": "10.0.0.0/8"}]}}},
            settings={"ipConfiguration": {"authorizedNetworks": [{"value": "0.0.0.0/0"}]}},
        ),
        accident="a database on the open internet",
    ),
    Case(
        "A firewall for all of IPv6",
        names=(stops("public-access", "ssh"),),
        steps=creates(
            "gcp:compute/firewall:Firewall",
            "ssh",
            {"network": "train", "sourceRanges": ["::/0"], "allows": [{"protocol": "tcp", "ports": ["22"]}]},
        ),
        accident="a firewall open to the world",
    ),
)
