"""What the engine's and the provider's words mean: each as it was printed, and what is to be done. # N4"""

import pytest

from slipway.cloud.credentials import LOGIN
from slipway.cloud.foreign_words import ON_ERROR, meaning_of, meanings

PLUGIN = "was ended in the middle"


@pytest.mark.parametrize(
    ("said", "what", "fix"),
    [
        (
            "    \t* Error when reading or editing Bucket 'x': googleapi: Error 401: Request had invalid credentials.",
            "the cloud does not take this login any more",
            LOGIN,
        ),
        ('error: oauth2: "invalid_grant" "reauth related error (invalid_rapt)"', "does not take this login", LOGIN),
        (
            "* googleapi: Error 403: Permission 'aiplatform.persistentResources.create' denied on resource 'x'",
            "the cloud does not allow it to this identity",
            "ask for roles/aiplatform.admin on x; then the same command again",
        ),
        ("* googleapi: Error 403: no", "does not allow it", "docs/ci.md"),
        ("* googleapi: Error 429: Quota exceeded for requests per minute.", "takes no more for now", "wait a minute"),
        (
            "* googleapi: Error 503: The service is currently unavailable.",
            "could not do it for now",
            "wait a few minutes",
        ),
        (
            "* googleapi: got HTTP response code 502 with body: <html>",
            "could not do it for now",
            "https://status.cloud.google.com",
        ),
        (
            "* googleapi: Error 507: The local cloud's disk is full.",
            "a disk of this machine is full",
            "cache clear; then",
        ),
        ("error: write /x/stack.json: no space left on device", "a disk of this machine is full", "make room"),
        ("* googleapi: Error 409: it exists", "the cloud refused it (409)", "if it is refused again, correct"),
        (
            "error: googleapi: Error 400: List of found errors:\t1.Field: a.pools[0].disk_spec; Message: too small.\t",
            "the cloud refused a value (400): a.pools[0].disk_spec",
            "correct a.pools[0].disk_spec in the stack file, as the reason says",
        ),
        ("* googleapi: Error 400: Unknown region.", "refused a value (400)", "correct in the stack file what"),
        ('* googleapi: Error 400: Bad Request: "invalid_grant"', "does not take this login", LOGIN),
        (
            "* updating urn:x: googleapi: Error 409: The requested bucket name is not available. Try again., conflict",
            "a bucket of that name is somebody else's",
            "workBucket or catalogBucket under slipway:workspace",
        ),
        (
            "error: failed to decrypt: incorrect passphrase, please set PULUMI_CONFIG_PASSPHRASE to the correct one",
            "can't be read without its own passphrase",
            "export PULUMI_CONFIG_PASSPHRASE=…",
        ),
        (
            "error: get stack secrets manager: passphrase must be set with PULUMI_CONFIG_PASSPHRASE or a file",
            "can't be read without its own passphrase",
            "PULUMI_CONFIG_PASSPHRASE_FILE, as of this stack",
        ),
        (
            "error: failed to download plugin: gcp-9.0.0: 403 HTTP error fetching plugin from https://get.pulumi.com/x",
            "the provider's plugin was refused",
            "export GITHUB_TOKEN=…",
        ),
        (
            "E0604 log.go:90] GitHub rate limit exceeded for https://api.github.com/repos/pulumi/x, try again in 9m",
            "the provider's plugin was refused",
            "or wait an hour",
        ),
        (
            "error: Error waiting to create it: Error code 8, message: Resources are insufficient in region: us-east1.",
            "Google has no such machines free there for now",
            "docs/scarce-machines.md",
        ),
        (
            "error: rpc error: code = PermissionDenied desc = 'cloudkms.cryptoKeyVersions.useToDecrypt' denied",
            "does not allow it to this identity",
            "docs/ci.md",
        ),
        ("error: Preview failed: error reading from server: EOF", PLUGIN, "the same command again"),
        (
            'error: connection error: desc = "transport: Error dialing: dial tcp 127.0.0.1:1: connection refused"',
            PLUGIN,
            "the same command again",
        ),
        ("error: Detected that /x/pulumi-resource-gcp exited prematurely.", PLUGIN, "too little memory"),
        (
            "error: an unhandled error occurred: program exited with non-zero exit code: -1",
            PLUGIN,
            "the same command again",
        ),
        (
            '* Post "https://storage.googleapis.com/x": dial tcp: lookup storage.googleapis.com: no such host',
            "the connection to the cloud was cut",
            "see that the network is there; then the same command again",
        ),
        ('* Get "http://127.0.0.1:8470/v1/x": EOF', "the connection to the cloud was cut", "python -m local up"),
        (
            "* Error waiting to create PersistentResource: timeout while waiting for state to become 'done: true'",
            "the cloud was not done with it in time",
            "the same command again",
        ),
        ("error: the stack is currently locked by 1 lock(s)", "another run has this stack", "docs/runbook.md"),
        (
            "error: failed to load checkpoint: place 1: unexpected end of JSON input",
            "the state's file was cut off",
            "put a whole copy in its place",
        ),
        (
            "error: getting snapshot: failed to load checkpoint: place 1: unexpected EOF",
            "the state's file was cut off",
            "make room",
        ),
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


def test_the_engine_does_not_cut_what_every_stack_says() -> None:
    assert len(ON_ERROR) <= 150
