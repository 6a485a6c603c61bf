"""Manual edits beside the program, and streams that the real engine wrote, which are the whole input then."""

from collections.abc import Mapping
from typing import Any

from slipway.deploying.engine.preview import Preview
from tests.review.case import LARGE, QUIET, STACK, Case, Edit, World, hurts, stack, stops, tells
from tests.review.cases.clusters import H100, H100_ENTRY, NOT_ON_THE_POOL
from tests.review.engine import ACCOUNT, BUCKET, ON_BUCKET, PROJECT, TRAINER, WORK, WORKSPACE
from tests.slipway.reviewing.builders import step

WRITES = {"bucket": "acme-work", "role": "roles/storage.objectUser", "member": f"serviceAccount:{TRAINER}"}
DAY = [{"action": {"type": "Delete"}, "condition": {"age": 1}}]


def by_hand(type_: str, name: str, deployed: Mapping[str, Any], now: Mapping[str, Any] | None, **diffs: Any) -> Preview:
    """Return a preview where somebody changed the deployed resource to `now`, None for a deletion, and the program asks
    for the deployed one; `diffs` are its differing fields."""
    becomes = {**deployed, **diffs}
    keys = [key for key in becomes if now is not None and now.get(key) != becomes[key]]
    standing = step("refresh", type_, name, old=deployed, new=now, parent=WORKSPACE)
    if now is None:
        back = step("create", type_, name, new=becomes, parent=WORKSPACE)
    else:
        back = step("update", type_, name, old=now, new=becomes, diffs=keys, parent=WORKSPACE)
    return Preview((back,), {standing.urn: standing})


LOCAL = "local-project-local"
OF_LOCAL = "local-project.iam.gserviceaccount.com"

FAILED = "    extra: { pools: { workers: { machine: n1-standard-8, replicas: { min: 1, max: 2 } } } }\n"

CASES = (
    Case(
        "Somebody deleted a cluster by hand, and a comment is all that is edited",
        (QUIET,),
        (tells("cluster-created", "h100", "deleted"),),
        may=("capacity-found-anew", "cluster-created"),
        world=World(gone=("h100",)),
        accident="a cluster deleted in the console",
    ),
    Case(
        "Somebody deleted a cluster by hand, and its maximum is raised",
        (stack(H100, "replicas: { min: 2, max: 6 }"),),
        (hurts("cluster-new-generation", "h100", "max"), tells("most-cost", "stack")),
        may=("capacity-found-anew",),
        world=World(gone=("h100",)),
    ),
    Case(
        "A cluster has failed since, and is made again",
        (QUIET,),
        (tells("cluster-created", "h100", "failed"),),
        may=("capacity-found-anew", "cluster-cleared"),
        world=World(states={"h100": "ERROR"}),
        accident="machines that were gone in the night",
    ),
    Case(
        "Somebody switched versioning on by hand, and the deployment switches it off",
        names=(tells("drift", "acme-work", "earlier versions"),),
        may=("drift", "versioning-changed"),
        preview=by_hand(BUCKET, "work", {**WORK, "versioning": None}, {**WORK, "versioning": {"enabled": True}}),
        accident="a repair by hand, undone by a deployment",
    ),
    Case(
        "Somebody let checkpoints be deleted after a day, by hand, and the deployment takes that back",
        names=(tells("drift", "acme-work", "after 1 day"),),
        may=("drift",),
        preview=by_hand(BUCKET, "work", {**WORK, "lifecycleRules": []}, {**WORK, "lifecycleRules": DAY}),
    ),
    Case(
        "Somebody took the trainer's access to its bucket, by hand",
        names=(tells("drift", "", TRAINER),),
        may=("drift",),
        preview=by_hand(ON_BUCKET, "trainer-writes-work", WRITES, None),
        accident="a grant removed in the console",
    ),
    Case(
        "Somebody deleted the bucket of results by hand: it is made again, empty",
        names=(hurts("drift", "acme-work", "empty"),),
        preview=by_hand(BUCKET, "work", WORK, None),
        world=World(jobs=(LARGE,)),
        accident="a bucket deleted in the console",
    ),
    Case(
        "Somebody deleted the trainer's account by hand: a new one of this name has none of its rights elsewhere",
        names=(hurts("drift", "trainer"),),
        preview=by_hand(ACCOUNT, "trainer", {"accountId": "trainer", "email": TRAINER, "project": PROJECT}, None),
        world=World(jobs=(LARGE,)),
        accident="an account deleted in the console",
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
        "Somebody deleted a cluster by hand, and now its entry goes as well",
        (Edit(STACK, H100_ENTRY, ""), NOT_ON_THE_POOL),
        (tells("cluster-deleted", "h100", "is given up: it is gone already"), hurts("offer-gone", "lora", "27b")),
        may=("run-cost",),
        world=World(gone=("h100",)),
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
        "The submitters' group gives way to a domain, and buckets and the account get other names",
        names=(
            tells("submitter-gone", "group:ml-engineers@company.example"),
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
    Case(
        "A cluster that has failed since leaves the stack file",
        (stack(FAILED, ""),),
        (tells("cluster-cleared", "cluster extra", "it failed, holds nothing and is deleted"),),
        given=(stack("    cpu:\n", f"{FAILED}    cpu:\n"),),
        world=World(states={"extra": "ERROR"}),
        may=("offer-gone", "idle-cost", "most-cost"),
        never=("any more; it", "nobody can submit"),
    ),
)
