"""What `slipway submit` refuses: in words, with the documented exit code, and without sending anything. (D4, P5)"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkouts.checkout import Checkout
from tests.checkouts.shell import Done

pytestmark = [pytest.mark.journey, pytest.mark.usefixtures("nothing_sent")]

HELLO = ("submit", "nap", "-p", "say=hello")


@pytest.fixture
def nothing_sent(deployed: Checkout) -> Iterator[None]:
    """Fails when the test made a job, or left a note that one may have been made."""
    jobs, before = len(deployed.jobs()), deployed.journal()
    yield
    assert len(deployed.jobs()) == jobs
    states = {json.loads(note.read_text())["state"] for note in deployed.journal() if note not in before}
    assert states <= {"refused"}


@pytest.fixture(scope="module")
def nowhere() -> Iterator[str]:
    """An address on which nothing answers: the port is held, and nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


def refused(done: Done, code: int, *words: str) -> None:
    assert done.code == code, done.said
    assert done.out == ""
    assert done.err.splitlines()[-1].startswith("  fix: "), done.err
    assert "Traceback" not in done.err
    for word in ("error: ", "  why: ", *words):
        assert word in done.err, f"{word!r} is not in:\n{done.err}"


def test_an_unknown_template_gets_a_suggestion(deployed: Checkout) -> None:
    done = deployed.slipway("submit", "nip")
    refused(done, 2, "template 'nip' not found in catalog trial", "the catalog has nap", "slipway submit nap")


def test_everything_wrong_with_parameters_is_said_at_once(deployed: Checkout) -> None:
    done = deployed.slipway("submit", "nap", "-p", "secnds=1", "-p", "seconds=long", "-p", "end=somehow")
    refused(
        done,
        2,
        "nap: 4 parameters wrong",
        "unknown parameter secnds; did you mean seconds?",
        "say is missing: a string",
        "seconds=long is not a number, 0 to 600",
        "end=somehow is not one of well, badly",
        "slipway templates show nap",
    )


def test_a_catalog_that_is_not_there_is_named_with_who_chose_it(deployed: Checkout) -> None:
    done = deployed.slipway(*HELLO, "--catalog", "gs://slipway-local-nowhere")
    refused(done, 2, "no catalog at gs://slipway-local-nowhere/catalog.json", "--catalog", "pulumi up")
    chosen = deployed.slipway(*HELLO, SLIPWAY_CATALOG=f"{deployed.catalog}/gone.json")
    refused(chosen, 2, f"no catalog at {deployed.catalog}/gone.json", "$SLIPWAY_CATALOG")
    refused(deployed.slipway(*HELLO, SLIPWAY_CATALOG=""), 2, "no catalog chosen", "slipway use gs://")


def test_a_catalog_that_cannot_be_read_is_refused(deployed: Checkout) -> None:
    bucket, name = deployed.catalog.removeprefix("gs://"), "packages/other.json"
    upload = f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}"
    deployed.cloud.session().post(deployed.cloud.url + upload, data=b'{"schema": 7}').raise_for_status()
    done = deployed.slipway(*HELLO, "--catalog", f"gs://{bucket}/{name}")
    refused(done, 2, f"gs://{bucket}/{name} has schema 7, newer than this slipway reads", "update slipway")


def test_without_credentials_it_says_how_to_log_in(deployed: Checkout, tmp_path: Path) -> None:
    nobody = {"GOOGLE_OAUTH_ACCESS_TOKEN": "", "HOME": str(tmp_path), "NO_GCE_CHECK": "true"}
    done = deployed.slipway(*HELLO, **nobody)
    refused(done, 3, "no usable Google Cloud credentials", "gcloud auth application-default login")
    expired = deployed.slipway(*HELLO, GOOGLE_OAUTH_ACCESS_TOKEN="ya29.long-expired")
    refused(expired, 3, "could not read the catalog", "log in again")
    assert "ya29" not in expired.said


def test_nothing_answering_at_the_endpoint_is_said_with_its_address(deployed: Checkout, nowhere: str) -> None:
    done = deployed.slipway(*HELLO, GOOGLE_STORAGE_CUSTOM_ENDPOINT=f"{nowhere}/storage/v1/")
    refused(done, 1, "could not read the catalog", f"nothing answers at {nowhere}", "python -m local up")


def test_nothing_answering_where_jobs_are_made_is_said_before_anything_is_sent(
    deployed: Checkout, nowhere: str
) -> None:
    done = deployed.slipway(*HELLO, GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT=f"{nowhere}/v1beta1/")
    refused(done, 1, f"nothing answers at {nowhere} (connection refused)")


def test_a_dry_run_prints_the_request_and_sends_nothing(deployed: Checkout) -> None:
    done = deployed.slipway(*HELLO, "--dry-run")
    assert done.code == 0, done.said
    request = json.loads(done.out)
    assert request["labels"]["slipway-template"] == "nap"
    assert request["jobSpec"]["persistentResourceId"] in deployed.clusters()
