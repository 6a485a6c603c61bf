"""Other resources of the program: created, changed, replaced, deleted."""

from collections.abc import Iterable

from slipway.deploying.engine.preview import EngineStep, Resource
from slipway.model.catalog.model import Catalog
from tests.review.case import BUSY, LARGE, Case, World, hurts, stack, stops, tells
from tests.review.edits import ACCOUNT_KEY_TYPE, DAY_OF_CLAIMS, RESERVATION_TYPE, WEEK, of_cluster
from tests.review.engine import (
    BUCKET,
    DATASET,
    OBJECT,
    PROJECT,
    SQL,
    TRAINER,
    WORK,
    creates,
    deletes,
    does,
    edits,
    edits_work,
    replaces,
    unprotects,
    updates,
)
from tests.slipway.reviewing.builders import step

SECRET_TYPE = "gcp:secretmanager/secret:Secret"
DAY = {"action": {"type": "Delete"}, "condition": {"age": 1}}
MONTH = {"action": {"type": "Delete"}, "condition": {"age": 30, "matchesPrefixes": ["jobs/"]}}
THE_DB = {"name": "runs", "region": "us-central1", "databaseVersion": "POSTGRES_15", "deletionProtection": True}
OLD_VERSIONS = {"action": {"type": "Delete"}, "condition": {"numNewerVersions": 3}}
GITHUB = {
    "workloadIdentityPoolId": "ci",
    "workloadIdentityPoolProviderId": "github",
    "attributeCondition": 'assertion.repository == "acme/slipway"',
}


def not_retained(catalog: Catalog) -> Iterable[EngineStep]:
    """Yield the same bucket, which would go with the state from now on."""
    resource = step("same", BUCKET, "work")
    yield EngineStep("same", resource.urn, BUCKET, "work", old=Resource(WORK, retained=True), new=Resource(WORK))


FIREWALL = "gcp:compute/firewall:Firewall"

CASES = (
    Case(
        "The catalog that everybody submits by is deleted",
        names=(stops("resource-deleted", "catalog", "gs://acme-catalog/catalog.json"),),
        steps=does(
            step(
                "delete",
                OBJECT,
                "catalog",
                old={"bucket": "acme-catalog", "name": "catalog.json"},
                parent="slipway:components:Catalog",
            )
        ),
        world=World(jobs=(LARGE,)),
        accident="an index deleted that every client read",
    ),
    Case(
        "A role of our own loses a permission",
        names=(hurts("resource-changed", "trainers", "permissions", "a.list"),),
        steps=updates(
            "gcp:projects/iAMCustomRole:IAMCustomRole",
            "trainers",
            {"roleId": "trainers", "permissions": ["a.get", "a.list"]},
            permissions=["a.get"],
        ),
        accident="a role narrowed that was thought too wide",
    ),
    Case(
        "A dataset has other labels, which is for information, and a secret another value, which nobody sees",
        names=(
            tells("resource-changed", "measured", "labels"),
            hurts("resource-changed", "runs", "`rootPassword` `(not shown)`"),
        ),
        steps=does(
            edits(DATASET, "measured", {"datasetId": "measured", "labels": {"a": "b"}}, labels={}),
            edits(SQL, "runs", {"name": "runs", "rootPassword": "tiger-tiger"}, rootPassword="lion-lion"),
        ),
        never=("tiger-tiger", "lion-lion"),
    ),
    Case(
        "A database is deleted that is protected from that, so that the deployment fails",
        names=(stops("resource-deleted", "runs", "protected from that, so the deployment would fail"),),
        steps=deletes(SQL, "runs", {"name": "runs", "deletionProtection": True}),
    ),
    Case(
        "What has another name only because another resource is made anew goes with it",
        names=(stops("resource-replaced", "suffix"),),
        steps=replaces("random:index/randomId:RandomId", "suffix", {"byteLength": 4}),
    ),
    Case(
        "Checkpoints are deleted after a day",
        names=(stops("lifecycle-changed", "acme-work", "1 day"),),
        steps=edits_work({}, lifecycleRules=[DAY]),
        world=BUSY,
        accident="a lifecycle rule that deleted checkpoints",
    ),
    Case(
        "A deletion rule is extended from one folder to all of the bucket",
        names=(stops("lifecycle-changed", "acme-work"),),
        steps=edits_work({"lifecycleRules": [MONTH]}, lifecycleRules=[{**MONTH, "condition": {"age": 30}}]),
        accident="a lifecycle rule that lost its prefix",
    ),
    Case(
        "The machines that were bought for large jobs are given up",
        names=(stops("resource-deleted", "bought"),),
        steps=deletes(RESERVATION_TYPE, "bought", {"name": "bought"}, "projects/acme-ml/reservations/bought"),
        accident="a reservation given back that nobody could get again",
    ),
    Case(
        "Uploads that were never finished are dropped after a week",
        names=(tells("lifecycle-changed", "acme-work", "drops unfinished uploads of every object after 7 days"),),
        steps=edits_work(
            {},
            lifecycleRules=[{"action": {"type": "AbortIncompleteMultipartUpload"}, "condition": {"age": 7}}],
        ),
    ),
    Case(
        "A secret is declared that has no value yet",
        names=(tells("resource-created", "wandb-key"),),
        steps=does(step("create", SECRET_TYPE, "wandb-key", new={"secretId": "wandb-key"})),
    ),
    Case(
        "A secret of a person's own gets another name",
        names=(stops("resource-replaced", "mail-key", "what it holds or may do is lost"),),
        accident="a rename that lost the only copy of a key",
        steps=replaces(SECRET_TYPE, "mail-key", {"secretId": "mail-key"}, secretId="mail-token"),
    ),
    Case(
        "GPUs are reserved for two weeks of next month",
        names=(stops("resource-committed", "gpus", "paid to its end"),),
        accident="a reservation that was to be tried, and was paid for two weeks",
        steps=does(
            step(
                "create",
                "gcp:compute/futureReservation:FutureReservation",
                "gpus",
                new={
                    "name": "gpus-in-may",
                    "timeWindow": {"startTime": "2027-05-03T08:00:00Z", "duration": {"seconds": "1209600"}},
                },
            )
        ),
    ),
    Case(
        "An alert of the cloud's own billing has another amount, which stops nothing",
        names=(tells("resource-changed", "ml", "`amount` 1 → 3"),),
        may=("resource-changed",),
        steps=updates("gcp:billing/budget:Budget", "ml", {"displayName": "ml", "amount": 1}, amount=3),
    ),
    Case(
        "A dataset of BigQuery moves to another continent",
        names=(stops("resource-replaced", "bigquery.Dataset", "what it holds or may do is lost"),),
        steps=replaces(DATASET, "sales", {"datasetId": "sales", "location": "US"}, location="EU"),
        accident="a year of tables behind an edit of one word",
    ),
    Case(
        "The bucket can be deleted with everything in it",
        names=(stops("force-destroy", "acme-work"),),
        steps=edits_work({"forceDestroy": False}, forceDestroy=True),
        accident="force-destroy set, and a destroy run",
    ),
    Case(
        "A database loses its protection, a step before it is gone",
        names=(stops("resource-changed", "runs", "deletionProtection"),),
        steps=updates(SQL, "runs", THE_DB, deletionProtection=False),
        accident="a protection removed in the change before",
    ),
    Case(
        "The engine does not protect a database any more",
        names=(stops("resource-changed", "runs"),),
        steps=does(unprotects(SQL, "runs", THE_DB)),
        accident="prevent_destroy removed",
    ),
    Case(
        "A database is deleted",
        names=(stops("resource-deleted", "runs", "sql.DatabaseInstance"),),
        steps=deletes(SQL, "runs", {**THE_DB, "deletionProtection": False}, "projects/acme-ml/instances/runs"),
        accident="a database deleted with its backups",
    ),
    Case(
        "The secret that running jobs read is deleted",
        names=(stops("resource-deleted", "hf-token"), stops("jobs-lose-secret", "hf-token", "tune-27b-x1")),
        steps=deletes(SECRET_TYPE, "hf-token", {"secretId": "hf-token"}, "projects/acme-ml/secrets/hf-token"),
        world=BUSY,
        accident="a secret deleted that was still read",
    ),
    Case(
        "A cluster leaves the engine's state and stays in the cloud, paid, with nobody to look after it",
        names=(stops("resource-forgotten | cluster-deleted | cluster-retires", "h100"),),
        steps=of_cluster("h100", "delete", retained=True),
        world=BUSY,
        accident="a cluster removed from the state, and paid for months",
    ),
    Case(
        "Deletion by age comes sooner: after three days, not thirty",
        names=(stops("lifecycle-changed", "acme-work", "3 days"),),
        steps=edits_work(
            {"lifecycleRules": [MONTH]},
            lifecycleRules=[{**MONTH, "condition": {"age": 3, "matchesPrefixes": ["jobs/"]}}],
        ),
        accident="a lifecycle rule that deleted checkpoints",
    ),
    Case(
        "Fewer old versions are kept",
        names=(stops("lifecycle-changed", "acme-work"),),
        steps=edits_work(
            {"lifecycleRules": [OLD_VERSIONS]}, lifecycleRules=[{**OLD_VERSIONS, "condition": {"numNewerVersions": 1}}]
        ),
    ),
    Case(
        "Objects move to the archive after a day, and cost to be read",
        names=(hurts("lifecycle-changed", "acme-work", "ARCHIVE"),),
        steps=edits_work(
            {},
            lifecycleRules=[
                {"action": {"type": "SetStorageClass", "storageClass": "ARCHIVE"}, "condition": {"age": 1}}
            ],
        ),
        accident="checkpoints in an archive, at a price for each read",
    ),
    Case(
        "A lifecycle rule empties the bucket of a stack that nobody here knows",
        names=(stops("lifecycle-changed", "acme-archive"),),
        steps=updates(
            BUCKET,
            "archive",
            {"name": "acme-archive"},
            lifecycleRules=[{"action": {"type": "Delete"}, "condition": {"age": 0}}],
        ),
        accident="a bucket emptied by a rule",
    ),
    Case(
        "A database is protected from being deleted",
        names=(tells("resource-changed", "runs", "deletionProtection"),),
        steps=updates(SQL, "runs", {"name": "runs"}, deletionProtection=True),
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
        "The audit of who read what is switched off",
        names=(stops("resource-deleted", "reads"),),
        steps=deletes("gcp:projects/iAMAuditConfig:IAMAuditConfig", "reads", {"service": "storage.googleapis.com"}),
        accident="a theft of which no log told",
    ),
    Case(
        "An old deletion rule is taken back, so that objects stay longer",
        (),
        (tells("lifecycle-changed", "acme-work", "packages/"),),
        steps=edits_work({"lifecycleRules": [DAY_OF_CLAIMS, WEEK]}, lifecycleRules=[DAY_OF_CLAIMS]),
        world=BUSY,
        may=("lifecycle-changed",),
    ),
    Case(
        "A secret's replication is another one, and the secret is made anew, empty",
        names=(
            stops("resource-replaced", "hf-token", "replication"),
            stops("jobs-lose-secret", "hf-token", "tune-27b-x1"),
        ),
        steps=replaces(
            "gcp:secretmanager/secret:Secret",
            "hf-token",
            {"secretId": "hf-token", "replication": "auto"},
            "",
            replication="eu",
        ),
        world=BUSY,
        accident="a secret replaced, and empty",
    ),
    Case(
        "What stayed in the cloud when it left the state is deleted with it from now on",
        names=(stops("resource-changed | bucket-changed | force-destroy", "acme-work"),),
        steps=not_retained,
        accident="prevent_destroy removed",
    ),
    Case(
        "Notices go to another room, whose secret comes as the old one goes, and which no account may read",
        (stack("notify: slack-ml\n", "notify: slack-all\n"),),
        (
            hurts("jobs-told", "workspace notify", "slack-all", "nobody is told where", "may not read it"),
            hurts("jobs-lose-secret", "slack-ml", "digits-night", "nobody is told how they end"),
            stops("resource-deleted", "slack-ml", "what it holds or may do is lost"),
        ),
        may=("resource-created",),
        steps=does(
            step("create", SECRET_TYPE, "slack-all", new={"secretId": "slack-all", "project": PROJECT}),
            step("delete", SECRET_TYPE, "slack-ml", old={"secretId": "slack-ml", "project": PROJECT}, id="slack-ml"),
        ),
        given=(stack("    trainer: trainer\n", "    trainer: trainer\n    notify: slack-ml\n"),),
        world=BUSY,
        accident="a room that was told nothing any more, and nobody noticed",
    ),
    Case(
        "A firewall shuts out what comes from anywhere",
        names=(tells("resource-created", "shut"),),
        steps=creates(FIREWALL, "shut", {"sourceRanges": ["0.0.0.0/0"], "denies": [{"protocol": "all"}]}),
    ),
    Case(
        "Who may deploy from a repository is narrowed to its main branch",
        names=(stops("resource-changed", "gh", "refs/heads/main", "another condition"),),
        steps=updates(
            "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
            "gh",
            {"attributeCondition": "assertion.repository == 'acme/ml'"},
            attributeCondition="assertion.repository == 'acme/ml' && assertion.ref == 'refs/heads/main'",
        ),
        never=("lets in others",),
    ),
    Case(
        "A key of an account is made anew",
        names=(
            stops("resource-replaced", "for-ci"),
            stops("access-added", "key for-ci", "never ends"),
        ),
        steps=replaces(ACCOUNT_KEY_TYPE, "for-ci", {"serviceAccountId": TRAINER}, publicKeyType="TYPE_RAW_PUBLIC_KEY"),
        never=("fails as it holds something", "copy what is in it"),
        accident="a key of a service account that leaked",
    ),
    Case(
        "An instance of a kind that nobody here knows is made anew",
        names=(stops("resource-replaced", "probe", "zone"),),
        steps=replaces("acme:lab/instrument:Instrument", "probe", {"zone": "a", "size": 4}, "lab/probe", zone="b"),
        accident="a provider's new version that replaced everything",
    ),
)
