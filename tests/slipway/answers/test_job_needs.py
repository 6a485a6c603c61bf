"""What unfinished jobs lose: each resource that they still need, and the right to use it."""

from typing import Any

import pytest

from slipway.answers import job_needs
from slipway.answers.answer import State, differences
from slipway.answers.comparison import Side
from slipway.deploying.engine.preview import UNKNOWN, EngineStep
from slipway.model.findings.finding import Finding, Grade
from tests.slipway.reviewing.builders import (
    PROJECT,
    TRAINER,
    UNREAD,
    WORK_BUCKET,
    change,
    cluster,
    facts,
    job,
    living,
    step,
)

BUCKET = "gcp:storage/bucket:Bucket"
OBJECT = "gcp:storage/bucketObject:BucketObject"
SECRET = "gcp:secretmanager/secret:Secret"
ON_SECRET = "gcp:secretmanager/secretIamMember:SecretIamMember"
TOKEN = {"HF_TOKEN__SECRET": f"projects/{PROJECT}/secrets/hf-token/versions/1"}


def found(*steps: EngineStep, **live: Any) -> list[Finding]:
    comparison = change(facts(), facts(), steps=steps, **live).comparison
    sides = [tuple(job_needs.answers(comparison, side)) for side in Side]
    return list(job_needs.findings(comparison, differences(*sides)))


def test_untouched_needs_are_no_finding() -> None:
    assert found(jobs=[job(on=cluster(), env=TOKEN)]) == []
    assert found(step("delete", SECRET, "other", old={"secretId": "other"}), jobs=[job(env=TOKEN)]) == []


def test_a_deleted_secret_names_job_and_user() -> None:
    lost = step("delete", SECRET, "token", old={"secretId": "hf-token"})
    (finding,) = found(lost, jobs=[job("tune", env=TOKEN), job("other")])
    assert (finding.kind, finding.grade, finding.subject) == ("job-loses-resource", Grade.BLOCKING, "secret hf-token")
    expected = "`token` is deleted: job `tune` (user-a, running 3 h 12 min) needs it"
    assert finding.sentence == expected


@pytest.mark.parametrize(
    ("type_", "inputs", "fields", "subject"),
    [
        ("gcp:serviceaccount/account:Account", {"accountId": "trainer"}, {}, f"service account {TRAINER}"),
        (BUCKET, {"name": WORK_BUCKET}, {}, f"bucket {WORK_BUCKET}"),
        (OBJECT, {"bucket": "b", "name": "p.tar.gz"}, {"packages": ("gs://b/p.tar.gz",)}, "package gs://b/p.tar.gz"),
        ("gcp:compute/reservation:Reservation", {"name": "h"}, {"reservations": ("p/r/h",)}, "reservation h"),
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", {"name": "c-1"}, {"on": "c-1"}, "cluster c-1"),
    ],
)
def test_each_deleted_need_is_found(type_: str, inputs: dict[str, str], fields: dict[str, Any], subject: str) -> None:
    (finding,) = found(step("delete", type_, "x", old=inputs), jobs=[job(**fields)])
    assert (finding.grade, finding.subject) == (Grade.BLOCKING, subject)


def test_network_and_key_are_those_of_the_cluster() -> None:
    private = cluster(network="projects/1/global/networks/train", kms_key="projects/p/keyRings/r/cryptoKeys/k")
    steps = [
        step("delete", "gcp:compute/network:Network", "n", old={"name": "train"}),
        step("delete", "gcp:kms/cryptoKey:CryptoKey", "k", old={"name": "k"}),
    ]
    comparison = change(
        facts(private), facts(private), steps=steps, jobs=[job(on=private)], clusters=[living(private)]
    ).comparison
    sides = [tuple(job_needs.answers(comparison, side)) for side in Side]
    subjects = {finding.subject for finding in job_needs.findings(comparison, differences(*sides))}
    assert subjects == {"network train", "key k"}


def test_a_revoked_or_disabled_account_is_found() -> None:
    inputs = {
        "secretId": "hf-token",
        "role": "roles/secretmanager.secretAccessor",
        "member": f"serviceAccount:{TRAINER}",
    }
    (finding,) = found(step("delete", ON_SECRET, "x", old=inputs), jobs=[job(env=TOKEN)])
    assert finding.subject == "secret hf-token"
    assert finding.sentence.startswith("service account `trainer` can no longer read the secret: job")
    account = {"accountId": "trainer"}
    off = step("update", "gcp:serviceaccount/account:Account", "t", old=account, new={**account, "disabled": True})
    (finding,) = found(off, jobs=[job()])
    assert finding.sentence.startswith("`t` is disabled")
    old, new = ({"secret": "hf-token", "enabled": enabled} for enabled in (True, False))
    off = step("update", "gcp:secretmanager/secretVersion:SecretVersion", "v", old=old, new=new)
    (finding,) = found(off, jobs=[job(env=TOKEN)])
    assert finding.subject == "secret hf-token"


def test_a_new_binding_without_the_account_is_found() -> None:
    binding = {"bucket": WORK_BUCKET, "role": "roles/storage.objectUser", "members": ["group:ml@acme.example"]}
    (finding,) = found(step("create", "gcp:storage/bucketIAMBinding:BucketIAMBinding", "b", new=binding), jobs=[job()])
    assert finding.sentence.startswith("service account `trainer` is not in the new binding `b`: job")


def test_a_grant_of_another_account_is_no_loss() -> None:
    inputs = {"secretId": "hf-token", "role": "roles/secretmanager.secretAccessor", "member": "serviceAccount:x@y"}
    assert found(step("delete", ON_SECRET, "x", old=inputs), jobs=[job(env=TOKEN)]) == []


@pytest.mark.parametrize(("name", "state"), [("p.tar.gz", State.YES), (UNKNOWN, State.UNKNOWN), ("q", State.NO)])
def test_a_package_written_again_exists(name: str, state: State) -> None:
    again = step("replace", OBJECT, "p", old={"bucket": "b", "name": "p.tar.gz"}, new={"bucket": "b", "name": name})
    jobs = [job(packages=("gs://b/p.tar.gz",))]
    comparison = change(facts(), facts(), steps=[again], jobs=jobs).comparison
    answers = {answer.key[1]: answer.state for answer in job_needs.answers(comparison, Side.AFTER)}
    assert answers["package"] is state


def test_many_jobs_are_one_finding() -> None:
    jobs = [job(f"run-{number}", user=f"user-{number % 2}") for number in range(5)]
    (finding,) = found(step("delete", BUCKET, "work", old={"name": WORK_BUCKET, "forceDestroy": True}), jobs=jobs)
    assert finding.sentence.startswith(
        "`work` is deleted (`forceDestroy` `true`): each of 5 unfinished jobs of `user-0` and `user-1`"
    )
    assert len(finding.details) == 5


def test_kept_resources_and_unread_jobs_are_no_loss() -> None:
    kept = step("delete", BUCKET, "work", old={"name": WORK_BUCKET}, retained=True)
    assert found(kept, jobs=[job()]) == []
    assert found(step("delete", BUCKET, "work", old={"name": WORK_BUCKET}), jobs=UNREAD) == []
