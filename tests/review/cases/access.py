"""Grants: to people and accounts, on projects, buckets and secrets, and openings to everybody."""

from slipway.google.permissions import Bound
from tests.review.case import BUSY, Case, blocks, warns
from tests.review.edits import ADOPTS, TEAM
from tests.review.engine import (
    ON_BUCKET,
    ON_PROJECT,
    PROJECT,
    SQL,
    TRAINER,
    creates,
    does,
    granted,
    grants,
    replaces,
    updates,
)
from tests.slipway.reviewing.builders import step

VIEWER = "roles/storage.objectViewer"
GUARDED = {
    "project": PROJECT,
    "role": "roles/aiplatform.user",
    "member": "user:guest@partner.example",
    "condition": {"title": "until May", "expression": 'request.time < timestamp("2027-05-01T00:00:00Z")'},
}

CASES = (
    Case(
        "The trainer gets a role of which nobody here knows what it allows",
        finds=(blocks("access-gained", "acme-ml", "trainer@acme-ml.iam.gserviceaccount.com"),),
        steps=granted(ON_PROJECT, f"serviceAccount:{TRAINER}", f"projects/{PROJECT}/roles/own"),
    ),
    Case(
        "A bucket of somebody else's is adopted, that strangers and another team may read already",
        finds=(blocks("access-gained", "acme-archive"),),
        steps=ADOPTS,
        policies={
            "acme-archive": frozenset(
                (
                    Bound("roles/storage.objectViewer", "allUsers"),
                    Bound("roles/storage.objectAdmin", "group:vision@acme.example"),
                )
            )
        },
    ),
    Case(
        "The submitters' group gives way to a domain, and buckets and the account get other names",
        finds=(
            warns("access-lost", "workspace", "ml-engineers@company.example"),
            blocks("access-gained", "workspace", "company.example"),
            blocks("access-gained", "workspace", "bob@company.example"),
            blocks("resource-deleted", "slipway-local-trainer@local-project.iam.gserviceaccount.com"),
            warns("resource-deleted", "local-project-local-work"),
        ),
        recorded="workspace",
    ),
    Case(
        "Somebody may submit by a grant that is none of the workspace's, while a cluster goes that is gone already",
        finds=(warns("access-gained", "local-project", "new@x.example"),),
        recorded="edit",
    ),
    Case(
        "A guest's access has no end any more",
        finds=(blocks("access-gained", "acme-ml"),),
        may=("access-lost",),
        steps=replaces(ON_PROJECT, "guest", GUARDED, "", condition=None),
    ),
    Case(
        "A deny rule shuts the trainer out",
        finds=(blocks("access-lost | job-loses-resource"),),
        may=("resource-changed",),
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
                            "exceptionPrincipals": ["principalSet://goog/group/ops@acme.example"],
                        }
                    }
                ],
            },
        ),
        world=BUSY,
    ),
    Case(
        "A database that the whole internet may talk to",
        finds=(blocks("access-gained", "runs"),),
        may=("resource-changed",),
        steps=updates(
            SQL,
            "runs",
            {"name": "runs", "settings": {"ipConfiguration": {"authorizedNetworks": [{"value": "10.0.0.0/8"}]}}},
            settings={"ipConfiguration": {"authorizedNetworks": [{"value": "0.0.0.0/0"}]}},
        ),
    ),
    Case(
        "Jobs get fewer rights on their bucket: they read, and write no more",
        finds=(blocks("job-loses-resource | access-lost"),),
        may=("access-gained", "access-lost"),
        steps=does(
            grants("delete", ON_BUCKET, f"serviceAccount:{TRAINER}", "roles/storage.objectUser", bucket="acme-work"),
            grants("create", ON_BUCKET, f"serviceAccount:{TRAINER}", "roles/storage.objectViewer", bucket="acme-work"),
        ),
        world=BUSY,
    ),
    Case(
        "Anybody on the internet may read the results",
        finds=(blocks("access-gained", "acme-work"),),
        steps=granted(ON_BUCKET, "allUsers", "roles/storage.objectViewer", bucket="acme-work"),
    ),
    Case(
        "The submitters become owners of the project",
        finds=(blocks("access-gained", "acme-ml", "ml@acme.example"),),
        steps=does(
            grants("delete", ON_PROJECT, TEAM, "roles/editor"), grants("create", ON_PROJECT, TEAM, "roles/owner")
        ),
    ),
    Case(
        "A binding on a bucket that is made with it, until a date",
        finds=(blocks("access-gained", "acme-new", "guest@partner.example"),),
        steps=does(
            step("create", "gcp:storage/bucket:Bucket", "new", new={"name": "acme-new"}),
            step(
                "create",
                "gcp:storage/bucketIAMBinding:BucketIAMBinding",
                "readers",
                new={
                    "bucket": "acme-new",
                    "role": VIEWER,
                    "members": ["user:guest@partner.example"],
                    "condition": GUARDED["condition"],
                },
            ),
        ),
    ),
    Case(
        "A role is granted under another name, and Pulumi deletes the old grant last",
        finds=(warns("access-lost", "acme-ml", "ben@acme.example"),),
        steps=does(
            grants("delete", ON_PROJECT, "user:ben@acme.example", "roles/viewer"),
            step(
                "create",
                ON_PROJECT,
                "viewer",
                new={"member": "user:ben@acme.example", "role": "roles/viewer", "project": "acme-ml"},
            ),
        ),
    ),
)
