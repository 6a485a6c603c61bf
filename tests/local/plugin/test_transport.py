import contextlib
import socket
import time
from threading import Thread
from typing import Any

import pytest

from local.plugin.pace import Pace
from local.plugin.schema import integer
from local.plugin.settings import Settings, SettingsError, check, load
from local.plugin.transport import CloudError, GoogleError, Transport
from local.plugin.wire import from_api
from tests.local.plugin.conftest import Recorder, Waits

_LINE = "GET /v1beta1/x"
MUCH = "m" * 10_000_000


@pytest.fixture
def transport(recorder: Recorder, pace: Pace) -> Transport:
    return Transport(load({}, recorder.environment()), pace)


def test_a_request_bears_the_token_and_asks_for_json(recorder: Recorder, transport: Transport) -> None:
    recorder.answer(_LINE, {"a": 1})
    assert transport.send("vertexAi", "GET", "x", params={"q": "a b"}) == {"a": 1}
    asked = recorder.only(_LINE)
    assert asked.headers["authorization"] == "Bearer the-token"
    assert asked.query == {"alt": "json", "q": "a b"}


def test_an_error_is_shown_with_googles_text(recorder: Recorder, transport: Transport) -> None:
    recorder.refuse(_LINE, 403, "Permission 'x' denied on resource 'y' (or it may not exist).", "PERMISSION_DENIED")
    with pytest.raises(GoogleError) as error:
        transport.send("vertexAi", "GET", "x")
    assert str(error.value) == "googleapi: Error 403: Permission 'x' denied on resource 'y' (or it may not exist)."
    assert (error.value.code, error.value.status, len(recorder.asked)) == (403, "PERMISSION_DENIED", 1)


def test_an_error_s_details_and_its_older_reason_are_written_as_by_gos_client(
    recorder: Recorder, transport: Transport
) -> None:
    """Users of the provider report it so: terraform-example-foundation 1454."""
    message = "One or more users named in the policy do not belong to a permitted customer."
    violation = {"type": "constraints/iam.allowedPolicyMemberDomains", "subject": "orgpolicy:projects/p"}
    details = [{"violations": [violation], "@type": "type.googleapis.com/google.rpc.PreconditionFailure"}]
    error = {"code": 400, "message": message, "status": "FAILED_PRECONDITION", "details": details}
    older = {"errors": [{"message": message, "domain": "global", "reason": "failedPrecondition"}]}
    shown = (
        f"googleapi: Error 400: {message}\nDetails:\n[\n  {{\n"
        '    "@type": "type.googleapis.com/google.rpc.PreconditionFailure",\n    "violations": [\n      {\n'
        '        "subject": "orgpolicy:projects/p",\n        "type": "constraints/iam.allowedPolicyMemberDomains"\n'
        "      }\n    ]\n  }\n]"
    )
    recorder.answer(_LINE, {"error": error}, 400)
    recorder.answer(_LINE, {"error": error | older}, 400)
    for end in ("", "\n, failedPrecondition"):
        with pytest.raises(GoogleError) as refused:
            transport.send("vertexAi", "GET", "x")
        assert str(refused.value) == shown + end


@pytest.mark.parametrize(
    ("answer", "status"), [({"error": {"code": 400, "message": MUCH}}, 400), (MUCH.encode(), 502), ([MUCH], 200)]
)
def test_of_a_foreign_answer_no_more_than_a_page_is_shown(
    recorder: Recorder, transport: Transport, answer: Any, status: int
) -> None:
    recorder.answer(_LINE, answer, status)
    with pytest.raises(CloudError) as error:
        transport.send("vertexAi", "GET", "x")
    assert len(str(error.value)) < 2100


def test_of_a_number_that_is_none_no_more_than_a_page_is_shown() -> None:
    with pytest.raises(CloudError) as error:
        from_api({"size": integer()}, {"size": MUCH})
    assert "size" in str(error.value) and len(str(error.value)) < 2100


def test_too_many_and_unavailable_are_tried_again(recorder: Recorder, transport: Transport, waits: Waits) -> None:
    recorder.refuse("POST /v1beta1/x", 429, "later")
    recorder.refuse("POST /v1beta1/x", 503, "later", Retry_After="3")
    recorder.answer("POST /v1beta1/x", {"done": True})
    assert transport.send("vertexAi", "POST", "x", body={"n": 1}) == {"done": True}
    assert waits.waited == [0.5, 3.0]
    assert [request.body for request in recorder.asked] == [{"n": 1}] * 3


def test_trying_again_has_an_end(recorder: Recorder, transport: Transport, waits: Waits) -> None:
    recorder.refuse(_LINE, 429, "Quota exceeded")
    with pytest.raises(GoogleError, match="Error 429: Quota exceeded"):
        transport.send("vertexAi", "GET", "x")
    assert len(recorder.asked) == 6
    assert waits.waited == [0.5, 1.0, 2.0, 4.0, 8.0]


def test_a_redirect_is_not_followed(recorder: Recorder, transport: Transport) -> None:
    recorder.answer(_LINE, b"", 302, Location="http://example.com/")
    with pytest.raises(GoogleError, match="302"):
        transport.send("vertexAi", "GET", "x")
    assert len(recorder.asked) == 1


def test_nothing_that_answers_is_said_in_the_official_words(pace: Pace, waits: Waits) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1/"
    transport = Transport(Settings(endpoints={"vertexAi": url}, token="t"), pace)
    with pytest.raises(
        CloudError,
        match=r'^Post "http://127.0.0.1:\d+/v1/x\?alt=json": dial tcp 127.0.0.1:\d+: connect: connection refused$',
    ):
        transport.send("vertexAi", "POST", "x", body={})
    assert len(waits.waited) == 2


def test_a_service_without_an_endpoint_is_never_asked_at_google(pace: Pace) -> None:
    with pytest.raises(CloudError, match="set GOOGLE_STORAGE_CUSTOM_ENDPOINT"):
        Transport(Settings(endpoints={}, token="t"), pace).send("storage", "GET", "b")


def test_an_answer_is_waited_for_as_long_as_is_said_whatever_the_clock_does() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        settings = Settings(endpoints={"storage": url}, token="t")
        with pytest.raises(CloudError, match="context deadline exceeded"):
            Transport(settings, Pace(silence=0.05)).send("storage", "POST", "b", body={})
    assert Pace(speed=1200).silence == Pace().silence


def test_an_answer_that_comes_a_byte_at_a_time_is_none() -> None:
    def trickle() -> None:
        with contextlib.suppress(OSError):
            caller, _ = slow.accept()
            caller.recv(1 << 16)
            caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while True:
                caller.sendall(b" ")
                time.sleep(0.02)

    with socket.create_server(("127.0.0.1", 0)) as slow:
        Thread(target=trickle, daemon=True).start()
        settings = Settings(endpoints={"storage": f"http://127.0.0.1:{slow.getsockname()[1]}/"}, token="t")
        with pytest.raises(CloudError, match="while reading body"):
            Transport(settings, Pace(silence=0.1)).send("storage", "POST", "b", body={})


def test_a_change_whose_answer_is_lost_says_that_alone(pace: Pace) -> None:
    """gcp-provider.md, seen again: `Post "…/storage/v1/b…": EOF`, no more."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1/"
        Thread(target=lambda: deaf.accept()[0].close(), daemon=True).start()
        transport = Transport(Settings(endpoints={"vertexAi": url}, token="t"), pace)
        with pytest.raises(CloudError, match=r'^Post "http://127.0.0.1:\d+/v1/x\?alt=json": EOF$'):
            transport.send("vertexAi", "POST", "x", body={})


_ENVIRONMENT = {
    "GOOGLE_OAUTH_ACCESS_TOKEN": "t",
    "GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": "http://127.0.0.1:8470/v1beta1/",
    "GOOGLE_CLOUD_PROJECT": "from-environment",
}


def test_service_accounts_are_asked_where_the_official_plugin_asks_since_google_beta_7_30() -> None:
    """The provider ignores the old name, so that a stack which works here works with it as well."""
    names = ("GOOGLE_IAM_CUSTOM_ENDPOINT", "GOOGLE_IAM_BETA_CUSTOM_ENDPOINT")
    endpoints = {name: f"http://127.0.0.1:{port}/v1/" for port, name in enumerate(names, 1)}
    assert load({}, {**_ENVIRONMENT, **endpoints}).endpoints["iamBeta"] == "http://127.0.0.1:2/v1/"
    assert "iamBeta" not in load({}, {**_ENVIRONMENT, names[0]: endpoints[names[0]]}).endpoints


def test_a_configuration_key_goes_before_the_environment() -> None:
    settings = load({"vertexAiCustomEndpoint": "http://localhost:1/v1/", "project": "mine"}, _ENVIRONMENT)
    assert settings.endpoints["vertexAi"] == "http://localhost:1/v1/"
    assert settings.project == "mine"


@pytest.mark.parametrize(
    "url",
    [
        "https://us-central1-aiplatform.googleapis.com/v1beta1/",
        "http://10.0.0.1:8470/v1beta1/",
        "http://127.0.0.1.example.com/v1beta1/",
        "http://localhost@example.com/v1beta1/",
        "ftp://127.0.0.1/v1beta1/",
        "127.0.0.1:8470/v1beta1/",
        "http://[::1/v1/",
        "http:///v1/",
    ],
)
def test_an_endpoint_elsewhere_is_refused(url: str) -> None:
    (problem,) = check({"vertexAiCustomEndpoint": url})
    assert problem.key == "vertexAiCustomEndpoint"
    assert "not an address" in str(problem)
    with pytest.raises(SettingsError, match="GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT"):
        load({}, {**_ENVIRONMENT, "GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": url})


@pytest.mark.parametrize("url", ["http://[::1]:80/v1/", "http://127.3.2.1/v1/", "https://localhost/v1/"])
def test_every_form_of_loopback_is_taken(url: str) -> None:
    assert check({"storageCustomEndpoint": url}) == []


@pytest.mark.parametrize("key", ["accessToken", "credentials"])
def test_no_token_from_a_stack_file(key: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load({key: "s3cret"}, _ENVIRONMENT)
    # The engine prints the value of the key that a refusal names: this one must name none.
    assert refused.value.key == ""
    assert f"takes no {key}" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_without_a_token_it_says_how_to_get_one() -> None:
    with pytest.raises(SettingsError, match="GOOGLE_OAUTH_ACCESS_TOKEN is not set"):
        load({}, {})


@pytest.mark.parametrize("token", ["one\ntwo", "one two", "t\u00f6ken"])
def test_a_token_that_can_be_none_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(SettingsError, match="has characters that no token has") as error:
        load({}, {**_ENVIRONMENT, "GOOGLE_OAUTH_ACCESS_TOKEN": token})
    assert token not in str(error.value)
