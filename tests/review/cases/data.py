"""Data: buckets and their objects, other stores that nobody can make again, and losses that are hard to see."""

from collections.abc import Iterable

from slipway.deploying.engine.preview import EngineStep
from slipway.google.permissions import Bound
from slipway.model.catalog.model import Catalog
from tests.review.case import BUSY, Case, Job, World, hurts, stack, stops, tells
from tests.review.cases.clusters import ANEW
from tests.review.engine import (
    ACCOUNT,
    BUCKET,
    CLUSTER,
    DATASET,
    SQL,
    TEMPLATE,
    WORK,
    WORKSPACE,
    Steps,
    deletes,
    does,
    edits_work,
    replaces,
    unprotects,
    updates,
)
from tests.slipway.reviewing.builders import step

SECRET, RESERVATION = "gcp:secretmanager/secret:Secret", "gcp:compute/reservation:Reservation"
OBJECT = "gcp:storage/bucketObject:BucketObject"
DAY = {"action": {"type": "Delete"}, "condition": {"age": 1}}
MONTH = {"action": {"type": "Delete"}, "condition": {"age": 30, "matchesPrefixes": ["jobs/"]}}
THE_DB = {"name": "runs", "region": "us-central1", "databaseVersion": "POSTGRES_15", "deletionProtection": True}
THERE = {"name": "acme-catalog", "versioning": {"enabled": True}, "hierarchicalNamespace": {"enabled": False}}
FORCED = {"name": "acme-catalog", "versioning": {"enabled": True}, "forceDestroy": True}
ADOPTS = does(step("import", BUCKET, "archive", new={"name": "acme-archive", "location": "US-CENTRAL1"}))
OLD_VERSIONS = {"action": {"type": "Delete"}, "condition": {"numNewerVersions": 3}}


def of_cluster(name: str, *ops: str, retained: bool = False) -> Steps:
    """Return steps of the current generation, which one with another network replaces."""

    def steps(catalog: Catalog) -> Iterable[EngineStep]:
        id_ = catalog.clusters[name].id
        inputs = {"name": id_, "network": ""}
        becomes = {"name": id_, "network": "projects/1/global/networks/train"}
        for op in ops:
            new = None if op.startswith("delete") else becomes
            why = () if new is None else ("network",)
            yield step(op, CLUSTER, id_, old=inputs, new=new, id=id_, diffs=why, replaces=why, retained=retained)

    return steps


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
        "The work bucket and the account have other names in a change that has a pool grow",
        (
            stack("workBucket: acme-work", "workBucket: acme-results"),
            stack("    trainer: trainer\n", "    trainer: trainer-two\n"),
            stack("replicas: { min: 4, max: 16 }", "replicas: { min: 4, max: 24 }"),
        ),
        (
            stops("preview-failed", "", "things can't be deployed", "workBucket", "slipway:workspace.trainer"),
            hurts("cluster-new-generation", "cpu", "`pools.workers.replicas.max` 16 → 24", "digits-night"),
        ),
        may=ANEW,
        world=BUSY,
        accident="a tidier name, and a pull request that was read once more for all the rest",
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
        "What is deleted can be had back for a day, and could for the cloud's week",
        names=(stops("retention-changed", "acme-work", "7 days", "for that time alone"),),
        steps=edits_work({}, softDeletePolicy={"retentionDurationSeconds": 86_400}),
        accident="deletions that could not be undone",
    ),
    Case(
        "The machines that were bought for large jobs are given up",
        names=(stops("resource-deleted", "bought"),),
        steps=deletes(RESERVATION, "bought", {"name": "bought"}, "projects/acme-ml/reservations/bought"),
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
        steps=does(step("create", SECRET, "wandb-key", new={"secretId": "wandb-key"})),
    ),
    Case(
        "A secret of a person's own gets another name",
        names=(stops("resource-replaced", "mail-key", "what it holds is lost, and what uses it fails"),),
        accident="a rename that lost the only copy of a key",
        steps=replaces(SECRET, "mail-key", {"secretId": "mail-key"}, secretId="mail-token"),
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
        "A new bucket lies on another continent than the machines",
        names=(tells("bucket-created", "acme-corpus", "jobs in us-central1 read it from EU"),),
        accident="data read across an ocean, and paid by size",
        steps=does(step("create", BUCKET, "corpus", new={"name": "acme-corpus", "location": "EU"})),
    ),
    Case(
        "A bucket of a person's own is made, shut to the public, whose objects go after a month",
        names=(tells("bucket-created", "acme-scratch", "deletes every object after 30 days", "can't be opened"),),
        steps=does(
            step(
                "create",
                BUCKET,
                "scratch",
                new={
                    **WORK,
                    "name": "acme-scratch",
                    "lifecycleRules": [{"action": {"type": "Delete"}, "condition": {"age": 30}}],
                },
            )
        ),
    ),
    Case(
        "A dataset of BigQuery moves to another continent",
        names=(stops("resource-replaced", "bigquery.Dataset", "if it holds anything, that is lost"),),
        steps=replaces(DATASET, "sales", {"datasetId": "sales", "location": "US"}, location="EU"),
        accident="a year of tables behind an edit of one word",
    ),
    Case(
        "Earlier versions of objects are not kept any more",
        names=(stops("versioning-changed", "acme-work"),),
        steps=edits_work({"versioning": {"enabled": True}}, versioning={"enabled": False}),
        accident="versioning switched off before a mistake",
    ),
    Case(
        "The work bucket gets another name, and may be deleted with everything in it",
        names=(
            stops("bucket-replaced", "acme-work", "acme-work-2", "if there is anything in it, the deployment fails"),
            stops("jobs-lose-bucket", "acme-work", "ada", "unless anything is in it"),
            stops("force-destroy", "acme-work", "may be deleted with everything in it"),
        ),
        steps=replaces(BUCKET, "work", WORK, "acme-work", name="acme-work-2", forceDestroy=True),
        world=BUSY,
        accident="a new name that came with a way to lose all that the next one has",
        never=("what is in it is lost",),
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
        "A bucket's key of one's own gives way to another one",
        names=(hurts("bucket-changed", "acme-work", "encryption"),),
        steps=edits_work(
            {"encryption": {"defaultKmsKeyName": "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"}},
            encryption={"defaultKmsKeyName": "projects/p/locations/us-central1/keyRings/r/cryptoKeys/other"},
        ),
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
        "The engine replaces the cluster under a running job, for its network",
        names=(stops("jobs-cancelled", "h100", "tune-27b-x1"), stops("cluster-deleted", "h100", "network")),
        may=("capacity-found-anew", "cluster-unsaid"),
        steps=of_cluster("h100", "create-replacement", "replace", "delete-replaced"),
        world=BUSY,
        accident="a replacement that destroyed a running cluster",
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
        "The bucket's storage class is another one",
        names=(hurts("bucket-changed", "acme-work", "ARCHIVE"),),
        steps=edits_work({"storageClass": "STANDARD"}, storageClass="ARCHIVE"),
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
        "The catalog's bucket is adopted, and declared for the first time to go with what is in it",
        names=(tells("bucket-created", "acme-catalog"), tells("force-destroy", "acme-catalog")),
        steps=does(
            step("import", BUCKET, "catalog", new=FORCED, parent=WORKSPACE),
            step("update", BUCKET, "catalog", old=THERE, new=FORCED, diffs=["forceDestroy"], parent=WORKSPACE),
        ),
    ),
)
