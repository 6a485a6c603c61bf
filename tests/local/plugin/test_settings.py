import pytest

from local.plugin.settings import SettingsError, check, load

_ENVIRONMENT = {
    "GOOGLE_OAUTH_ACCESS_TOKEN": "t",
    "GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": "http://127.0.0.1:8470/v1beta1/",
    "GOOGLE_CLOUD_PROJECT": "from-environment",
}


def test_endpoint_and_token_are_taken_from_the_environment() -> None:
    settings = load({}, _ENVIRONMENT)
    assert settings.endpoints == {"vertexAi": "http://127.0.0.1:8470/v1beta1/"}
    assert settings.token == "t"
    assert settings.project == "from-environment"


def test_service_accounts_are_asked_where_the_official_plugin_asks_since_google_beta_7_30() -> None:
    """It ignores the old name, so that a stack which works here works with it as well."""
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


@pytest.mark.parametrize(("given", "kept"), [("false", False), (False, False), ("true", True), (None, True)])
def test_the_attribution_label_is_on_unless_it_is_switched_off(given: object, kept: bool) -> None:
    config = {} if given is None else {"addPulumiAttributionLabel": given}
    assert load(config, _ENVIRONMENT).attribution is kept


def test_default_labels_come_as_json_from_a_stack_file() -> None:
    assert load({"defaultLabels": '{"team":"ml"}'}, _ENVIRONMENT).default_labels == {"team": "ml"}


@pytest.mark.parametrize("token", ["one\ntwo", "one two", "t\u00f6ken"])
def test_a_token_that_can_be_none_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(SettingsError, match="has characters that no token has") as error:
        load({}, {**_ENVIRONMENT, "GOOGLE_OAUTH_ACCESS_TOKEN": token})
    assert token not in str(error.value)


@pytest.mark.parametrize("url", ["http://[::1/v1/", "http://127.0.0.1@evil.example/", "//127.0.0.1/", "http:///v1/"])
def test_an_endpoint_that_only_looks_like_this_machine_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="is not an address on this machine"):
        load({}, {**_ENVIRONMENT, "GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": url})
