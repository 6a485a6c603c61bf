"""Cases where the needs of unfinished jobs are taken away, shrink, or are made anew and empty."""

from collections.abc import Iterable

from slipway.deploying.engine.preview import EngineStep, Resource
from slipway.model.catalog.model import Catalog
from tests.review.case import BUSY, Case, Job, World, hurts, stops
from tests.review.engine import BUCKET, ON_BUCKET, TRAINER, WORK, creates, deletes, does, grants, replaces, updates
from tests.slipway.reviewing.builders import step

RESERVATION, VERSION = "gcp:compute/reservation:Reservation", "gcp:secretmanager/secretVersion:SecretVersion"
SITS = World(jobs=(Job("reserved-27b", user="ben", capacity_type="reservation", parameters={"model": "27b"}),))


def not_retained(catalog: Catalog) -> Iterable[EngineStep]:
    """Yield the same bucket, which would go with the state from now on."""
    resource = step("same", BUCKET, "work")
    yield EngineStep("same", resource.urn, BUCKET, "work", old=Resource(WORK, retained=True), new=Resource(WORK))


CASES = (
    Case(
        "The reservation that a job sits on is deleted in Compute Engine",
        names=(stops("jobs-lose-reservation", "bought", "reserved-27b", "ben"), stops("resource-deleted", "bought")),
        steps=deletes(RESERVATION, "bought", {"name": "bought", "zone": "us-central1-a"}),
        world=SITS,
        accident="a reservation released under a training",
    ),
    Case(
        "The secret's value in use is destroyed",
        names=(stops("jobs-lose-secret", "hf-token", "tune-27b-x1"), stops("resource-deleted", "hf-token-3")),
        steps=deletes(VERSION, "hf-token-3", {"secret": "projects/acme-ml/secrets/hf-token"}),
        world=BUSY,
        accident="a rotated key that was still in use",
    ),
    Case(
        "The secret's value in use is disabled",
        names=(stops("jobs-lose-secret", "hf-token", "tune-27b-x1"),),
        may=("resource-changed",),
        steps=updates(
            VERSION, "hf-token-3", {"secret": "projects/acme-ml/secrets/hf-token", "enabled": True}, enabled=False
        ),
        world=BUSY,
        accident="a rotated key that was still in use",
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
        "A binding on the bucket leaves the trainer out",
        names=(
            hurts("access-gone", "acme-work"),
            stops("jobs-lose-bucket", "acme-work", "tune-27b-x1"),
        ),
        may=("access-added",),
        steps=creates(
            "gcp:storage/bucketIAMBinding:BucketIAMBinding",
            "writers",
            {"bucket": "acme-work", "role": "roles/storage.objectUser", "members": ["group:ml@acme.example"]},
        ),
        world=BUSY,
        accident="an IAM binding in place of a member",
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
        "What stayed in the cloud when it left the state is deleted with it from now on",
        names=(stops("resource-changed | bucket-changed | force-destroy", "acme-work"),),
        steps=not_retained,
        accident="prevent_destroy removed",
    ),
    Case(
        "The work bucket is replaced by the engine and deleted before its successor is there",
        names=(stops("bucket-replaced", "acme-work", "acme-work-2"), stops("jobs-lose-bucket", "acme-work", "ada")),
        steps=replaces(BUCKET, "work", WORK, "acme-work", name="acme-work-2"),
        world=BUSY,
        accident="a bucket replaced by a renamed argument",
    ),
)
