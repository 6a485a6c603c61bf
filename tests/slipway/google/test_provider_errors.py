"""Meanings of the words of the engine and of its provider. # N4"""

from __future__ import annotations

import pytest

from slipway.google.credentials import LOGIN
from slipway.google.provider_errors import ON_ERROR, meaning_of, meanings

PLUGIN = "was ended in the middle"


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
        ("* googleapi: Error 403: no", DENIED, "docs/ci.md"),
        ("error: rpc error: code = PermissionDenied desc = 'useToDecrypt' denied", DENIED, "docs/ci.md"),
        ("* googleapi: Error 429: Quota exceeded for requests per minute.", "takes no more for now", "wait a minute"),
        ("* googleapi: Error 503: It is unavailable.", "could not do it for now", "wait a few minutes"),
        (
            "* googleapi: got HTTP response code 502 with body: <html>",
            "could not do it for now",
            "https://status.cloud",
        ),
        (
            "* googleapi: Error 507: The local cloud's disk is full.",
            "disk of this machine is full",
            "cache clear; then",
        ),
        ("error: write /x/stack.json: no space left on device", "disk of this machine is full", "make room"),
        ("* googleapi: Error 409: it exists", "the cloud refused it (409)", "if it is refused again, correct"),
        (
            "error: googleapi: Error 400: List of found errors:\t1.Field: a.pools[0].disk_spec; Message: too small.\t",
            "the cloud refused a value (400): a.pools[0].disk_spec",
            "correct a.pools[0].disk_spec in the stack file, as the reason says",
        ),
        ("* googleapi: Error 400: Unknown region.", "refused a value (400)", "correct in the stack file what"),
        (
            "* updating urn:x: googleapi: Error 409: The requested bucket name is not available. Try again., conflict",
            "a bucket of that name is somebody else's",
            "workBucket or catalogBucket under slipway:workspace",
        ),
        ("error: incorrect passphrase, please set it", "can't be read without its own passphrase", "_PASSPHRASE=…"),
        ("error: get stack: passphrase must be set", "can't be read without its own passphrase", "as of this stack"),
        ("error: 403 HTTP error fetching plugin from https://get", REFUSED, "export GITHUB_TOKEN=…"),
        ("E0604] GitHub rate limit exceeded for https://api.github.com/repos/x, in 9m", REFUSED, "or wait an hour"),
        ("error: Error code 8, message: Resources are insufficient in region: r.", "no such machines", "docs/scarce"),
        ("error: Preview failed: error reading from server: EOF", PLUGIN, "the same command again"),
        ('error: connection error: desc = "dial tcp 127.0.0.1:1: connection refused"', PLUGIN, "same command"),
        ("error: Detected that /x/pulumi-resource-gcp exited prematurely.", PLUGIN, "too little memory"),
        ("error: program exited with non-zero exit code: -1", PLUGIN, "the same command again"),
        ('* Post "https://storage.googleapis.com/x": dial tcp: no such host', "was cut", "see that the network is"),
        ('* Get "http://127.0.0.1:8470/v1/x": EOF', "the connection to the cloud was cut", "vertex-local up"),
        (
            "* Error waiting to create: timeout while waiting for it",
            "was not done with it in time",
            "same command again",
        ),
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
