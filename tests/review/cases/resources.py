"""Other resources of the program: created, changed, replaced, deleted."""

from collections.abc import Iterable

from slipway.deploying.engine.preview import EngineStep, Resource
from slipway.model.catalog.model import Catalog
from tests.review.case import BUSY, LARGE, Case, World, hurts, stack, stops, tells
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
        names=(stops("resource-deleted", "catalog", "gs://acme-catalog/catalog.json"),),
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
        accident="an index deleted that every client read",
    ),
    Case(
        "A secret is declared that has no value yet",
        names=(tells("resource-created", "wandb-key"),),
        steps=does(step("create", SECRET_TYPE, "wandb-key", new={"secretId": "wandb-key"})),
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
        "A database loses its protection, a step before it is gone",
        names=(stops("resource-changed", "runs", "deletionProtection"),),
        steps=updates(SQL, "runs", THE_DB, deletionProtection=False),
        accident="a protection removed in the change before",
    ),
    Case(
        "A cluster leaves the engine's state and stays in the cloud, paid, with nobody to look after it",
        names=(stops("resource-forgotten | cluster-deleted | cluster-retires", "h100"),),
        steps=of_cluster("h100", "delete", retained=True),
        world=BUSY,
        accident="a cluster removed from the state, and paid for months",
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
        names=(stops("resource-replaced", "for-ci"), stops("access-added", "key for-ci", "never ends")),
        steps=replaces(ACCOUNT_KEY_TYPE, "for-ci", {"serviceAccountId": TRAINER}, publicKeyType="TYPE_RAW_PUBLIC_KEY"),
        never=("fails as it holds something", "copy what is in it"),
        accident="a key of a service account that leaked",
    ),
)
