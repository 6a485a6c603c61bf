"""Grants: to people and accounts, on projects, buckets and secrets, and openings to everybody."""

from slipway.google.permissions import Bound
from tests.review.case import BUSY, Case, hurts, stack, stops, tells
from tests.review.edits import ACCOUNT_KEY_TYPE, ADOPTS, INPUT, LOCAL, MONITORING_VIEWER, OPS, TEAM, trainer
from tests.review.engine import (
    BUCKET,
    DATASET,
    ON_BUCKET,
    ON_PROJECT,
    PROJECT,
    SQL,
    TRAINER,
    WORKSPACE,
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
_DATA = {"bucket": "acme-data"}
BINDING_TYPE = "gcp:projects/iAMBinding:IAMBinding"
IAM_POLICY_TYPE = "gcp:projects/iAMPolicy:IAMPolicy"

CASES = (
    Case(
        "The program takes a right from submitters without which they still submit",
        names=(hurts("access-gone", TEAM, "roles/logging.viewer"),),
        steps=does(
            step(
                "delete",
                ON_PROJECT,
                "logs",
                old={"project": PROJECT, "member": TEAM, "role": "roles/logging.viewer"},
                parent=WORKSPACE,
            )
        ),
        accident="a grant removed that was thought unused",
    ),
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
        "Somebody may act as the trainer",
        names=(stops("access-added", "user:eve@acme.example", "roles/iam.serviceAccountUser"),),
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
    Case(
        "A grant is declared under another logical name, and the deletion of the old one comes last",
        names=(hurts("access-gone", OPS, "can no longer see any metric"),),
        steps=does(
            step("delete", ON_PROJECT, "ops", old={"project": "acme-ml", "member": OPS, "role": MONITORING_VIEWER}),
            grants("create", ON_PROJECT, OPS, MONITORING_VIEWER),
        ),
        accident="a resource renamed in the code",
    ),
    Case(
        "The trainer gets a role that a new template needs, with less than jobs have already",
        (),
        (tells("access-added", TRAINER, "roles/logging.logWriter"),),
        steps=granted(ON_PROJECT, f"serviceAccount:{TRAINER}", "roles/logging.logWriter"),
        world=BUSY,
        may=("access-added",),
    ),
    Case(
        "The trainer may list a bucket, and read no more of it",
        names=(
            stops("access-gone", f"serviceAccount:{TRAINER}", "may only list bucket"),
            stops("jobs-lose-bucket", "acme-data", "digits-night"),
        ),
        steps=does(
            grants("delete", ON_BUCKET, f"serviceAccount:{TRAINER}", VIEWER, **_DATA),
            grants("create", ON_BUCKET, f"serviceAccount:{TRAINER}", "roles/storage.legacyBucketReader", **_DATA),
        ),
        given=(INPUT,),
        world=BUSY,
        accident="a role that was to be the smaller one, and read nothing",
    ),
    Case(
        "A binding takes the place of the single grant of its only member",
        names=(
            stops(
                "access-gone",
                f"serviceAccount:{TRAINER}",
                "can no longer read",
                "every submitter of the workspace",
            ),
            stops("jobs-lose-bucket", "acme-data", "digits-night"),
            hurts("access-gone", "storage.objectViewer on bucket `acme-data`"),
        ),
        steps=does(
            grants("delete", ON_BUCKET, f"serviceAccount:{TRAINER}", "roles/storage.objectViewer", bucket="acme-data"),
            step(
                "create",
                "gcp:storage/bucketIAMBinding:BucketIAMBinding",
                "readers",
                new={
                    "bucket": "acme-data",
                    "role": "roles/storage.objectViewer",
                    "members": [f"serviceAccount:{TRAINER}"],
                },
            ),
        ),
        given=(INPUT, trainer("user:zoe@acme.example")),
        world=BUSY,
        accident="a right that the plan granted and its last step took away",
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
        "The team's group gives way to the whole domain",
        (stack("group:ml@acme.example", "domain:acme.example"),),
        (
            tells("submitter-gone", TEAM, "except what a listed group or domain may"),
            stops("domain-access", "domain:acme.example", "Everybody"),
        ),
        world=BUSY,
        accident="a group replaced by everybody",
    ),
    Case(
        "A binding in place of a member: whoever else has the role loses it",
        names=(stops("access-gone", "roles/aiplatform.user"),),
        may=("access-added",),
        steps=creates(BINDING_TYPE, "users", {"project": PROJECT, "role": "roles/aiplatform.user", "members": [TEAM]}),
        world=BUSY,
        accident="an IAM binding in place of a member",
    ),
    Case(
        "The whole policy of the project is declared, and all that is not in it goes",
        names=(stops("access-gone", ""),),
        may=("access-added", "role-above-table"),
        steps=creates(IAM_POLICY_TYPE, "all", {"project": PROJECT, "policyData": '{"bindings": []}'}),
        world=BUSY,
        accident="an IAM policy that locked everybody out",
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
    Case(
        "A key of the trainer is made, which never ends",
        names=(stops("access-added", "", "key"),),
        steps=creates(ACCOUNT_KEY_TYPE, "for-ci", {"serviceAccountId": TRAINER}),
        accident="a key of a service account that leaked",
    ),
    Case(
        "Somebody outside gets a role",
        names=(stops("access-added | role-above-table", "user:eve@elsewhere.example", "roles/storage.admin"),),
        steps=granted(ON_BUCKET, "user:eve@elsewhere.example", "roles/storage.admin", bucket="acme-work"),
        accident="access for a contractor, never taken back",
    ),
    Case(
        "Anybody is to read a bucket of the program's own, which declares that nobody may open it",
        names=(stops("public-access", "allUsers", "can't be let in"),),
        steps=does(
            step("create", BUCKET, "own", new={"name": "acme-own", "publicAccessPrevention": "enforced"}),
            grants("create", ON_BUCKET, "allUsers", "roles/storage.objectViewer", bucket="acme-own"),
        ),
        may=("bucket-created", "resource-created"),
        never=("may read every object",),
        accident="a bucket opened to the internet",
    ),
)
