"""What unfinished jobs lose beside their cluster, and what is kept for them. # N1 # N5"""

from collections.abc import Iterable
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.cloud.jobs import VertexJob
from slipway.facts import Facts
from slipway.findings.finding import Finding, Grade
from slipway.kinds import PIPELINE, TUNING_JOB
from slipway.review.clusters.jobs import unfinished
from slipway.review.preview import EngineStep
from tests.slipway.review.builders import (
    CATALOG_BUCKET,
    H100,
    PROJECT,
    TRAINER,
    WORK_BUCKET,
    change,
    cluster,
    facts,
    job,
    kept,
    offer,
    request,
    step,
    template,
    worker_pool,
)

RESERVED = f"projects/{PROJECT}/zones/us-central1-a/reservations/h100"
PACKAGE = f"gs://{CATALOG_BUCKET}/packages/lora/0123456.tar.gz"
KEY = f"projects/{PROJECT}/locations/us-central1/keyRings/r/cryptoKeys/training"
NETWORK = cluster("cpu", network="projects/1/global/networks/training", kms_key=KEY, network_attachment="psc")
READS = {"HF_TOKEN__SECRET": f"projects/{PROJECT}/secrets/hf-token/versions/latest"}
WHO = "`tune-27b-x1` (user-a, running 3 h 12 min)"
PROJECT_IAM, BUCKET_IAM = "gcp:projects/iAMMember:IAMMember", "gcp:storage/bucketIAMMember:BucketIAMMember"
OBJECT = "gcp:storage/bucketObject:BucketObject"


def reserved(*paths: str) -> Facts:
    bodies = [request(worker_pool(H100, reservation=path), capacity_type="reservation") for path in paths]
    return facts(template("lora", *(offer("reservation", machine=H100, request=body) for body in bodies)))


def said(
    before: Facts, after: Facts, jobs: Iterable[VertexJob], steps: Iterable[EngineStep] | None = None
) -> dict[str, Finding]:
    found = list(unfinished(change(before, after, jobs=jobs, steps=steps)))
    assert len({(one.kind, one.subject) for one in found}) == len(found), "the same is said twice"
    return {one.kind: one for one in found}


GONE = [
    (
        job(),
        step("delete", "gcp:serviceaccount/account:Account", "trainer", old={"accountId": "trainer"}),
        "jobs-lose-account",
        f"account `{TRAINER}`, which is deleted",
    ),
    (
        job(),
        step("delete-replaced", "gcp:storage/bucket:Bucket", "work", old={"name": WORK_BUCKET}),
        "jobs-lose-bucket",
        f"bucket `{WORK_BUCKET}`, which is deleted",
    ),
    (
        job(packages=(PACKAGE,)),
        step("delete", OBJECT, "lora", old={"bucket": CATALOG_BUCKET, "name": "packages/lora/0123456.tar.gz"}),
        "jobs-lose-package",
        f"package `{PACKAGE}`, which is deleted",
    ),
    (
        job(env=READS),
        step("delete", "gcp:secretmanager/secret:Secret", "hf", old={"secretId": "hf-token"}),
        "jobs-lose-secret",
        "secret `hf-token`, which is deleted",
    ),
    (
        job(on=NETWORK),
        step("delete", "gcp:compute/network:Network", "n", old={"name": "training"}),
        "jobs-lose-network",
        "network `training`, which is deleted",
    ),
    (
        job(on=NETWORK),
        step("replace", "gcp:compute/networkAttachment:NetworkAttachment", "n", old={"name": "psc"}),
        "jobs-lose-network",
        "network attachment `psc`, which is deleted and made anew",
    ),
    (
        job(on=NETWORK),
        step("delete", "gcp:kms/cryptoKey:CryptoKey", "k", old={"name": "training"}),
        "jobs-lose-network",
        "key `training`, which is deleted",
    ),
    (
        job(reservations=(RESERVED,)),
        step("delete", "gcp:compute/reservation:Reservation", "h100", old={"name": "h100"}),
        "jobs-lose-reservation",
        "reservation `h100`, which is deleted",
    ),
    (
        job(),
        step("delete", PROJECT_IAM, "a", old={"member": f"serviceAccount:{TRAINER}", "role": "roles/x.y"}),
        "jobs-lose-account",
        f"`roles/x.y` on the project, which is taken from `{TRAINER}`",
    ),
    (
        job(),
        step(
            "delete",
            BUCKET_IAM,
            "a",
            old={"member": f"serviceAccount:{TRAINER}", "role": "roles/x.y", "bucket": WORK_BUCKET},
        ),
        "jobs-lose-bucket",
        f"`roles/x.y` on bucket `{WORK_BUCKET}`, which is taken from `{TRAINER}`",
    ),
    (
        job(env=READS),
        step(
            "delete",
            "gcp:secretmanager/secretIamMember:SecretIamMember",
            "a",
            old={"member": f"serviceAccount:{TRAINER}", "role": "roles/x.y", "secretId": "hf-token"},
        ),
        "jobs-lose-secret",
        f"`roles/x.y` on secret `hf-token`, which is taken from `{TRAINER}`",
    ),
]


@pytest.mark.parametrize(("user", "away", "kind", "lost"), GONE)
def test_what_the_engine_takes_away_under_a_job(user: VertexJob, away: EngineStep, kind: str, lost: str) -> None:  # N1
    same = facts(NETWORK, template())
    found = said(same, same, [user], [away])
    assert found.keys() == {kind}
    assert found[kind].sentence.startswith(f"`tune-27b-x1` (user-a) loses {lost}: ")
    assert found[kind].grade == Grade.BLOCKING
    assert found[kind].details == (WHO,)


@pytest.mark.parametrize(("user", "away"), [row[:2] for row in GONE])
def test_nobody_is_concerned_by_what_stays_or_what_no_job_needs(user: VertexJob, away: EngineStep) -> None:
    same = facts(NETWORK, template())
    other = job("other", template="none", service_account="other@x.iam.gserviceaccount.com", buckets=frozenset())
    assert said(same, same, [other], [away]) == {}
    assert away.old is not None
    kept = step("delete", away.type, away.name, old=away.old.inputs, retained=True)
    assert said(same, same, [user], [kept]) == {}


@pytest.mark.parametrize("kind", [PIPELINE, TUNING_JOB])
@pytest.mark.parametrize("state", ["QUEUED", "PENDING", "RUNNING"])
def test_jobs_of_every_kind_and_queued_ones_need_their_account(kind: Any, state: str) -> None:
    same, user = facts(), job(kind=kind, state=state)
    away = step("delete", "gcp:serviceaccount/account:Account", "trainer", old={"accountId": "trainer"})
    assert said(same, same, [user], [away]).keys() == {"jobs-lose-account"}
    assert said(same, same, [job(state="SUCCEEDED")], [away]) == {}


def test_a_role_that_moves_to_another_logical_name_is_not_lost() -> None:
    same = facts()
    grant = {"member": f"serviceAccount:{TRAINER}", "role": "roles/x.y"}
    steps = [step("create", PROJECT_IAM, "b", new=grant), step("delete", PROJECT_IAM, "a", old=grant)]
    assert said(same, same, [job()], steps) == {}


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
    found = said(facts(), after, [user])
    assert found.keys() == {"jobs-finish-on-old"}
    assert (found["jobs-finish-on-old"].subject, found["jobs-finish-on-old"].grade) == (subject, Grade.NOTE)
    assert found["jobs-finish-on-old"].sentence == snapshot
    assert said(after, after, [user]) == {}, "it was said before"
    lost = said(facts(), facts(**{field: value}), [user])
    assert {one: found.subject for one, found in lost.items()} == {kind: subject}
    assert said(facts(), facts(**{field: value}), []) == {}


def test_a_reservation_that_the_stack_gives_up(snapshot: SnapshotAssertion) -> None:
    user = job(reservations=(RESERVED,))
    other = RESERVED.replace("h100", "h200")
    found = said(reserved(RESERVED), reserved(other), [user])
    assert found["jobs-lose-reservation"].subject == f"reservation {RESERVED}"
    assert found["jobs-lose-reservation"].sentence == snapshot
    assert said(reserved(RESERVED), reserved(RESERVED), [user]) == {}


def test_a_package_that_is_overwritten_under_its_name_is_another_one_at_the_next_restart(
    snapshot: SnapshotAssertion,
) -> None:
    body = {"bucket": CATALOG_BUCKET, "name": "packages/lora/0123456.tar.gz"}
    again = step("replace", OBJECT, "lora", old=body, new=body, diffs=["source"])
    found = said(facts(), facts(), [job(packages=(PACKAGE,))], [again])
    assert found.keys() == {"jobs-restart-differently"}
    assert found["jobs-restart-differently"].grade == Grade.WARNING
    assert found["jobs-restart-differently"].sentence == snapshot


def test_a_secret_that_gets_another_version_is_read_at_the_next_restart() -> None:
    secret = f"projects/{PROJECT}/secrets/hf-token"
    version = step("create", "gcp:secretmanager/secretVersion:SecretVersion", "v", new={"secret": secret})
    found = said(facts(), facts(), [job(env=READS)], [version])
    assert found.keys() == {"jobs-restart-differently"}
    assert said(facts(), facts(), [job()], [version]) == {}
