"""Data: buckets and their objects, and other stores of data that nobody can make again."""

from slipway.google.permissions import Bound
from tests.review.case import BUSY, Case, Job, World, hurts, stack, stops, tells
from tests.review.engine import (
    ACCOUNT,
    BUCKET,
    SQL,
    TEMPLATE,
    WORK,
    deletes,
    does,
    edits,
    edits_work,
    replaces,
    unprotects,
)
from tests.slipway.reviewing.builders import step

SECRET = "gcp:secretmanager/secret:Secret"
OBJECT = "gcp:storage/bucketObject:BucketObject"
DAY = {"action": {"type": "Delete"}, "condition": {"age": 1}}
MONTH = {"action": {"type": "Delete"}, "condition": {"age": 30, "matchesPrefixes": ["jobs/"]}}
THE_DB = {"name": "runs", "region": "us-central1", "databaseVersion": "POSTGRES_15", "deletionProtection": True}
ADOPTS = does(step("import", BUCKET, "archive", new={"name": "acme-archive", "location": "US-CENTRAL1"}))

CASES = (
    Case(
        "A bucket goes, and is forced to, with all that is in it",
        names=(stops("bucket-deleted", "acme-results", "everything in it"),),
        steps=deletes(BUCKET, "results", {**WORK, "name": "acme-results", "forceDestroy": True}, "acme-results"),
        accident="a bucket destroyed with its objects",
    ),
    Case(
        "The work bucket has another name in the stack file, while jobs write to the old one",
        (stack("workBucket: acme-work", "workBucket: acme-results"),),
        (stops("preview-failed", "", "acme-work can't become bucket gs://acme-results", "stay in the old one"),),
        world=BUSY,
        accident="results that were looked for where they no longer went",
    ),
    Case(
        "The catalog has another bucket, which nobody who submits knows of",
        (stack("catalogBucket: acme-catalog", "catalogBucket: acme-catalog-2"),),
        (stops("preview-failed", "", "acme-catalog can't become bucket gs://acme-catalog-2"),),
        world=BUSY,
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
        "Results are kept for a day, and were for a month",
        names=(stops("retention-changed", "acme-work"),),
        steps=edits_work(
            {"retentionPolicy": {"retentionPeriod": 2_592_000}}, retentionPolicy={"retentionPeriod": 86_400}
        ),
        accident="a retention shortened below what an audit asked for",
    ),
    Case(
        "A retention is locked, so that nobody can delete anything for ten years, nor stop paying",
        names=(stops("retention-changed", "acme-work"),),
        steps=edits_work(
            {"retentionPolicy": {"retentionPeriod": 315_360_000}},
            retentionPolicy={"retentionPeriod": 315_360_000, "isLocked": True},
        ),
        accident="a retention locked by mistake",
    ),
    Case(
        "What is deleted is gone at once: no soft deletion any more",
        names=(stops("retention-changed | bucket-changed", "acme-work"),),
        steps=edits_work(
            {"softDeletePolicy": {"retentionDurationSeconds": 604_800}},
            softDeletePolicy={"retentionDurationSeconds": 0},
        ),
        accident="deletions that could not be undone",
    ),
    Case(
        "Earlier versions of objects are not kept any more",
        names=(stops("versioning-changed", "acme-work"),),
        steps=edits_work({"versioning": {"enabled": True}}, versioning={"enabled": False}),
        accident="versioning switched off before a mistake",
    ),
    Case(
        "The bucket can be deleted with everything in it",
        names=(stops("force-destroy", "acme-work"),),
        steps=edits_work({"forceDestroy": False}, forceDestroy=True),
        accident="force-destroy set, and a destroy run",
    ),
    Case(
        "The bucket may be opened to the public",
        names=(stops("public-prevention-off", "acme-work"),),
        steps=edits_work({}, publicAccessPrevention="inherited"),
        accident="public access prevention off",
    ),
    Case(
        "Each object has its own list of who may read it, again",
        names=(stops("bucket-changed | public-prevention-off", "acme-work", "single objects"),),
        steps=edits_work({}, uniformBucketLevelAccess=False),
        accident="objects made public one by one",
    ),
    Case(
        "The key that a bucket encrypts with is another one",
        names=(hurts("bucket-changed", "acme-work", "encryption"),),
        steps=edits_work(
            {}, encryption={"defaultKmsKeyName": "projects/other/locations/us-central1/keyRings/r/cryptoKeys/k"}
        ),
    ),
    Case(
        "A database is made anew, as its region is another one",
        names=(stops("resource-replaced", "runs", "region", "sql.DatabaseInstance"),),
        steps=replaces(SQL, "runs", {**THE_DB, "deletionProtection": False}, "runs", region="us-east1"),
        accident="a replaced database",
    ),
    Case(
        "A database loses its protection, a step before it is gone",
        names=(stops("resource-changed", "runs", "deletionProtection"),),
        steps=does(edits(SQL, "runs", THE_DB, deletionProtection=False)),
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
        steps=deletes(SECRET, "hf-token", {"secretId": "hf-token"}, "projects/acme-ml/secrets/hf-token"),
        world=BUSY,
        accident="a secret deleted that was still read",
    ),
    Case(
        "The packages that a waiting job still has to install are deleted",
        names=(stops("jobs-lose-package", "lora", "waits-27b"),),
        may=("resource-deleted", "resource-changed"),
        steps=lambda catalog: [
            step(
                "delete",
                OBJECT,
                "lora-package",
                old={
                    "bucket": "acme-catalog",
                    "name": catalog.templates["lora"].package.removeprefix("gs://acme-catalog/"),
                },
                parent=TEMPLATE,
            )
        ],
        world=World(jobs=(Job("waits-27b", user="ben", parameters={"model": "27b"}, state="PENDING", hours=1),)),
    ),
    Case(
        "A bucket of somebody else's is adopted, that strangers and another team may read already",
        names=(
            stops("public-access", "acme-archive", "allUsers", "strangers"),
            tells("bucket-created", "acme-archive", "group:vision@acme.example", "still may"),
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
        "A bucket of somebody else's is adopted, and nobody could ask who may use it",
        names=(tells("bucket-created", "acme-archive", "not asked: who may use it", "get-iam-policy"),),
        steps=ADOPTS,
    ),
    Case(
        "An account of somebody else's is adopted: what it may do elsewhere is not in the stack",
        names=(tells("account-created", "robot@acme-ml", "not asked: what it may do already"),),
        steps=does(step("import", ACCOUNT, "robot", new={"accountId": "robot", "project": "acme-ml"})),
    ),
    Case(
        "A bucket leaves the stack, and stays with nobody to look after it",
        names=(hurts("bucket-left | resource-forgotten", "acme-results"),),
        steps=deletes(BUCKET, "results", {**WORK, "name": "acme-results"}, "acme-results", retained=True),
    ),
)
