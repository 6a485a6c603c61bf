"""Other resources of the program: created, changed, replaced, deleted."""

from collections.abc import Iterable

from slipway.deploying.engine.preview import EngineStep, Resource
from slipway.model.catalog.model import Catalog
from tests.review.case import BUSY, LARGE, Case, World, blocks, notes, stack, warns
from tests.review.edits import ACCOUNT_KEY_TYPE, DAY_OF_CLAIMS, WEEK, of_cluster
from tests.review.engine import (
    BUCKET,
    OBJECT,
    PROJECT,
    SQL,
    TRAINER,
    WORK,
    creates,
    does,
    edits_work,
    replaces,
    updates,
)
from tests.slipway.reviewing.builders import step

SECRET_TYPE = "gcp:secretmanager/secret:Secret"
THE_DB = {"name": "runs", "region": "us-central1", "databaseVersion": "POSTGRES_15", "deletionProtection": True}


def not_retained(catalog: Catalog) -> Iterable[EngineStep]:
    """Yield the same bucket, which would go with the state from now on."""
    resource = step("same", BUCKET, "work")
    yield EngineStep("same", resource.urn, BUCKET, "work", old=Resource(WORK, retained=True), new=Resource(WORK))


FIREWALL = "gcp:compute/firewall:Firewall"

CASES = (
    Case(
        "The catalog that everybody submits by is deleted",
        finds=(blocks("resource-deleted", "catalog"),),
        steps=does(
            step(
                "delete",
                OBJECT,
                "catalog",
                old={"bucket": "acme-catalog", "name": "catalog.json"},
                parent="slipway:index:Catalog",
            )
        ),
        world=World(jobs=(LARGE,)),
    ),
    Case(
        "A secret is declared that has no value yet",
        finds=(notes("resource-changed", "wandb-key"),),
        steps=does(step("create", SECRET_TYPE, "wandb-key", new={"secretId": "wandb-key"})),
    ),
    Case(
        "GPUs are reserved for two weeks of next month",
        finds=(blocks("resource-changed", "gpus"),),
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
        "A database loses its protection, a step before it is gone",
        finds=(blocks("resource-changed", "runs"),),
        steps=updates(SQL, "runs", THE_DB, deletionProtection=False),
    ),
    Case(
        "A cluster leaves the engine's state and stays in the cloud, paid, with nobody to look after it",
        finds=(blocks("cluster-orphaned | resource-deleted | cluster-deleted", "h100"),),
        steps=of_cluster("h100", "delete", retained=True),
        world=BUSY,
    ),
    Case(
        "An old deletion rule is taken back, so that objects stay longer",
        (),
        (notes("retention-changed", "acme-work"),),
        steps=edits_work({"lifecycleRules": [DAY_OF_CLAIMS, WEEK]}, lifecycleRules=[DAY_OF_CLAIMS]),
        world=BUSY,
        may=("retention-changed",),
    ),
    Case(
        "What stayed in the cloud when it left the state is deleted with it from now on",
        finds=(blocks("resource-changed | bucket-changed", "acme-work"),),
        steps=not_retained,
    ),
    Case(
        "Notices go to another room, whose secret comes as the old one goes, and which no account may read",
        (stack("notify: slack-ml\n", "notify: slack-all\n"),),
        (
            warns("job-loses-resource", "slack-ml"),
            blocks("resource-deleted", "slack-ml"),
            warns("access-gained", "workspace"),
            warns("access-lost", "workspace"),
        ),
        may=("resource-changed",),
        steps=does(
            step("create", SECRET_TYPE, "slack-all", new={"secretId": "slack-all", "project": PROJECT}),
            step("delete", SECRET_TYPE, "slack-ml", old={"secretId": "slack-ml", "project": PROJECT}, id="slack-ml"),
        ),
        given=(stack("    trainer: trainer\n", "    trainer: trainer\n    notify: slack-ml\n"),),
        world=BUSY,
    ),
    Case(
        "A firewall shuts out what comes from anywhere",
        finds=(notes("resource-changed", "shut"),),
        steps=creates(FIREWALL, "shut", {"sourceRanges": ["0.0.0.0/0"], "denies": [{"protocol": "all"}]}),
    ),
    Case(
        "Who may deploy from a repository is narrowed to its main branch",
        finds=(blocks("resource-changed", "gh"),),
        steps=updates(
            "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
            "gh",
            {"attributeCondition": "assertion.repository == 'acme/ml'"},
            attributeCondition="assertion.repository == 'acme/ml' && assertion.ref == 'refs/heads/main'",
        ),
    ),
    Case(
        "A database is replaced, and a table that reads it is deleted",
        finds=(blocks("resource-replaced", "runs"), blocks("resource-deleted", "scores")),
        steps=lambda _: (
            *replaces(SQL, "runs", THE_DB, region="us-east1")(_),
            step("delete", "gcp:bigquery/table:Table", "scores", old={"tableId": "scores", "datasetId": "runs"}),
        ),
    ),
    Case(
        "A database is replaced by one of another version, and a secret is created beside it",
        finds=(blocks("resource-replaced", "runs"), notes("resource-changed", "runs-password")),
        steps=lambda _: (
            *replaces(SQL, "runs", THE_DB, databaseVersion="POSTGRES_16")(_),
            step("create", SECRET_TYPE, "runs-password", new={"secretId": "runs-password"}),
        ),
    ),
    Case(
        "A key of an account is made anew",
        finds=(blocks("resource-replaced", "for-ci"), blocks("access-gained", "for-ci")),
        steps=replaces(ACCOUNT_KEY_TYPE, "for-ci", {"serviceAccountId": TRAINER}, publicKeyType="TYPE_RAW_PUBLIC_KEY"),
    ),
)
