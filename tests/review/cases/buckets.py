"""Buckets: their place, versions, retention, openings and what jobs lose with them."""

from tests.review.case import BUSY, Case, hurts, stack, stops, tells
from tests.review.edits import ALLOW, LIST, LOCAL, by_hand
from tests.review.engine import BUCKET, WORK, WORKSPACE, creates, deletes, does, edits_work, replaces
from tests.slipway.reviewing.builders import step

THERE = {"name": "acme-catalog", "versioning": {"enabled": True}, "hierarchicalNamespace": {"enabled": False}}
FORCED = {"name": "acme-catalog", "versioning": {"enabled": True}, "forceDestroy": True}

CASES = (
    Case(
        "A bucket goes, and is forced to, with all that is in it",
        names=(stops("bucket-deleted", "acme-results", "everything in it"),),
        steps=deletes(BUCKET, "results", {**WORK, "name": "acme-results", "forceDestroy": True}, "acme-results"),
        accident="a bucket destroyed with its objects",
    ),
    Case(
        "What is deleted can be had back for a day, and could for the cloud's week",
        names=(stops("retention-changed", "acme-work", "7 days", "for that time alone"),),
        steps=edits_work({}, softDeletePolicy={"retentionDurationSeconds": 86_400}),
        accident="deletions that could not be undone",
    ),
    Case(
        "The catalog's bucket is adopted, and declared for the first time to go with what is in it",
        names=(tells("bucket-created", "acme-catalog"), tells("force-destroy", "acme-catalog")),
        steps=does(
            step("import", BUCKET, "catalog", new=FORCED, parent=WORKSPACE),
            step("update", BUCKET, "catalog", old=THERE, new=FORCED, diffs=["forceDestroy"], parent=WORKSPACE),
        ),
    ),
    Case(
        "Somebody opened the bucket by hand, and the program now asks for it",
        names=(stops("public-prevention-off | drift", "acme-work"),),
        may=("drift",),
        preview=by_hand(
            BUCKET, "work", WORK, {**WORK, "publicAccessPrevention": "inherited"}, publicAccessPrevention="inherited"
        ),
    ),
    Case(
        "Both buckets are in another region: the engine makes them anew, and all that is in them",
        names=(
            stops("bucket-replaced", f"{LOCAL}-work", "US-CENTRAL1", "US-EAST1"),
            stops("bucket-replaced", f"{LOCAL}-catalog", "US-CENTRAL1", "US-EAST1"),
        ),
        may=("resource-replaced", "resource-changed"),
        recorded="moved",
        accident="a bucket replaced by a changed location",
    ),
    Case(
        "Versioning off, the catalog open to be made public, the work bucket to be forced away",
        names=(
            stops("versioning-changed", f"{LOCAL}-catalog"),
            stops("public-prevention-off", f"{LOCAL}-catalog"),
            stops("public-prevention-off", f"{LOCAL}-work"),
            stops("force-destroy", f"{LOCAL}-work"),
            stops("lifecycle-changed", f"{LOCAL}-work"),
        ),
        may=("bucket-changed",),
        recorded="buckets",
        accident="buckets left unguarded by a tidy-up",
    ),
    Case(
        "Another region is named for machines that nobody has had to fetch there",
        (stack("region: us-east4", "region: us-west1"),),
        (
            tells("cluster-may-become", "h100", "us-west1"),
            tells("bucket-created", "acme-work-us-west1", "jobs in us-west1"),
            hurts("bucket-left", "acme-work-us-east4", "stays in the cloud"),
        ),
        world=BUSY,
        given=(LIST, ALLOW),
    ),
    Case(
        "Deleted objects can be had back for longer",
        names=(tells("retention-changed | bucket-changed", "acme-work"),),
        steps=edits_work(
            {"softDeletePolicy": {"retentionDurationSeconds": 604_800}},
            softDeletePolicy={"retentionDurationSeconds": 2_592_000},
        ),
    ),
    Case(
        "Earlier versions of objects are kept from now on",
        names=(tells("versioning-changed", "acme-work"),),
        steps=edits_work({"versioning": {"enabled": False}}, versioning={"enabled": True}),
        may=("versioning-changed",),
    ),
    Case(
        "A binding on the bucket leaves the trainer out",
        names=(hurts("access-gone", "acme-work"), stops("jobs-lose-bucket", "acme-work", "tune-27b-x1")),
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
        "The work bucket is replaced by the engine and deleted before its successor is there",
        names=(stops("bucket-replaced", "acme-work", "acme-work-2"), stops("jobs-lose-bucket", "acme-work", "ada")),
        steps=replaces(BUCKET, "work", WORK, "acme-work", name="acme-work-2"),
        world=BUSY,
        accident="a bucket replaced by a renamed argument",
    ),
)
