"""Losses that are hard to see: by one field, by a dependency, by a neglected resource."""

from collections.abc import Iterable

from slipway.deploying.engine.preview import EngineStep
from slipway.model.catalog.model import Catalog
from tests.review.case import BUSY, Case, hurts, stops
from tests.review.engine import BUCKET, CLUSTER, Steps, does, edits, edits_work
from tests.slipway.reviewing.builders import step

OLD_VERSIONS = {"action": {"type": "Delete"}, "condition": {"numNewerVersions": 3}}
MONTH = {"action": {"type": "Delete"}, "condition": {"age": 30, "matchesPrefixes": ["jobs/"]}}


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
        steps=does(
            edits(
                BUCKET,
                "archive",
                {"name": "acme-archive"},
                lifecycleRules=[{"action": {"type": "Delete"}, "condition": {"age": 0}}],
            )
        ),
        accident="a bucket emptied by a rule",
    ),
)
