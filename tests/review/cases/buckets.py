"""Buckets: their place, versions, retention, openings and what jobs lose with them."""

from tests.review.case import BUSY, Case, blocks, notes, warns
from tests.review.edits import LOCAL, by_hand
from tests.review.engine import BUCKET, WORK, WORKSPACE, creates, deletes, does, edits_work, replaces
from tests.slipway.reviewing.builders import step

THERE = {"name": "acme-catalog", "versioning": {"enabled": True}, "hierarchicalNamespace": {"enabled": False}}
FORCED = {"name": "acme-catalog", "versioning": {"enabled": True}, "forceDestroy": True}

CASES = (
    Case(
        "A bucket goes, and is forced to, with all that is in it",
        finds=(blocks("bucket-deleted", "acme-results"),),
        steps=deletes(BUCKET, "results", {**WORK, "name": "acme-results", "forceDestroy": True}, "acme-results"),
    ),
    Case(
        "What is deleted can be had back for a day, and could for the cloud's week",
        finds=(blocks("retention-changed", "acme-work"),),
        steps=edits_work({}, softDeletePolicy={"retentionDurationSeconds": 86_400}),
    ),
    Case(
        "The catalog's bucket is adopted, and declared for the first time to go with what is in it",
        absent=("bucket-deleted",),
        steps=does(
            step("import", BUCKET, "catalog", new=FORCED, parent=WORKSPACE),
            step("update", BUCKET, "catalog", old=THERE, new=FORCED, diffs=["forceDestroy"], parent=WORKSPACE),
        ),
    ),
    Case(
        "Somebody opened the bucket by hand, and the program now asks for it",
        finds=(blocks("access-gained | bucket-changed | drift", "acme-work"),),
        may=("drift",),
        preview=by_hand(
            BUCKET, "work", WORK, {**WORK, "publicAccessPrevention": "inherited"}, publicAccessPrevention="inherited"
        ),
    ),
    Case(
        "Both buckets are in another region: the engine makes them anew, and all that is in them",
        finds=(warns("bucket-deleted", f"{LOCAL}-work"), blocks("bucket-deleted", f"{LOCAL}-catalog")),
        may=("resource-replaced", "resource-changed", "resource-deleted"),
        recorded="moved",
    ),
    Case(
        "Versioning off, the catalog open to be made public, the work bucket to be forced away",
        finds=(
            blocks("retention-changed", f"{LOCAL}-catalog"),
            blocks("access-gained | bucket-changed", f"{LOCAL}-catalog"),
            blocks("access-gained | bucket-changed", f"{LOCAL}-work"),
            blocks("bucket-changed", f"{LOCAL}-work"),
            blocks("retention-changed", f"{LOCAL}-work"),
        ),
        may=("bucket-changed",),
        recorded="buckets",
    ),
    Case(
        "Deleted objects can be had back for longer",
        finds=(notes("retention-changed | bucket-changed", "acme-work"),),
        steps=edits_work(
            {"softDeletePolicy": {"retentionDurationSeconds": 604_800}},
            softDeletePolicy={"retentionDurationSeconds": 2_592_000},
        ),
    ),
    Case(
        "Earlier versions of objects are kept from now on",
        finds=(notes("retention-changed", "acme-work"),),
        steps=edits_work({"versioning": {"enabled": False}}, versioning={"enabled": True}),
        may=("retention-changed",),
    ),
    Case(
        "A binding on the bucket leaves the trainer out",
        finds=(blocks("access-lost", "acme-work"), blocks("job-loses-resource", "acme-work", "tune-27b-x1")),
        may=("access-gained",),
        steps=creates(
            "gcp:storage/bucketIAMBinding:BucketIAMBinding",
            "writers",
            {"bucket": "acme-work", "role": "roles/storage.objectUser", "members": ["group:ml@acme.example"]},
        ),
        world=BUSY,
    ),
    Case(
        "The work bucket is replaced by the engine and deleted before its successor is there",
        finds=(blocks("bucket-deleted", "acme-work", "acme-work-2"), blocks("job-loses-resource", "acme-work")),
        steps=replaces(BUCKET, "work", WORK, "acme-work", name="acme-work-2"),
        world=BUSY,
    ),
)
