"""Machines given back, found anew, there twice; what unfinished jobs lose beside their cluster. # B3 # N1 # N5"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.deploying.engine.preview import EngineStep
from slipway.google.jobs import VertexJob
from slipway.model.catalog.clusters import Cluster, Pool, PricedAlternative
from slipway.model.catalog.model import Parameter
from slipway.model.cluster import PscInterface
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade
from slipway.model.kinds import PIPELINE, TUNING_JOB
from slipway.reviewing.change import Change
from slipway.reviewing.clusters.capacity import capacity
from slipway.reviewing.clusters.jobs import unfinished
from tests.slipway.reviewing.builders import (
    CATALOG_BUCKET,
    CPU,
    H100,
    PROJECT,
    TRAINER,
    UNREAD,
    WORK_BUCKET,
    by_kind,
    change,
    cluster,
    facts,
    job,
    kept,
    living,
    offer,
    pool,
    priced,
    request,
    step,
    template,
    worker_pool,
)

NOTE, WARNING, BLOCKING = Grade
OLD = cluster("h100", pool("workers", H100, 1, 4, price=priced("101.01")))
NEW = cluster("h100", pool("workers", H100, 1, 6, price=priced("101.01")))
TUNE = job(on=OLD)


def said(change: Change) -> dict[str, Finding]:
    return by_kind(capacity(change))


def resized(old: Pool, new: Pool | None, **fields: Any) -> dict[str, Finding]:
    """What is said of the pool alone."""
    was = cluster("c", old, pool("head"))
    becomes = cluster("c", *([new] if new else []), pool("head"))
    found = said(change(facts(was), facts(becomes), clusters=[living(was)], **fields))
    return {
        kind: one
        for kind, one in found.items()
        if kind not in ("capacity-found-anew", "generations-overlap", "image-cache-empty")
    }


def rolls(used: int = 0, new: Cluster = NEW) -> Change:
    """To another generation, with a job on the old one where it is used."""
    jobs = [TUNE] if used else []
    return change(
        facts(OLD), facts(new, *([kept(OLD, TUNE)] if used else [])), clusters=[living(OLD, used=used)], jobs=jobs
    )


def test_what_is_up_on_the_old_one_is_paid_and_its_minimum_where_nobody_looked() -> None:
    unread = change(facts(OLD), facts(NEW, kept(OLD)), clusters=UNREAD, jobs=UNREAD)
    for told, cost in ((rolls(used=1), "$101.01/h"), (rolls(used=3), "$303.03/h"), (unread, "$101.01/h")):
        paid = said(told)["generations-overlap"].sentence
        assert paid.endswith(f" `a3-highgpu-8g` cost {cost} beside the new one's 1 `a3-highgpu-8g`")


def test_an_idle_small_cluster_is_rolled_over_without_a_warning_of_its_machines() -> None:
    old, new = cluster(), cluster(labels={"team": "ml"})
    found = said(change(facts(old), facts(new), clusters=[living(old)]))
    assert {one.grade for one in found.values()} == {NOTE}
    assert found["generations-overlap"].sentence.endswith(", until this deployment ends")


def test_a_deployment_waits_only_when_the_alternatives_have_no_machines_either(
    snapshot: SnapshotAssertion,
) -> None:  # N2
    """They are tried at once, as the line beside it says: not the first one's machines alone are waited for."""
    away, small = (PricedAlternative((pool("workers", *of),)) for of in ((H100, 1, 6), (CPU, 1, 4)))
    for alternatives in ((away,), (away, small)):
        new = replace(NEW, alternatives=alternatives)
        assert said(rolls(new=new))["capacity-found-anew"].sentence == snapshot
        found = said(rolls(new=replace(new, replacement="in-place")))
        assert found["capacity-found-anew"].sentence == snapshot
        assert found.keys() == {"capacity-raised", "capacity-found-anew", "image-cache-empty"}, "never both"


def test_machines_that_are_up_are_not_handed_on(snapshot: SnapshotAssertion) -> None:  # B3
    old, new = (cluster("h100", pool("workers", H100, 0, high)) for high in (4, 6))
    found = said(change(facts(old), facts(new), clusters=[living(old, used=2)]))["capacity-found-anew"]
    assert found.sentence == snapshot
    assert "capacity-found-anew" not in said(change(facts(old), facts(new), clusters=[living(old)]))


@pytest.mark.parametrize(
    ("old", "new", "grades"),
    [
        (pool("w", H100, 1, 4), None, {"pool-gone": BLOCKING}),
        (pool("w", CPU, 1, 4), None, {"pool-gone": WARNING}),
        (pool("w", H100, 2, 4), pool("w", H100, 1, 4), {"capacity-given-back": BLOCKING}),
        (pool("w", CPU, 2, 4), pool("w", CPU, 0, 4), {"capacity-given-back": WARNING}),
        (pool("w", H100, 2, None), pool("w", H100, 1, None), {"capacity-given-back": BLOCKING}),
        (pool("w", H100, 1, 4), pool("w", H100, 1, 2), {"capacity-lower-maximum": WARNING}),
        (pool("w", H100, 0, 4), pool("w", CPU, 0, 4), {}),
        (pool("w", H100, 1, 4), pool("w", CPU, 1, 4), {"capacity-given-back": BLOCKING}),
        (pool("w", H100, 1, 4), pool("w", H100, 2, 4), {"capacity-raised": NOTE}),
        (pool("w", H100, 1, 4), pool("w", H100, 1, 9), {"capacity-raised": NOTE}),
        (pool("w", H100, 1, 4), pool("other", H100, 1, 4), {}),
        (
            pool("w", H100, 2, 4),
            pool("w", H100, 1, 3),
            {"capacity-given-back": BLOCKING, "capacity-lower-maximum": WARNING},
        ),
    ],
)
def test_pools(old: Pool, new: Pool | None, grades: dict[str, Grade]) -> None:  # B3
    assert {kind: one.grade for kind, one in resized(old, new).items()} == grades


def test_what_gives_machines_back_is_named_with_its_field() -> None:  # B3
    found = resized(pool("w", H100, 2, 4), pool("w", H100, 0, 4))["capacity-given-back"]
    assert (found.subject, found.field) == ("pool c/w", "slipway:persistentResources.c.pools.w.replicas.min")
    assert "2 `a3-highgpu-8g` given back, and may not come again" in found.sentence
    gone = resized(pool("w", H100, 1, 4), None)["pool-gone"].sentence
    assert (
        gone == "Nobody can submit to pool `c/w` any more (1–4 a3-highgpu-8g); its 1 `a3-highgpu-8g` may not come again"
    )


def trained(default: int | None = 2, replicas: str = "${workers}") -> Any:
    body = request(worker_pool(CPU, replicas))
    parameters = [Parameter("workers", "int", default, 1, 9)]
    return template("lora", offer(cluster="c", pools=("w",), request=body), parameters=parameters)


@pytest.mark.parametrize(
    ("before", "after", "low", "below"),
    [
        (trained(2), trained(2), (2, 1), True),
        (trained(2), trained(2), (2, 2), False),
        (trained(2), trained(4), (2, 2), True),
        (trained(4), trained(4), (2, 1), False),  # It was below before as well.
        (trained(1), trained(1), (2, 1), False),
        (trained(replicas="2"), trained(replicas="2"), (2, 1), True),
    ],
)
def test_a_minimum_below_what_a_usual_submission_takes(
    before: Any, after: Any, low: tuple[int, int], below: bool
) -> None:
    old, new = (cluster("c", pool("w", CPU, one, 8)) for one in low)
    found = said(change(facts(old, before), facts(new, after), clusters=[living(old)]))
    assert ("minimum-below-default" in found) == below
    if below and before == after:
        said_of = found["minimum-below-default"]
        assert "pool `c/w` has grown: they take 2 `n1-standard-8`, and it keeps 1, 2 before" in said_of.sentence
        assert said_of.field == "slipway:persistentResources.c.pools.w.replicas.min"


def test_a_new_template_or_pool_was_never_better() -> None:
    old = cluster("c", pool("w", CPU, 1, 8))
    assert said(change(facts(old), facts(old, trained(4)), clusters=[living(old)])) == {}


@pytest.mark.parametrize("there", [[], [living(OLD, state="ERROR")], [living(OLD), living(NEW)]])
def test_machines_are_found_anew_only_beside_an_old_one_that_holds_some(there: Any) -> None:
    assert said(change(facts(OLD), facts(NEW), clusters=there)).keys() == {"capacity-raised"}


def test_nothing_is_compared_with_nothing() -> None:
    assert said(change(None, facts(NEW))) == {}
    assert said(change(facts(OLD), None)) == {}
    same = replace(OLD, replacement="protect")
    assert said(change(facts(OLD), facts(same), clusters=[living(OLD)])) == {}


RESERVED = f"projects/{PROJECT}/zones/us-central1-a/reservations/h100"
NAME = "packages/lora/0123456.tar.gz"
PACKAGE = f"gs://{CATALOG_BUCKET}/{NAME}"
KEY = f"projects/{PROJECT}/locations/us-central1/keyRings/r/cryptoKeys/training"
NETWORK = cluster("cpu", network="projects/1/global/networks/training", kms_key=KEY, psc=PscInterface("psc"))
READS = {"HF_TOKEN__SECRET": f"projects/{PROJECT}/secrets/hf-token/versions/latest"}
WHO = "`tune-27b-x1` (user-a, running 3 h 12 min)"
PROJECT_IAM, BUCKET_IAM = "gcp:projects/iAMMember:IAMMember", "gcp:storage/bucketIAMMember:BucketIAMMember"
SECRET_IAM, SECRET = "gcp:secretmanager/secretIamMember:SecretIamMember", "gcp:secretmanager/secret:Secret"
ACCOUNT, BUCKET = "gcp:serviceaccount/account:Account", "gcp:storage/bucket:Bucket"
OBJECT = "gcp:storage/bucketObject:BucketObject"
ROLE = {"member": f"serviceAccount:{TRAINER}", "role": "roles/x.y"}


def told(
    before: Facts, after: Facts, jobs: Iterable[VertexJob], steps: Iterable[EngineStep] | None = None
) -> dict[str, Finding]:
    return by_kind(unfinished(change(before, after, jobs=jobs, steps=steps)))


def goes(type_: str, op: str = "delete", **old: str) -> EngineStep:
    return step(op, type_, "x", old=old)


DELETED, TAKEN = "which is deleted", f"which is taken from `{TRAINER}`"
TASK, SENDS, SITS = job(), job(packages=(PACKAGE,)), job(reservations=(RESERVED,))
OPENS, ATTACHED = job(env=READS), job(on=NETWORK)
GOES = goes(ACCOUNT, accountId="trainer")
REPLACED = goes("gcp:compute/networkAttachment:NetworkAttachment", "replace", name="psc")
GONE = [
    (TASK, GOES, "account", f"account `{TRAINER}`, {DELETED}"),
    (TASK, goes(BUCKET, "delete-replaced", name=WORK_BUCKET), "bucket", f"bucket `{WORK_BUCKET}`, {DELETED}"),
    (SENDS, goes(OBJECT, bucket=CATALOG_BUCKET, name=NAME), "package", f"package `{PACKAGE}`, {DELETED}"),
    (OPENS, goes(SECRET, secretId="hf-token"), "secret", f"secret `hf-token`, {DELETED}"),
    (ATTACHED, goes("gcp:compute/network:Network", name="training"), "network", f"network `training`, {DELETED}"),
    (ATTACHED, REPLACED, "network", "network attachment `psc`, which is deleted and made anew"),
    (ATTACHED, goes("gcp:kms/cryptoKey:CryptoKey", name="training"), "network", f"key `training`, {DELETED}"),
    (SITS, goes("gcp:compute/reservation:Reservation", name="h100"), "reservation", f"reservation `h100`, {DELETED}"),
    (TASK, goes(PROJECT_IAM, **ROLE), "account", f"`roles/x.y` on the project, {TAKEN}"),
    (TASK, goes(BUCKET_IAM, **ROLE, bucket=WORK_BUCKET), "bucket", f"`roles/x.y` on bucket `{WORK_BUCKET}`, {TAKEN}"),
    (OPENS, goes(SECRET_IAM, **ROLE, secretId="hf-token"), "secret", f"`roles/x.y` on secret `hf-token`, {TAKEN}"),
]


@pytest.mark.parametrize(("user", "away", "what", "lost"), GONE)
def test_what_the_engine_takes_away_under_a_job(user: VertexJob, away: EngineStep, what: str, lost: str) -> None:  # N1
    same = facts(NETWORK, template())
    (one,) = told(same, same, [user], [away]).values()
    assert (one.kind, one.grade, one.details) == (f"jobs-lose-{what}", Grade.BLOCKING, (WHO,))
    assert one.sentence.startswith(f"`tune-27b-x1` (user-a) loses {lost}: ")
    other = job("other", template="none", service_account="other@x.iam.gserviceaccount.com", buckets=frozenset())
    assert told(same, same, [other], [away]) == {}, "it does not need it"
    assert away.old is not None
    stays = step("delete", away.type, away.name, old=away.old.inputs, retained=True)
    assert told(same, same, [user], [stays]) == {}


@pytest.mark.parametrize("kind", [PIPELINE, TUNING_JOB])
@pytest.mark.parametrize("state", ["QUEUED", "PENDING", "RUNNING"])
def test_jobs_of_every_kind_and_queued_ones_need_their_account(kind: Any, state: str) -> None:
    same, user = facts(), job(kind=kind, state=state)
    assert told(same, same, [user], [GOES]).keys() == {"jobs-lose-account"}
    assert told(same, same, [job(state="SUCCEEDED")], [GOES]) == {}


@pytest.mark.parametrize(
    ("field", "value", "kind", "subject"),
    [
        ("trainer", "other@acme-prod.iam.gserviceaccount.com", "jobs-lose-account", f"account {TRAINER}"),
        ("work_bucket", "other", "jobs-lose-bucket", f"bucket {WORK_BUCKET}"),
    ],
)
def test_what_is_kept_for_jobs_is_said_as_such(
    snapshot: SnapshotAssertion, field: str, value: Any, kind: str, subject: str
) -> None:  # N1
    user = job()
    old = subject.partition(" ")[2]
    after = facts(kept(old, user), **{field: value})
    found = told(facts(), after, [user])
    assert found.keys() == {"jobs-finish-on-old"}
    assert (found["jobs-finish-on-old"].subject, found["jobs-finish-on-old"].grade) == (subject, Grade.NOTE)
    assert found["jobs-finish-on-old"].sentence == snapshot
    assert told(after, after, [user]) == {}, "it was said before"
    lost = told(facts(), facts(**{field: value}), [user])
    assert {one: found.subject for one, found in lost.items()} == {kind: subject}
    assert told(facts(), facts(**{field: value}), []) == {}


SECRET_VERSION = "gcp:secretmanager/secretVersion:SecretVersion"
THE_PACKAGE = {"bucket": CATALOG_BUCKET, "name": NAME}


@pytest.mark.parametrize(
    ("user", "again"),
    [
        (SENDS, step("replace", OBJECT, "lora", old=THE_PACKAGE, new=THE_PACKAGE, diffs=["source"])),
        (OPENS, step("create", SECRET_VERSION, "v", new={"secret": f"projects/{PROJECT}/secrets/hf-token"})),
    ],
)
def test_what_is_another_one_at_the_next_restart(
    snapshot: SnapshotAssertion, user: VertexJob, again: EngineStep
) -> None:
    (one,) = told(facts(), facts(), [user], [again]).values()
    assert (one.kind, one.grade) == ("jobs-restart-differently", Grade.WARNING)
    assert one.sentence == snapshot
    assert told(facts(), facts(), [job("other", packages=())], [again]) == {}
