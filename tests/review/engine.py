"""The engine's own facts in short: steps of its preview, by the deployed facts."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from slipway.deploying.engine.preview import EngineStep
from slipway.model.catalog.model import Catalog
from tests.slipway.reviewing.builders import step

BUCKET, OBJECT = "gcp:storage/bucket:Bucket", "gcp:storage/bucketObject:BucketObject"
ACCOUNT, CLUSTER = "gcp:serviceaccount/account:Account", "gcp:vertex/aiPersistentResource:AiPersistentResource"
ON_PROJECT, ON_BUCKET = "gcp:projects/iAMMember:IAMMember", "gcp:storage/bucketIAMMember:BucketIAMMember"
SQL, DATASET = "gcp:sql/databaseInstance:DatabaseInstance", "gcp:bigquery/dataset:Dataset"
WORKSPACE, TEMPLATE = "slipway:index:Workspace", "slipway:index:JobTemplate"
PROJECT = "acme-ml"
TRAINER = f"trainer@{PROJECT}.iam.gserviceaccount.com"
WORK: Mapping[str, Any] = {
    "name": "acme-work",
    "location": "US-CENTRAL1",
    "uniformBucketLevelAccess": True,
    "publicAccessPrevention": "enforced",
}

Steps = Callable[[Catalog], Iterable[EngineStep]]


def does(*steps: EngineStep) -> Steps:
    """Return the same steps for all deployed facts."""
    return lambda _: steps


def edits(type_: str, logical: str, old: Mapping[str, Any], /, **new: Any) -> EngineStep:
    """Return an update in place; None takes a key away."""
    becomes = {key: value for key, value in {**old, **new}.items() if value is not None}
    return step("update", type_, logical, old=old, new=becomes, diffs=new)


def updates(type_: str, logical: str, old: Mapping[str, Any], /, **new: Any) -> Steps:
    return does(edits(type_, logical, old, **new))


def creates(type_: str, logical: str, new: Mapping[str, Any]) -> Steps:
    return does(step("create", type_, logical, new=new))


def edits_work(old: Mapping[str, Any] | None = None, **new: Any) -> Steps:
    """Return an update of the bucket that jobs write to, which has `old` beside the fields of every work bucket."""
    before = {**WORK, **(old or {})}
    becomes = {key: value for key, value in {**before, **new}.items() if value is not None}
    return does(step("update", BUCKET, "work", old=before, new=becomes, diffs=new, parent=WORKSPACE))


def replaces(type_: str, logical: str, old: Mapping[str, Any], id_: str = "", /, **new: Any) -> Steps:
    """Return the three steps of a replacement, because of all new fields."""
    becomes = {**old, **new}
    return does(
        step("create-replacement", type_, logical, old=old, new=becomes, id=id_, diffs=new, replaces=new),
        step("replace", type_, logical, old=old, new=becomes, id=id_, diffs=new, replaces=new),
        step("delete-replaced", type_, logical, old=old, id=id_),
    )


def deletes(type_: str, name: str, old: Mapping[str, Any], id_: str = "", *, retained: bool = False) -> Steps:
    return does(step("delete", type_, name, old=old, id=id_, retained=retained))


def grants(op: str, type_: str, member: str, role: str, **on: str) -> EngineStep:
    """Return a step of a grant: `op` create or delete."""
    inputs = {"member": member, "role": role, **(on or {"project": PROJECT})}
    name = f"{role}-{member}"
    old, new = (inputs, None) if op == "delete" else (None, inputs)
    return step(op, type_, name, old=old, new=new)


def granted(type_: str, member: str, role: str, **on: str) -> Steps:
    return does(grants("create", type_, member, role, **on))


def deletes_cluster(name: str) -> Steps:
    """Return the engine's deletion of the current generation, whatever runs on it."""

    def steps(catalog: Catalog) -> Iterable[EngineStep]:
        id_ = catalog.clusters[name].id
        yield step("delete", CLUSTER, id_, old={"persistentResourceId": id_, "name": id_}, id=id_)

    return steps
