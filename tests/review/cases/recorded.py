"""Streams that the real engine wrote, of a stack on a laptop: its facts and its events."""

from tests.review.case import Case, hurts, stops, tells

LOCAL = "local-project-local"
OF_LOCAL = "local-project.iam.gserviceaccount.com"

CASES = (
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
        "The submitters' group gives way to a domain, and buckets and the account get other names",
        names=(
            stops("submitter-gone", "group:ml-engineers@company.example"),
            stops("domain-access", "domain:company.example"),
            tells("submitter-added", "user:bob@company.example"),
            hurts("code-forbidden", "workspace"),
            stops("account-deleted", f"slipway-local-trainer@{OF_LOCAL}"),
            hurts("bucket-left", f"{LOCAL}-work", "results"),
        ),
        recorded="workspace",
        accident="a group replaced by everybody",
    ),
    Case(
        "The bucket is protected from now on",
        recorded="protect",
        silent=True,
    ),
    Case(
        "Somebody changed the bucket and took two grants away by hand",
        names=(tells("drift", "work", "earlier versions"), tells("drift", "", "roles/storage.objectUser")),
        may=("drift",),
        recorded="by_hand",
        accident="grants removed in the console",
    ),
    Case(
        "Somebody may submit by a grant that is none of the workspace's, while a cluster goes that is gone already",
        names=(tells("access-added", "user:new@x.example", "roles/aiplatform.user"),),
        recorded="edit",
    ),
)
