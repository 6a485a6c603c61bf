"""Grants: to people and accounts, on projects, buckets and secrets, and openings to everybody."""

from slipway.google.permissions import Bound
from tests.review.case import BUSY, Case, hurts, stops, tells
from tests.review.edits import ADOPTS, LOCAL, TEAM
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

OF_LOCAL = "local-project.iam.gserviceaccount.com"
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
        names=(stops("access-added | role-above-table", TRAINER, f"projects/{PROJECT}/roles/own"),),
        steps=granted(ON_PROJECT, f"serviceAccount:{TRAINER}", f"projects/{PROJECT}/roles/own"),
        accident="a role given in haste",
    ),
    Case(
        "A bucket of somebody else's is adopted, that strangers and another team may read already",
        names=(
            stops("public-access", "acme-archive", "allUsers", "strangers"),
            tells("bucket-created", "acme-archive"),
        ),
        steps=ADOPTS,
        policies={
            "acme-archive": frozenset(
                (
                    Bound("roles/storage.objectViewer", "allUsers"),
                    Bound("roles/storage.objectAdmin", "group:vision@acme.example"),
                )
            )
        },
        accident="a bucket open to the world",
    ),
    Case(
        "The submitters' group gives way to a domain, and buckets and the account get other names",
        names=(
            tells("submitter-gone", "group:ml-engineers@company.example"),
            stops("domain-access", "domain:company.example"),
            tells("submitter-added", "user:bob@company.example"),
            stops("account-deleted", f"slipway-local-trainer@{OF_LOCAL}"),
            hurts("bucket-left", f"{LOCAL}-work", "results"),
        ),
        recorded="workspace",
        never=("code of their own any more",),
        accident="a group replaced by everybody",
    ),
    Case(
        "Somebody may submit by a grant that is none of the workspace's, while a cluster goes that is gone already",
        names=(tells("access-added", "user:new@x.example", "roles/aiplatform.user"),),
        recorded="edit",
    ),
    Case(
        "A guest's access has no end any more",
        names=(stops("access-added | resource-replaced", "", "guest@partner.example", "condition"),),
        may=("access-gone",),
        steps=replaces(ON_PROJECT, "guest", GUARDED, "", condition=None),
        accident="a condition dropped from a grant",
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
                            "exceptionPrincipals": ["principalSet://goog/group/ops@acme.example"],
                        }
                    }
                ],
            },
        ),
        world=BUSY,
        never=("except the accounts",),
        accident="a deny policy that was wider than meant",
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
        "Jobs get fewer rights on their bucket: they read, and write no more",
        names=(stops("jobs-lose-bucket | access-gone", "", "roles/storage.objectUser"),),
        may=("access-added", "access-gone"),
        steps=does(
            grants("delete", ON_BUCKET, f"serviceAccount:{TRAINER}", "roles/storage.objectUser", bucket="acme-work"),
            grants("create", ON_BUCKET, f"serviceAccount:{TRAINER}", "roles/storage.objectViewer", bucket="acme-work"),
        ),
        world=BUSY,
        accident="a role narrowed that was thought too wide",
    ),
    Case(
        "Anybody on the internet may read the results",
        names=(stops("public-access", "allUsers", "acme-work", "Google refuses that"),),
        steps=granted(ON_BUCKET, "allUsers", "roles/storage.objectViewer", bucket="acme-work"),
        accident="a bucket open to the world",
    ),
    Case(
        "The submitters become owners of the project",
        names=(stops("role-above-table", TEAM, "roles/owner"),),
        steps=does(
            grants("delete", ON_PROJECT, TEAM, "roles/editor"), grants("create", ON_PROJECT, TEAM, "roles/owner")
        ),
        never=("can no longer",),
        accident="a role given in haste",
    ),
    Case(
        "A binding on a bucket that is made with it, until a date",
        names=(stops("access-added", "user:guest@partner.example", "until May"), tells("bucket-created", "acme-new")),
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
        never=("else has",),
        accident="access for a contractor, never taken back",
    ),
)
