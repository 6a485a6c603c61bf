"""Identities that may act as others: conditions, federations, custom roles, and gaps of the logs."""

from tests.review.case import BUSY, Case, stops
from tests.review.engine import ON_BUCKET, ON_PROJECT, PROJECT, TRAINER, deletes, does, edits, grants, replaces
from tests.slipway.reviewing.builders import step

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
        steps=does(
            edits(
                "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
                "github",
                GITHUB,
                attributeCondition=None,
            )
        ),
        accident="a federation that trusted every repository",
    ),
    Case(
        "A member of another organization's group reads the results",
        names=(stops("access-added", "group:all@partner.example", "acme-work"),),
        steps=does(grants("create", ON_BUCKET, "group:all@partner.example", VIEWER, bucket="acme-work")),
        accident="a group whose members others choose",
    ),
    Case(
        "The whole company reads the results",
        names=(stops("domain-access | access-added", "domain:acme.example"),),
        steps=does(grants("create", ON_BUCKET, "domain:acme.example", VIEWER, bucket="acme-work")),
        accident="a group replaced by everybody",
    ),
    Case(
        "A role of our own may now set policies",
        names=(stops("resource-changed | role-above-table", "trainers", "setIamPolicy"),),
        steps=does(
            edits(
                "gcp:projects/iAMCustomRole:IAMCustomRole",
                "trainers",
                {"roleId": "trainers", "permissions": ["aiplatform.customJobs.create"]},
                permissions=["aiplatform.customJobs.create", "resourcemanager.projects.setIamPolicy"],
            )
        ),
        accident="privileges raised through a custom role",
    ),
    Case(
        "Somebody may act as the trainer",
        names=(stops("access-added", "user:eve@acme.example", "roles/iam.serviceAccountUser", "hf-token"),),
        may=("role-above-table",),
        steps=does(
            grants(
                "create",
                "gcp:serviceaccount/iAMMember:IAMMember",
                "user:eve@acme.example",
                "roles/iam.serviceAccountUser",
                serviceAccountId=f"projects/{PROJECT}/serviceAccounts/{TRAINER}",
            )
        ),
        accident="privileges raised through an account",
    ),
    Case(
        "A binding with everybody in the midst of its members",
        names=(stops("public-access", "allUsers"),),
        may=("access-gone", "access-added"),
        steps=does(
            edits(
                "gcp:storage/bucketIAMBinding:BucketIAMBinding",
                "readers",
                {"bucket": "acme-work", "role": VIEWER, "members": ["group:ml@acme.example"]},
                members=["group:ml@acme.example", "allUsers"],
            )
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
        steps=does(
            step(
                "create",
                "gcp:iam/denyPolicy:DenyPolicy",
                "no-robots",
                new={
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
            )
        ),
        world=BUSY,
        accident="a deny policy that was wider than meant",
    ),
)
