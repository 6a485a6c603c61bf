"""`slipway submit` on a real local cloud: what runs, what is shown, and what is refused before anything is sent."""

import json
import re
import signal
from pathlib import Path

import pytest

from .stack import PROJECT, REGION, SLEEP, UNSET, Stack

pytestmark = pytest.mark.smoke


def test_a_job_is_submitted_followed_and_accounted_for(stack: Stack) -> None:  # D4, P1, B1, B4
    done = stack.well("submit", "hello", "-p", "code=print('out of the job')", "--follow")
    lines = done.out.splitlines()
    assert lines[:2] == [
        "hello  @ 3f9c2e1  →  pool cpu/workers  n1-standard-4",
        "starts now: uses 1 of 3 machines, no extra charge (pool machines: $0.25/h for these, paid for anyway)",
    ]
    assert re.fullmatch(r"job hello-[a-z2-7]{8}  projects/\d+/locations/us-central1/customJobs/\d+", lines[3])
    assert lines[2].startswith("  at least once: "), "an image as it is"  # N27
    assert "main  out of the job" in lines
    assert re.search(r"succeeded: started after [\d.]+ s, ran [\d.]+ s, its machines cost (under )?\$0\.\d+", done.err)


def test_json_stands_alone_on_stdout_and_the_log_of_a_followed_job_is_beside_it(stack: Stack) -> None:
    done = stack.well("submit", "hello", "--follow", "--output", "json")
    assert (done.json["schema"], done.json["kind"]) == (2, "submission")
    assert done.json["fresh"] is True and done.json["verdict"]["outcome"] == "starts-now"
    job = done.json["job"]
    assert job["requestId"] == done.json["requestId"] and job["user"] == "ada" and job["commit"] == "3f9c2e1"
    assert job["output"] == f"gs://w-{stack.name}/jobs/{job['displayName']}"
    assert job["workerPools"][0]["role"] == "main"
    assert job["state"] == "succeeded" and job["waitSeconds"] >= 0 and "main  hello" in done.err


def test_a_dry_run_prints_what_would_be_sent_and_sends_nothing(stack: Stack) -> None:  # P3, B2
    words = ("submit", "crew", "-p", "workers=2", "-p", "code=print(1)", "--request-id", "dry-1")
    printed = stack.well(*words, "--dry-run")
    assert stack.jobs() == []
    machines, verdict, *_ = printed.err.splitlines()
    assert machines == "crew  @ 3f9c2e1  →  pool cpu/workers  n1-standard-4 × 3 (1 scheduler, 2 workers)"
    assert verdict.startswith(
        "not sent; pool cpu: scales up: cpu/workers has 1 free, needs 3, grows 1 → 3 of 3 machines"
    )
    assert "(adds $0.49/h" in verdict
    document = stack.well(*words, "--dry-run", "--output", "json").json
    assert (document["schema"], document["kind"], document["requestId"]) == (2, "submission-plan", "dry-1")
    assert document["request"] == printed.json
    assert document["verdict"]["outcome"] == "scales-up" and "grows 1 → 3" in document["verdict"]["text"]
    place = document["place"]
    assert (place["capacityType"], place["cluster"], place["region"]) == ("pool", "cpu", document["region"])
    assert [(part["role"], part["count"], part["pool"]) for part in place["machines"]] == [
        ("scheduler", 1, "workers"),
        ("workers", 2, "workers"),
    ]
    assert float(document["pricePerHour"]) > 0 and document["passedOver"] == document["toConfirm"] == []
    done = stack.well(*words)
    assert "grows 1 → 3" in done.out and "(adds $0.49/h" in done.out
    sent, request = stack.jobs()[0], printed.json
    assert request["displayName"] == sent["displayName"] and request["labels"] == sent["labels"]
    assert [pool["replicaCount"] for pool in request["jobSpec"]["workerPoolSpecs"]] == [1, 2]
    for asked, got in zip(request["jobSpec"]["workerPoolSpecs"], sent["jobSpec"]["workerPoolSpecs"], strict=True):
        assert asked["containerSpec"] == got["containerSpec"] and asked["machineSpec"] == got["machineSpec"]


def test_an_error_is_json_where_json_is_asked_for(stack: Stack) -> None:
    for words, kind, code in (
        (("submit", "helo", "-o", "json"), "ConfigError", 2),
        (("jobs", "show", "nothing", "--output=json"), "ResourceError", 4),
        (("jobs", "list", "--no-such-flag", "--output", "json"), "ConfigError", 2),
        (("jobs", "list", "--state", "asleep", "-o", "json"), "ConfigError", 2),
    ):
        done = stack.run(*words)
        error = done.json["error"]
        assert (done.code, done.json["kind"], error["type"], error["exitCode"]) == (code, "error", kind, code), words
        assert f"error: {error['what']}" in done.err and f"fix: {error['fix']}".split("\n")[0] in done.err, done.err
    (line,) = stack.run("jobs", "logs", "nothing", "-o", "json").out.splitlines()
    assert json.loads(line)["error"]["exitCode"] == 4, "an object a line"
    assert stack.run("jobs", "show", "nothing").out == "", "only where it is asked for"
    failed = stack.run("submit", "hello", "-p", "code=raise SystemExit(3)", "--wait", "--output", "json")
    assert failed.json["error"]["exitCode"] == failed.code == 4 and "status of 3" in failed.json["job"]["failureReason"]
    late = stack.run("submit", "hello", "-p", f"code={SLEEP}", "--wait", "--timeout", "1s", "-o", "json")
    assert (
        late.json["error"]["type"] == "WaitTimeout"
        and late.json["job"]["displayName"] == stack.jobs()[0]["displayName"]
    )
    waited = stack.run("jobs", "wait", failed.json["job"]["displayName"], "-o", "json")
    assert waited.json["kind"] == "job" and waited.json["error"]["exitCode"] == 4


def test_a_prebuilt_image_past_its_last_day_is_told_to_operators_and_not_to_submitters(stack: Stack) -> None:  # N3
    image = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"
    stack.spec()["workerPoolSpecs"][0]["containerSpec"]["imageUri"] = image
    stack.publish()
    assert "sklearn-cpu.1-6 may be gone" not in stack.well("submit", "hello", "--dry-run").err
    told = stack.run("doctor").out
    assert "! image sklearn-cpu.1-6 may be gone: Google's list offered it until 2026-07-11; hello runs it\n" in told


def test_values_without_end_are_not_repeated_whole(stack: Stack) -> None:
    words = ("submit", "hello", "--request-id", "long-1")
    stack.well(*words, "-p", f"code=print(1)#{'a' * 30_000}")
    again = stack.run(*words, "-p", f"code=print(1)#{'b' * 30_000}")
    assert again.code == 2 and "used before" in again.err and len(again.err) < 2_000
    long = "x" * 5_000
    for wrong in (("submit", long), ("jobs", "show", long), ("submit", "crew", "-p", f"workers={'9' * 5_000}")):
        done = stack.run(*wrong)
        assert done.code in (2, 4) and len(done.err) < 1_000


def test_ctrl_c_detaches_and_never_cancels(stack: Stack) -> None:  # N9
    with stack.started("submit", "hello", "-p", f"code={SLEEP}", "--follow") as following:
        stack.until(lambda: any(job["state"] == "JOB_STATE_RUNNING" for job in stack.jobs()))
        assert following.stdout is not None and following.stderr is not None
        while "begun" not in (line := following.stdout.readline()):
            assert line, following.stderr.read()
        following.send_signal(signal.SIGINT)
        assert following.wait() == 130
        said = following.stderr.read()
    (job,) = stack.jobs()
    back = f"stopped watching; {job['displayName']} goes on\n  fix: come back with: slipway jobs logs "
    assert said.endswith(f"{back}{job['displayName']} --follow\n") and job["state"] == "JOB_STATE_RUNNING"


HELLO = ("submit", "hello")
MOVE = (*HELLO, "--wait-for", "pool=5m", "--then")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("submit",), "Missing argument 'TEMPLATE'"),
        (("submit", "helo"), "'helo' not found|fix: slipway submit hello …"),
        (("submit", "crew", "-p", "wrkers=2"), "unknown parameter wrkers; did you mean workers?"),
        ((*HELLO, "--capacity"), "requires an argument|fix: slipway submit --help"),
        ((*HELLO, "--capacity", "POOL"), "did you mean pool?|fix: --capacity pool"),
        ((*HELLO, "--as", "training-pipeline"), "hello can't be submitted as a training-pipeline"),
        ((*HELLO, "--as", "ray-job"), "Invalid value for '--as'"),
        ((*HELLO, "--wait-for", "pool"), "'pool' is not type=time"),
        ((*HELLO, "--wait-for", "pool=5m", "--wait-for", "spot=5m"), "there is nothing to move on to"),
        ((*MOVE, "pool"), "comes twice|name each type once"),
        ((*HELLO, "--capacity", "pool", "--then", "spot"), "capacity pool is the only type to use"),
        (
            (*HELLO, "--pool", "cpu/wrkers"),
            "not offered on pool 'cpu/wrkers'|it fits cpu/workers|fix: --pool cpu/workers",
        ),
        ((*HELLO, "--pool", "cpu/workers", "--then", "spot"), "pool cpu/workers is the only one to use"),
        ((*HELLO, "--rate", "5"), "--rate is for sweeps"),
        ((*HELLO, "--experiment", "digits"), "hello belongs to no experiment"),
        ((*HELLO, "--experiment-run", "A b"), "invalid --experiment-run 'A b'"),
        ((*HELLO, "--format", "gcloud"), "--format gcloud prints a request"),
        ((*HELLO, "--sweep", "a=1,2"), "its name has no suffix: .yaml, .json or .csv names its format"),
        ((*HELLO, "--timeout", "5m"), "add --wait or --follow"),
        ((*HELLO, "--wait", "--dry-run"), "--dry-run sends nothing"),
        ((*HELLO, "--request-id", "A B"), "invalid request id 'A B'|fix: --request-id nightly-2026-11-20, for"),
        # In a script an empty text is a variable that nobody set: with a random id the job would run again each time.
        ((*HELLO, "--request-id", ""), "invalid request id ''"),
        *(((*HELLO, flag, ""), f"'{flag}': it is empty") for flag in ("--capacity", "--then", "--code", "--catalog")),
        ((*HELLO, "--sweep", ""), "'--sweep': it is empty"),
        ((*HELLO, "--catalog", "bucket"), "not a Cloud Storage address"),
        ((*HELLO, "--catalog", "gs://no-such-bucket"), "no catalog at gs://no-such-bucket/|chosen by its address"),
    ],
)
def test_a_persons_mistake_is_told_with_exit_2_and_nothing_is_sent(
    standing: Stack, words: tuple[str, ...], said: str
) -> None:
    done = standing.run(*words)
    assert done.code == 2 and all(part in done.err for part in said.split("|")), done.err
    assert done.err.startswith("error: ") and "\n  fix: " in done.err and "Traceback" not in done.err
    assert standing.jobs() == []


def test_a_template_that_only_a_newer_version_understands_says_so_and_the_others_are_submitted(stack: Stack) -> None:
    stack.catalog["templates"]["newer"] = {**stack.catalog["templates"]["hello"], "summary": {"en": "x"}}
    stack.publish()
    done = stack.run("submit", "newer")
    assert done.code == 2 and "template newer of the catalog" in done.err and "update slipway" in done.err
    assert "templates.newer.summary is {'en': 'x'}, where a string is expected" in done.err
    assert "can't be read: slipway templates show newer" in stack.run("templates").out
    stack.well("submit", "hello", "--dry-run")


NOWHERE = {"HOME": "/nowhere", "CLOUDSDK_CONFIG": "/nowhere", "NO_GCE_CHECK": "true"}
NO_CREDENTIALS = {"GOOGLE_OAUTH_ACCESS_TOKEN": UNSET, **NOWHERE}
NOTHING_ANSWERS = "answers at http://127.0.0.1:9 (connection refused)"


@pytest.mark.parametrize(
    ("variables", "code", "said"),
    [
        ({"SLIPWAY_CATALOG": UNSET}, 2, "no catalog chosen|slipway use"),
        (NO_CREDENTIALS, 3, "no usable Google Cloud credentials|gcloud auth"),
        ({"GOOGLE_OAUTH_ACCESS_TOKEN": "stale"}, 3, "log in again"),
        ({"GOOGLE_STORAGE_CUSTOM_ENDPOINT": "http://127.0.0.1:9/v1/"}, 1, NOTHING_ANSWERS),
        ({"GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": "http://127.0.0.1:9/v1/"}, 1, NOTHING_ANSWERS),
    ],
)
def test_what_an_environment_lacks_is_told(standing: Stack, variables: dict[str, str], code: int, said: str) -> None:
    done = standing.run("submit", "hello", **variables)
    assert done.code == code and all(part in done.err for part in said.split("|")), done.err
    assert "stale" not in done.err and standing.jobs() == []


def test_each_role_that_is_lacked_is_named(stack: Stack) -> None:  # P5
    with stack.without("roles/aiplatform.user"):
        done = stack.run("submit", "hello")
    assert done.code == 3 and "for roles/aiplatform.user on project local-project" in done.err
    assert "cannot tell whether it starts" in done.out
    stack.act_as_trainer(False)
    done = stack.run("submit", "hello")
    assert done.code == 3 and f"ask for roles/iam.serviceAccountUser on {stack.trainer}" in done.err
    stack.may_read_catalog(False)
    done = stack.run("submit", "hello")
    assert done.code == 3 and "roles/storage.objectViewer" in done.err and f"gs://c-{stack.name}" in done.err
    assert stack.jobs() == []


def test_a_trainers_account_that_was_deleted_is_made_again_by_a_deployment(stack: Stack) -> None:
    stack.cloud.rest("DELETE", f"/v1/projects/{PROJECT}/serviceAccounts/{stack.trainer}")
    for role, code in (("submitter", 3), ("owner", 4)):
        done = stack.run("submit", "hello", role=role)
        assert done.code == code and stack.jobs() == []
        assert f"deleted: make up STACK={stack.name}, which makes it" in done.err
    found = {
        finding["id"]: finding for finding in stack.run("doctor", "--output", "json", role="owner").json["findings"]
    }
    assert found["resource-gone"]["sentence"] == f"account {stack.trainer} is not there any more"
    assert found["resource-gone"]["mend"] == f"make up STACK={stack.name}"
    assert stack.trainer not in found.get("role-missing", {"sentence": ""})["sentence"]


def test_a_cluster_in_error_and_one_that_is_gone(stack: Stack) -> None:
    with stack.settings(create_error="broken-"):
        stack.make_cluster(cluster=f"broken-{stack.name}")
    stack.catalog["clusters"]["cpu"]["id"] = f"broken-{stack.name}"
    stack.publish()
    done = stack.run("submit", "hello")
    assert done.code == 4 and "cluster cpu is in ERROR" in done.err
    assert "Resources are insufficient in region" in done.err
    typed = f"reboot broken-{stack.name} --region={REGION} --project={PROJECT}, which keeps its id"
    fix = f"  fix: make up STACK={stack.name}, or gcloud ai persistent-resources {typed}"
    assert fix in stack.run("pools").err

    stack.catalog["clusters"]["cpu"]["id"] = f"gone-{stack.name}"
    stack.publish()
    done = stack.run("submit", "hello")
    assert done.code == 4 and "error: cluster cpu is gone" in done.err and "make up STACK=" in done.err
    planned = stack.run("submit", "hello", "--dry-run")
    assert (planned.code, planned.err) == (4, done.err) and planned.json["labels"]["slipway-template"] == "hello"
    pools = stack.well("pools")
    assert "GONE" in pools.out and "cpu is GONE" in pools.err and stack.jobs() == []


def test_a_full_pool_is_told_with_when_there_is_usually_room(moved: Stack, tmp_path: Path) -> None:  # N16
    """Jobs that ran for half an hour by the cloud's clock tell when those that run now are usually done."""
    stack, go = moved, tmp_path / "go"
    hello = ("submit", "hello", "--capacity", "pool")
    patient = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.05)"
    for _ in range(3):
        stack.well(*hello, "-p", f"code={patient}")
    stack.until(lambda: [job["state"] for job in stack.jobs()] == ["JOB_STATE_RUNNING"] * 3)
    stack.cloud.rest("POST", "/vertex-local/clock", {"advance": 1800})
    go.touch()
    stack.all_end()
    for _ in range(3):
        stack.well(*hello, "-p", f"code={SLEEP}")
    stack.until(lambda: [job["state"] for job in stack.jobs()[:3]] == ["JOB_STATE_RUNNING"] * 3)
    done = stack.run(*hello, "--output", "json")
    assert "; not before about" in done.json["verdict"]["text"], done.json["verdict"]["text"]
    assert "as such jobs usually run" in stack.run("jobs", "show", done.json["job"]["name"]).out
    planned = stack.run("submit", "hello", "--wait-for", "pool=30m", "--dry-run", "--output", "json")
    pool, *others = planned.json["earliestStarts"]
    assert (pool["by"], pool["jobsBefore"]) == ("pool cpu", 1) and 60 < pool["leastSeconds"] < 4000
    assert {other["leastSeconds"] for other in others} == {None}, "nothing was ever sent there"
    (line,) = (line for line in planned.err.splitlines() if "may start: " in line)
    assert line.lstrip().startswith("may start: pool cpu ") and line.endswith(f" · {others[-1]['by']} unknown")


def test_uncommitted_templates_are_told_wherever_what_a_job_comes_from_is(stack: Stack) -> None:  # N8
    stack.deploy("0a1b2c3", dirty=True)
    assert stack.well("submit", "hello").out.startswith("hello  @ 0a1b2c3-dirty  →  ")
    (job,) = stack.jobs()
    assert job["labels"]["slipway-commit-dirty"] == "true"
    assert "commit     0a1b2c3 with local changes" in stack.run("jobs", "show", job["displayName"]).out.splitlines()
    shown = stack.shown(job["displayName"])
    assert (shown["commit"], shown["dirty"], shown["code"]) == ("0a1b2c3", True, None)
    assert stack.run("templates", "show", "hello").out.splitlines()[0].endswith("  @ 0a1b2c3-dirty")
    assert f"not found in catalog {stack.name} @ 0a1b2c3-dirty" in stack.run("submit", "helo").err
    assert stack.run("templates", "--output", "json").json["catalog"]["dirty"] is True
