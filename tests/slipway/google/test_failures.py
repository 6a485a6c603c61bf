"""Refusals in words, with the role that is missing; and meanings of the words of the engine and its provider. # N4"""

import pytest

from slipway.google.credentials import LOGIN
from slipway.google.failures import (
    Answer,
    Call,
    Conflict,
    Denied,
    Exhausted,
    NotFound,
    Refused,
    Unauthenticated,
    Unavailable,
    Unserved,
    failure,
    role_for,
)
from slipway.google.provider_errors import meaning_of, meanings

CALL = Call("submit digits-1", "aiplatform.customJobs.create", "project p")


def test_a_full_disk_of_the_local_cloud_asks_for_room() -> None:
    error = failure(Call("submit it"), Answer(507, "RESOURCE_EXHAUSTED", "The disk is full: 3 MB are free at /state."))
    assert error.exit_code == 4 and "3 MB are free" in error.why and error.fix.startswith("make room on its disk")


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, Refused, 4),
        (401, Unauthenticated, 3),
        (403, Denied, 3),
        (404, NotFound, 4),
        (409, Conflict, 4),
        (412, Conflict, 4),
        (429, Exhausted, 5),
        (500, Unavailable, 4),
        (501, Unserved, 4),
        (503, Unavailable, 4),
    ],
)
def test_each_status_has_its_error_and_exit_code(status: int, kind: type, code: int) -> None:
    error = failure(CALL, Answer(status, "", "because"))
    assert type(error) is kind and error.exit_code == code and error.why == "because"
    assert error.what == "could not submit digits-1"


@pytest.mark.parametrize(
    ("permission", "role"),
    [
        ("aiplatform.customJobs.create", "roles/aiplatform.user"),
        ("aiplatform.persistentResources.create", "roles/aiplatform.admin"),
        ("aiplatform.persistentResources.list", "roles/aiplatform.viewer"),
        ("iam.serviceAccounts.actAs", "roles/iam.serviceAccountUser"),
        ("storage.objects.get", "roles/storage.objectViewer"),
        ("storage.objects.create", "roles/storage.objectCreator"),
        ("cloudquotas.quotas.get", "roles/cloudquotas.viewer"),
        ("some.other.permission", ""),
    ],
)
def test_the_least_role_is_named(permission: str, role: str) -> None:  # P5
    assert role_for(permission) == role


def test_a_denial_names_role_and_resource() -> None:  # P5
    message = (
        "Permission 'aiplatform.customJobs.create' denied on resource "
        "'//aiplatform.googleapis.com/projects/p' (or it may not exist)."
    )
    error = failure(CALL, Answer(403, "PERMISSION_DENIED", message))
    assert isinstance(error, Denied)
    assert error.role == "roles/aiplatform.user"
    assert error.fix == "ask for roles/aiplatform.user on project p"


def test_the_permission_that_was_denied_goes_before_the_one_expected() -> None:  # P5
    message = "You do not have permission to act as service_account: trainer@p.iam.gserviceaccount.com"
    error = failure(CALL, Answer(403, "PERMISSION_DENIED", message))
    assert error.role == "roles/iam.serviceAccountUser"
    assert error.fix == "ask for roles/iam.serviceAccountUser on trainer@p.iam.gserviceaccount.com"


@pytest.mark.parametrize("who", ["ada@company.example", "previewer@local-project.iam.gserviceaccount.com"])
def test_storages_words_are_understood_and_no_identity_is_taken_for_a_permission(who: str) -> None:  # P5
    message = f"{who} does not have storage.objects.get access to the Google Cloud Storage object."
    error = failure(Call("read the catalog", "storage.objects.get", "gs://c"), Answer(403, "", message))
    assert error.fix == "ask for roles/storage.objectViewer on gs://c"


def test_what_a_cloud_has_not_is_no_mistake_of_the_person() -> None:  # N4
    error = failure(CALL, Answer(501, "UNIMPLEMENTED", "the local cloud has no TPUs"))
    assert error.fix.startswith("trying again does not help") and "status.cloud" not in error.fix


def test_an_api_that_is_off_is_no_matter_of_roles() -> None:
    message = "Cloud Quotas API has not been used in project 1 before or it is disabled."
    assert "enable the API" in failure(CALL, Answer(403, "PERMISSION_DENIED", message)).fix


@pytest.mark.parametrize(
    ("answer", "proven"),
    [
        (Answer(400, "", ""), True),
        (Answer(429, "", ""), True),
        (Answer(408, "", ""), False),
        (Answer(500, "", ""), False),
        (Answer(502, "", ""), False),
        (Answer(501, "", ""), False),
        (Answer(501, "UNIMPLEMENTED", ""), True),
        (Answer(503, "UNAVAILABLE", ""), False),
        (Answer(503, "UNAVAILABLE", "", retry_after=5.0), True),
        (Answer(503, "", "", ({"@type": "type.googleapis.com/google.rpc.RetryInfo"},)), True),
    ],
)
def test_what_proves_that_nothing_was_done(answer: Answer, proven: bool) -> None:
    assert failure(CALL, answer).not_accepted is proven


PLUGIN = "was ended in the middle"
KMS = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
QUOTA = "The following quota metrics exceed quota limits: aiplatform.googleapis.com/custom_model_training_"
SMALL = "the limit of a quota is below what one job or cluster needs"
ASK = "slipway quota --request custom_model_training_"


REFUSED = "the provider's plugin was refused"
DENIED = "the cloud does not allow it to this identity"


@pytest.mark.parametrize(
    ("said", "what", "fix"),
    [
        ("\t* Error when reading 'x': googleapi: Error 401: invalid credentials.", "does not take this login", LOGIN),
        ('error: oauth2: "invalid_grant" "reauth related error (invalid_rapt)"', "does not take this login", LOGIN),
        ('* googleapi: Error 400: Bad Request: "invalid_grant"', "does not take this login", LOGIN),
        (
            "* googleapi: Error 403: Permission 'aiplatform.persistentResources.create' denied on resource 'x'",
            DENIED,
            "ask for roles/aiplatform.admin on x; then the same command again",
        ),
        ("* googleapi: Error 403: The caller does not have permission, forbidden", DENIED, "docs/ci.md"),
        ("* googleapi: Error 403: no", "the cloud refused it (403)", "no more is known than Google says there"),
        ("error: rpc error: code = PermissionDenied desc = 'useToDecrypt' denied", DENIED, "docs/ci.md"),
        ("* googleapi: Error 429: Quota exceeded for requests per minute.", "takes no more for now", "wait a minute"),
        (
            "* googleapi: Error 403: ci does not have storage.buckets.get access to the Google Cloud Storage bucket.",
            "this identity may not see that bucket, or it is another project's",
            "another workBucket or catalogBucket",
        ),
        ("* googleapi: Error 400: Permission denied on Cloud KMS key. Please ensure that", "may not use the key", KMS),
        (
            "* googleapi: Error 400: Permission 'cloudkms.cryptoKeyVersions.useToEncrypt' denied on resource 'k'.",
            "one of Google's own agents may not use the key",
            KMS,
        ),
        ('{"error": {"code": 429, "message": "' + QUOTA + 'nvidia_l4_gpus"}}', SMALL, f"{ASK}nvidia_l4_gpus=VALUE"),
        (f"google.api_core.exceptions.ResourceExhausted: 429 {QUOTA}tpu_v2", SMALL, f"{ASK}tpu_v2=VALUE"),
        (f"Training failed with: code: 8 message: {QUOTA}cpus", SMALL, f"{ASK}cpus=VALUE"),
        (
            "warning: Attempting to deploy or update resources with 1 pending operations from previous deployment.",
            "an earlier run was killed",
            "make refresh STACK=NAME ARGS=--clear-pending-creates",
        ),
        ("* googleapi: Error 503: It is unavailable.", "could not do it for now", "wait a few minutes"),
        ("* googleapi: got HTTP response code 502 with body: <html>", "could not do it for now", "https://status"),
        ("* googleapi: Error 507: The local cloud's disk is full.", "disk of this machine is full", "cache clear;"),
        ("error: write /x/stack.json: no space left on device", "disk of this machine is full", "make room"),
        ("* googleapi: Error 409: it exists", "the cloud refused it (409)", "if it is refused again, correct"),
        (
            "error: googleapi: Error 400: List of found errors:\t1.Field: a.pools[0].disk_spec; Message: too small.\t",
            "the cloud refused a value (400): a.pools[0].disk_spec",
            "correct a.pools[0].disk_spec, as the reason says",
        ),
        ("* googleapi: Error 400: Unknown region.", "refused a value (400)", "correct what the reason names"),
        (
            "* updating urn:x: googleapi: Error 409: The requested bucket name is not available. Try again., conflict",
            "a bucket of that name is somebody else's",
            "workBucket or catalogBucket of the workspace",
        ),
        ("error: incorrect passphrase, please set it", "can't be read without its own passphrase", "_PASSPHRASE=…"),
        ("error: get stack: passphrase must be set", "can't be read without its own passphrase", "as of this stack"),
        ("error: 403 HTTP error fetching plugin from https://github.com/x.gz", REFUSED, "export GITHUB_TOKEN=…"),
        (
            "error: gcp-9.1.0: 407 HTTP error fetching plugin from https://get.pulumi.com/releases/plugins/x.tar.gz",
            "was not sent by get.pulumi.com, or by a proxy",
            "see that this machine may download from get.pulumi.com",
        ),
        ("E0604] GitHub rate limit exceeded for https://api.github.com/repos/x, in 9m", REFUSED, "or wait an hour"),
        ("error: Error code 8, message: Resources are insufficient in region: r.", "no such machines", "docs/scarce"),
        ("error: Preview failed: error reading from server: EOF", PLUGIN, "the same command again"),
        ('error: connection error: desc = "dial tcp 127.0.0.1:1: connection refused"', PLUGIN, "same command"),
        ("error: Detected that /x/pulumi-resource-gcp exited prematurely.", PLUGIN, "too little memory"),
        ("error: program exited with non-zero exit code: -1", PLUGIN, "the same command again"),
        ('* Post "https://storage.googleapis.com/x": dial tcp: no such host', "was cut", "see that the network is"),
        ('* Get "https://x": http2: client connection lost', "was cut", "see that the network is"),
        ("write tcp 10.0.0.1:4->1.2.3.4:443: write: broken pipe", "was cut", "see that the network is"),
        ("* connect: no route to host", "was cut", "see that the network is"),
        (
            "ConnectionError: HTTPSConnectionPool(host='x'): Max retries exceeded with url: /",
            "was cut",
            "the network is",
        ),
        ("<urlopen error [Errno -3] Temporary failure in name resolution>", "was cut", "see that the network is"),
        ('oauth2: cannot fetch token: Post "https://x": dial tcp: lookup x: no such host', "was cut", "the network is"),
        ('Get "https://x": tls: failed to verify certificate: x509: certificate signed', "not trust", "SSL_CERT_FILE"),
        ('oauth2: Get "https://x": x509: certificate signed by unknown', "not trust", "REQUESTS_CA_BUNDLE"),
        ('Get "https://x": proxyconnect tcp: dial tcp 10.1.1.1:3128: i/o timeout', "the proxy did not", "HTTPS_PROXY"),
        ('* Get "http://127.0.0.1:8470/v1/x": EOF', "the connection to the cloud was cut", "vertex-local up"),
        (
            "* Error waiting to create: timeout while waiting for it",
            "was not done with it in time",
            "same command again",
        ),
        (
            "error: previously-imported resources that still specify an ID may not be replaced; please remove the x",
            "told to replace a resource",
            "pulumi state untaint",
        ),
        (
            "error: resource urn:pulumi:a::b::c::d violates plan: properties changed: ++content[x]",
            "the saved plan does not allow it",
            "pulumi up without --plan",
        ),
        (
            "error: import is not allowed by the plan: this resource is constrained to create",
            "the saved plan does not allow it",
            "pulumi up without --plan",
        ),
        (
            "error: Resource 'urn:a' depends on 'urn:b' which was was not specified in --target list.",
            "--target left out a resource",
            "pulumi up without --target",
        ),
        (
            "error: Target 'urn:a' could not be found in the stack.",
            "names a resource that the state does not have",
            "pulumi up without the flag",
        ),
        (
            'error: before hook: hook "slipway-guard-v1" was not registered',
            "without the program, which guards running jobs",
            "pulumi destroy --run-program",
        ),
        ("error: no stack named 'dev' found", "no stack dev of this Pulumi project", "`pulumi stack ls --all`"),
        (
            "error: Resource has delete hooks registered, but the program is not running. Hooks: slipway-guard-v1",
            "without the program, which guards running jobs",
            "or make destroy",
        ),
        (
            "error: You must run with the `--run-program` flag to use delete hooks during destroy.",
            "without the program, which guards running jobs",
            "or make destroy",
        ),
        ("googleapi: Error 400: RANGES_EXHAUSTED: no range", "no free addresses", "reservedIpRanges"),
        ("error: the stack is currently locked by 1 lock(s)", "another run has this stack", "docs/runbook.md"),
        ("error: failed to load checkpoint: place 1: unexpected EOF", "the state's file was cut off", "make room"),
        ("    error: unexpected end of JSON input", "the stack's lock was cut off", "docs/runbook.md"),
    ],
)
def test_each_is_understood(said: str, what: str, fix: str) -> None:
    (meaning,) = meanings(said.splitlines(), {})
    assert what in meaning.what and fix in meaning.fix
    assert meaning.why in said, "the words themselves"
    assert not meaning.why.startswith(("*", "error:", "Preview failed"))


def test_a_stock_out_that_a_deployment_waits_out_is_no_error() -> None:  # N2
    said = "warning: cluster h100-1a2b3c4 ended in ERROR: Resources are insufficient in region: r; trying again"
    assert meanings([said], {}) == ()


def test_metrics_on_lines_of_their_own_belong_to_the_error() -> None:
    metrics = QUOTA.partition("aiplatform")[0], "- aiplatform.googleapis.com/custom_model_training_cpus"
    (meaning,) = meanings(["Error 429: RESOURCE_EXHAUSTED", metrics[0], metrics[1]], {})
    assert f"{ASK}cpus=VALUE" in meaning.fix and "custom_model_training_cpus" in meaning.why


def test_colors_are_no_words() -> None:
    (meaning,) = meanings(["    \x1b[31m* googleapi: Error 409: it \x1b[1mexists\x1b[0m"], {})
    assert meaning.why == "it exists"


def test_in_a_workflow_a_new_run_is_a_new_login() -> None:
    (meaning,) = meanings(["googleapi: Error 401: expired"], {"GITHUB_ACTIONS": "true"})
    assert "re-run the failed jobs" in meaning.fix and LOGIN not in meaning.fix


def test_one_way_out_is_named_once_in_the_order_of_the_log() -> None:
    log = ["googleapi: Error 503: busy", "googleapi: Error 401: old", "googleapi: Error 503: busier", "all is well"]
    assert [meaning.why for meaning in meanings(log, {})] == ["busy", "old"]


def test_an_error_that_nobody_knows_is_repeated_with_where_to_look() -> None:
    meaning = meaning_of("updating urn:x: 1 error occurred:\n\t* the moon is full\n\n", {})
    assert meaning.why == "the moon is full" and "docs/runbook.md" in meaning.fix
    assert len(meaning_of("x" * 5000, {}).why) < 400
