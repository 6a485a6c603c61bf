"""`slipway submit` on a real local cloud: what runs, what is shown, and what is refused before anything is sent."""

import json
import re
import signal

import pytest
from syrupy.assertion import SnapshotAssertion

from .stack import PROJECT, REGION, SLEEP, UNSET, Stack, held


def test_a_job_is_submitted_followed_and_accounted_for(
    snapshot: SnapshotAssertion, stack: Stack
) -> None:  # D4, P1, B1, B4
    done = stack.run("submit", "hello", "-p", "code=print('out of the job')", "--follow")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == snapshot
    assert lines[1] == (snapshot)
    assert re.fullmatch(r"job hello-[a-z2-7]{8}  projects/\d+/locations/us-central1/customJobs/\d+", lines[2])
    assert "main  out of the job" in lines
    assert re.search(r"succeeded: started after [\d.]+ s, ran [\d.]+ s, its machines cost (under )?\$0\.\d+", done.err)


def test_each_role_of_a_distributed_job_is_told_apart(stack: Stack) -> None:  # P4
    code = "import os, json; t = json.loads(os.environ['CLUSTER_SPEC'])['task']; print('I am', t['type'], t['index'])"
    done = stack.run("submit", "crew", "-p", "workers=2", "-p", f"code={code}; import time; time.sleep(2)", "--follow")
    assert done.code == 0, done.err
    assert {"scheduler  I am workerpool0 0", "workers-0  I am workerpool1 0", "workers-1  I am workerpool1 1"} <= set(
        done.out.splitlines()
    )


def test_json_stands_alone_on_stdout(stack: Stack) -> None:
    done = stack.run("submit", "hello", "--output", "json")
    assert done.json["schema"] == 2 and done.json["kind"] == "submission"
    assert done.json["fresh"] is True and done.json["verdict"]["outcome"] == "starts-now"
    job = done.json["job"]
    assert job["requestId"] == done.json["requestId"] and job["user"] == "ada" and job["commit"] == "3f9c2e1"
    assert job["output"] == f"gs://w-{stack.name}/jobs/{job['displayName']}"
    assert job["workerPools"][0]["role"] == "main"


def test_json_of_a_followed_job_is_its_end_and_the_log_is_beside_it(stack: Stack) -> None:
    done = stack.run("submit", "hello", "--follow", "--output", "json")
    assert done.json["job"]["state"] == "JOB_STATE_SUCCEEDED" and done.json["job"]["waitSeconds"] >= 0
    assert "main  hello" in done.err


def test_a_dry_run_prints_what_would_be_sent_and_sends_nothing(stack: Stack) -> None:
    words = ("submit", "crew", "-p", "workers=2", "-p", "code=print(1)", "--request-id", "dry-1")
    printed = stack.run(*words, "--dry-run")
    assert printed.code == 0 and stack.jobs() == []
    assert stack.run(*words).code == 0
    sent, request = stack.jobs()[0], json.loads(printed.out)
    assert request["displayName"] == sent["displayName"] and request["labels"] == sent["labels"]
    assert [pool["replicaCount"] for pool in request["jobSpec"]["workerPoolSpecs"]] == [1, 2]
    for asked, got in zip(request["jobSpec"]["workerPoolSpecs"], sent["jobSpec"]["workerPoolSpecs"], strict=True):
        assert asked["containerSpec"] == got["containerSpec"] and asked["machineSpec"] == got["machineSpec"]


def test_a_dry_run_as_json_is_a_document_with_the_request_in_it(stack: Stack) -> None:
    words = ("submit", "hello", "--request-id", "dry-2", "--dry-run")
    found = stack.run(*words, "--output", "json").json
    assert (found["schema"], found["kind"], found["requestId"]) == (2, "submission-plan", "dry-2")
    assert found["request"] == stack.run(*words).json
    refused = stack.run("submit", "crew", "-p", "workers=40", "--capacity", "pool", "--dry-run", "--output", "json")
    assert refused.code == 5 and refused.json["kind"] == "submission-plan"


@pytest.mark.parametrize("trouble", ["a cluster that is gone", "no answer"])
def test_a_dry_run_ends_as_the_sending_would_and_prints_the_request(stack: Stack, trouble: str) -> None:
    """Where no answer came it ended well, and the sending failed; of a cluster that is gone it printed no request."""
    variables = {}
    if trouble == "no answer":
        variables["GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT"] = "http://127.0.0.1:1/v1beta1/"
    else:
        stack.catalog["clusters"]["cpu"]["id"] = "gone"
        stack.publish()
    words = ("submit", "hello", "--capacity", "pool")
    sent, planned = stack.run(*words, **variables), stack.run(*words, "--dry-run", **variables)
    assert sent.code == planned.code != 0 and planned.json["labels"]["slipway-template"] == "hello"
    assert sent.err == planned.err and stack.jobs() == []


@pytest.mark.parametrize(
    ("words", "what", "fix"),
    [
        (("submit", "hello", "--capacity"), "requires an argument", "fix: slipway submit --help"),
        (("jobs", "list", "--user"), "requires an argument", "fix: slipway jobs list --help"),
        (("submit", "hello", "--capacity", "pools"), "did you mean pool?", "fix: --capacity pool"),
        (("submit", "hello", "--capacity", "POOL"), "did you mean pool?", "fix: --capacity pool"),
        (("submit", "hello", "--wait-for", "pool=1s", "--then", "sport"), "did you mean spot?", "fix: --then spot"),
        (("submit", "hello", "--wait-for", "pool=5m", "--then", "pool"), "comes twice", "name each type once"),
        (("submit", "helo"), "'helo' not found", "fix: slipway submit hello …"),
        (("submit", "hello", "--request-id", "A"), "request id 'A'", "fix: --request-id nightly-2026-11-20, for"),
    ],
)
def test_what_is_wrong_gets_the_words_to_type(stack: Stack, words: tuple[str, ...], what: str, fix: str) -> None:
    done = stack.run(*words)
    assert done.code == 2 and what in done.err and fix in done.err


@pytest.mark.parametrize("flag", ["--capacity", "--then", "--code", "--catalog", "--sweep"])
def test_empty_text_is_no_choice_and_refused(stack: Stack, flag: str) -> None:
    """In a script it is a variable that nobody set, and to leave the flag out means something else."""
    done = stack.run("submit", "hello", flag, "")
    assert done.code == 2 and f"'{flag}': it is empty" in done.err and stack.jobs() == []


def test_values_without_end_are_not_repeated_whole(stack: Stack) -> None:
    words = ("submit", "hello", "--request-id", "long-1")
    assert stack.run(*words, "-p", f"code=print(1)#{'a' * 30_000}").code == 0
    again = stack.run(*words, "-p", f"code=print(1)#{'b' * 30_000}")
    assert again.code == 2 and "used before" in again.err and len(again.err) < 2_000
    for wrong in (
        ("submit", "x" * 5_000),
        ("jobs", "show", "x" * 5_000),
        ("submit", "crew", "-p", "workers=" + "9" * 5_000),
    ):
        done = stack.run(*wrong)
        assert done.code in (2, 4) and len(done.err) < 1_000


def test_a_growing_pool_says_what_it_adds(stack: Stack) -> None:  # P3, B2
    done = stack.run("submit", "crew", "-p", "workers=2")
    assert "scales up: cpu/workers" in done.out and "grows 1 → 3" in done.out and "(adds $0.49/h" in done.out


def test_a_full_pool_says_who_has_it_and_the_job_waits_with_a_reason(stack: Stack) -> None:  # P3, N9
    holder = held(stack)
    done = stack.run("submit", "hello", "--wait", "--timeout", "2")
    assert f"3 machines busy with {holder} (ada, " in done.out
    assert "waiting 0:00  pool full: cpu/workers" in done.err and f"3 machines busy with {holder}" in done.err
    assert done.code == 9 and "has not ended after 2" in done.err


def test_what_can_never_run_is_not_sent(snapshot: SnapshotAssertion, stack: Stack) -> None:  # P3
    done = stack.run("submit", "crew", "-p", "workers=9", "--capacity", "pool")
    assert done.code == 5 and stack.jobs() == []
    assert done.err.splitlines()[:2] == snapshot


def test_what_no_offer_can_run_says_why_of_each(snapshot: SnapshotAssertion, stack: Stack) -> None:  # N3, P3
    done = stack.run("submit", "crew", "-p", "workers=9")
    assert done.code == 5 and stack.jobs() == []
    assert done.err.splitlines()[:3] == snapshot


def test_a_shape_that_no_pool_has_is_shown_field_by_field(stack: Stack) -> None:  # P2
    request = stack.catalog["templates"]["hello"]["offers"][0]["request"]
    request["jobSpec"]["workerPoolSpecs"][0]["diskSpec"] = {"bootDiskType": "pd-standard", "bootDiskSizeGb": 100}
    stack.publish()
    done = stack.run("submit", "hello")
    assert done.code == 5 and stack.jobs() == []
    assert "disk pd-standard 100 GB, where the nearest" in done.err and "pool workers has pd-ssd 100 GB" in done.err


def test_a_failed_job_ends_a_wait_with_its_error(stack: Stack) -> None:
    done = stack.run("submit", "hello", "-p", "code=raise SystemExit(3)", "--wait")
    assert done.code == 4
    assert "a non-zero status of 3" in done.err


def test_a_cancelled_job_ends_a_wait(stack: Stack) -> None:
    with stack.started("submit", "hello", "-p", f"code={SLEEP}", "--wait") as waiting:
        stack.until(lambda: bool(stack.jobs()))
        stack.cancel_all()
        assert waiting.wait() == 8


def test_ctrl_c_detaches_and_never_cancels(stack: Stack) -> None:
    with stack.started("submit", "hello", "-p", f"code={SLEEP}", "--follow") as following:
        stack.until(lambda: any(job["state"] == "JOB_STATE_RUNNING" for job in stack.jobs()))
        assert following.stdout is not None and following.stderr is not None
        while "begun" not in (line := following.stdout.readline()):
            assert line, following.stderr.read()
        following.send_signal(signal.SIGINT)
        assert following.wait() == 130
        said = following.stderr.read()
    name = stack.jobs()[0]["displayName"]
    assert f"with: slipway jobs logs {name} --follow" in said and "Traceback" not in said
    assert stack.jobs()[0]["state"] == "JOB_STATE_RUNNING"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("submit", "helo"), "fix: slipway submit hello …"),
        (("submit", "crew", "-p", "wrkers=2"), "unknown parameter wrkers; did you mean workers?"),
        (("submit", "crew", "-p", "workers=many"), "workers=many is not a whole number, 1 to 50"),
        (("submit", "crew", "-p", "workers=51"), "workers=51 is out of bounds: 1 to 50"),
        (("submit", "crew", "-p", "workers"), "'workers' is not name=value"),
        (("submit", "hello", "--capacity", "flex-start"), "hello has no capacity type 'flex-start'"),
        (("submit", "hello", "--as", "training-pipeline"), "hello can't be submitted as a training-pipeline"),
        (("submit", "hello", "--as", "ray-job"), "Invalid value for '--as'"),
        (("submit", "hello", "--wait-for", "pool"), "invalid wait 'pool'"),
        (("submit", "hello", "--wait-for", "pool=soon"), "invalid duration"),
        (("submit", "hello", "--wait-for", "pool=0"), "invalid duration"),
        (("submit", "hello", "--wait-for", "pool=5m", "--wait-for", "spot=5m"), "there is nothing to move on to"),
        (("submit", "hello", "--wait-for", "pool=5m", "--then", "on-demand"), "hello has no capacity type 'on-demand'"),
        (("submit", "hello", "--wait-for", "pool=5m", "--then", "pool"), "comes twice"),
        (("submit", "hello", "--capacity", "pool", "--then", "spot"), "capacity pool is the only type to use"),
        (("submit", "hello", "--rate", "5"), "--rate is for sweeps"),
        (("submit", "hello", "--retry-failed"), "--retry-failed is for sweeps"),
        (("submit", "hello", "--experiment", "digits"), "hello belongs to no experiment"),
        (("submit", "hello", "--experiment-run", "A b"), "invalid --experiment-run 'A b'"),
        (("submit", "hello", "--format", "gcloud"), "--format gcloud prints a request"),
        (("submit", "hello", "--capacity", "pol"), "its capacity types are pool, spot"),
        (("submit", "hello", "--sweep", "a=1,2"), "no suffix is not .yaml, .json or .csv"),
        (("submit", "hello", "--sweep", "gone.yaml"), "can't read gone.yaml\n  why: No such file or directory\n"),
        (("submit", "hello", "--timeout", "5m"), "add --wait or --follow"),
        (("submit", "hello", "--wait", "--timeout", "soon"), "invalid duration"),
        (("submit", "hello", "--wait", "--dry-run"), "--dry-run sends nothing"),
        (("submit", "hello", "--request-id", "A B"), "invalid request id"),
        (("submit", "hello", "--catalog", "bucket"), "not a Cloud Storage address"),
        (("submit", "hello", "--no-such-flag"), "No such option"),
        (("submit",), "Missing argument 'TEMPLATE'"),
    ],
)
def test_a_persons_mistake_is_told_with_exit_2_and_nothing_is_sent(
    stack: Stack, words: tuple[str, ...], said: str
) -> None:
    done = stack.run(*words)
    assert done.code == 2 and said in done.err and "Traceback" not in done.err
    assert done.err.startswith("error: ") and "\n  fix: " in done.err
    assert stack.jobs() == []


def test_a_required_parameter_is_asked_for(stack: Stack) -> None:
    del stack.catalog["templates"]["hello"]["parameters"][0]["default"]
    stack.publish()
    done = stack.run("submit", "hello")
    assert done.code == 2 and "code is missing: a string" in done.err


def test_a_missing_catalog_says_who_chose_it(stack: Stack) -> None:
    done = stack.run("submit", "hello", "--catalog", "gs://no-such-bucket-anywhere")
    assert done.code == 2 and "no catalog at gs://no-such-bucket-anywhere/catalog.json" in done.err
    assert "chosen by its address" in done.err and "choose another catalog: --catalog gs://BUCKET" in done.err


@pytest.mark.parametrize("content", [b"", b"{", b'{"schema": 2}', b"\xff\xfe"])
def test_an_unreadable_catalog_is_named(stack: Stack, content: bytes) -> None:
    stack.publish(content)
    done = stack.run("submit", "hello")
    assert done.code == 2 and f"the catalog {stack.address}/catalog.json can't be read" in done.err


def test_a_newer_catalog_says_to_update(stack: Stack) -> None:
    stack.publish(json.dumps({**stack.catalog, "schema": 3}).encode())
    done = stack.run("submit", "hello")
    assert done.code == 2 and "update slipway" in done.err


def test_a_template_that_only_a_newer_version_understands_says_so_and_the_others_are_submitted(stack: Stack) -> None:
    stack.catalog["templates"]["newer"] = {**stack.catalog["templates"]["hello"], "summary": {"en": "x"}}
    stack.publish()
    done = stack.run("submit", "newer")
    assert done.code == 2 and "template newer of the catalog" in done.err and "update slipway" in done.err
    assert "templates.newer.summary is {'en': 'x'}, where a string is expected" in done.err
    assert "can't be read: slipway templates show newer" in stack.run("templates").out
    assert stack.run("submit", "hello").code == 0


def test_no_catalog_chosen(stack: Stack) -> None:
    done = stack.run("submit", "hello", SLIPWAY_CATALOG=UNSET)
    assert done.code == 2 and "no catalog chosen" in done.err and "slipway use" in done.err


def test_no_credentials(stack: Stack) -> None:
    nowhere = {"HOME": str(stack.folder), "CLOUDSDK_CONFIG": str(stack.folder), "NO_GCE_CHECK": "true"}
    done = stack.run("submit", "hello", GOOGLE_OAUTH_ACCESS_TOKEN=UNSET, **nowhere)
    assert done.code == 3 and "no usable Google Cloud credentials" in done.err and "gcloud auth" in done.err


def test_a_token_that_is_not_valid(stack: Stack) -> None:
    done = stack.run("submit", "hello", GOOGLE_OAUTH_ACCESS_TOKEN="stale")
    assert done.code == 3 and "log in again" in done.err and "stale" not in done.err


def test_without_the_role_to_read_the_catalog_it_is_named(stack: Stack) -> None:  # P5
    stack.may_read_catalog(False)
    done = stack.run("submit", "hello")
    assert done.code == 3 and "roles/storage.objectViewer" in done.err and f"gs://c-{stack.name}" in done.err


def test_without_the_role_to_submit_it_is_named(stack: Stack) -> None:  # P5
    stack.grant("roles/aiplatform.user", False)
    try:
        done = stack.run("submit", "hello")
    finally:
        stack.grant("roles/aiplatform.user")
    assert done.code == 3 and "for roles/aiplatform.user on project slipway-local" in done.err
    assert "cannot tell whether it starts" in done.out


def test_without_the_role_to_act_as_the_trainer_it_is_named(stack: Stack) -> None:  # P5
    stack.act_as_trainer(False)
    done = stack.run("submit", "hello")
    assert done.code == 3 and f"ask for roles/iam.serviceAccountUser on {stack.trainer}" in done.err
    assert stack.jobs() == []


@pytest.mark.parametrize(("role", "code"), [("submitter", 3), ("deployer", 4)])
def test_a_trainers_account_that_was_deleted_is_made_again_by_a_deployment(stack: Stack, role: str, code: int) -> None:
    """Who may act as it learns that it is gone; the others can't be told, and were told to ask for a role alone."""
    stack.cloud.rest("DELETE", f"/v1/projects/{PROJECT}/serviceAccounts/{stack.trainer}")
    done = stack.run("submit", "hello", role=role)
    assert done.code == code and stack.jobs() == []
    assert f"deleted: pulumi up --stack {stack.name}, which makes it" in done.err
    found = {one["id"]: one for one in stack.run("doctor", "--output", "json", role="deployer").json["findings"]}
    assert found["resource-gone"]["sentence"] == f"account {stack.trainer} is not there any more"
    assert found["resource-gone"]["mend"] == f"pulumi up --stack {stack.name}"
    assert stack.trainer not in found.get("role-missing", {"sentence": ""})["sentence"]


def test_a_cluster_that_is_gone(stack: Stack) -> None:
    stack.delete_cluster()
    done = stack.run("submit", "hello")
    assert done.code == 4 and "error: cluster cpu is gone" in done.err and "pulumi up --stack" in done.err
    assert stack.jobs() == []


def test_a_cluster_in_error(stack: Stack) -> None:
    stack.cloud.rest("POST", "/slipway/settings", {"create_error": "broken-"})
    try:
        stack.make_cluster(cluster=f"broken-{stack.name}")
    finally:
        stack.cloud.rest("POST", "/slipway/settings", {"create_error": ""})
    stack.catalog["clusters"]["cpu"]["id"] = f"broken-{stack.name}"
    stack.publish()
    done = stack.run("submit", "hello")
    assert done.code == 4 and "cluster cpu is in ERROR" in done.err
    assert "Resources are insufficient in region" in done.err and stack.jobs() == []
    typed = f"reboot broken-{stack.name} --region={REGION} --project={PROJECT}, which keeps its id"
    fix = f"  fix: pulumi up --stack {stack.name}, or gcloud ai persistent-resources {typed}"
    assert fix in stack.run("pools").err


@pytest.mark.parametrize("service", ["STORAGE", "VERTEX_AI"])
def test_nothing_answers_at_the_endpoint(stack: Stack, service: str) -> None:
    done = stack.run("submit", "hello", **{f"GOOGLE_{service}_CUSTOM_ENDPOINT": "http://127.0.0.1:9/v1/"})
    assert done.code == 1 and "answers at http://127.0.0.1:9 (connection refused)" in done.err


def test_an_endpoint_that_is_another_service(stack: Stack) -> None:
    done = stack.run("submit", "hello", GOOGLE_STORAGE_CUSTOM_ENDPOINT=f"{stack.cloud.url}/v2/")
    assert done.code in (2, 4) and "Traceback" not in done.err
