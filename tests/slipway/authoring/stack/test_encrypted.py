"""Encrypted values of a stack file: rejected at their line, whatever key of Slipway's they are under."""

import re
from typing import Any

import pytest

from slipway.authoring.stack.config import ConfigEntry
from slipway.authoring.stack.encrypted import OF_THE_PROVIDER, check_encrypted
from slipway.authoring.stack.pulumi_settings import check_environment, check_pulumi_settings
from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import Document, StackErrors, from_text

SECURE = {"secure": "v1:abcdef"}
READ = [*(f"gcp:{name}" for name in OF_THE_PROVIDER), "slipway:later"]
ALIASES = [field.alias or name for name, field in ConfigEntry.model_fields.items()]


@pytest.mark.parametrize("key", [*READ, *ALIASES])
@pytest.mark.parametrize("value", [SECURE, {"a": {"b": SECURE}}, [SECURE], {"a": [{"b": SECURE}]}])
def test_each_key_that_slipway_reads_is_plain(key: str, value: Any) -> None:
    assert len(check_encrypted(Document("", {"config": {key: value}}))) == 1


@pytest.mark.parametrize("key", ["team:token", "gcp:accessToken", "pulumi:template"])
def test_keys_of_others_may_be_encrypted(key: str) -> None:
    assert check_encrypted(Document("", {"config": {key: SECURE}}), [key]) == ()


def test_a_key_that_pulumi_names_as_secret_is_named_by_its_most_precise_place() -> None:
    document = Document("", {"config": {"slipway:workspace": {"notify": SECURE}, "slipway:quota": {"mode": "warn"}}})
    found = check_encrypted(document, ["slipway:workspace", "slipway:quota", "gcp:region"])
    assert [each.key for each in found] == ["slipway:workspace.notify", "slipway:quota", "gcp:region"]


@pytest.mark.parametrize("values", [None, [], {"config": None}, {"config": []}, {}])
def test_files_of_another_form_have_none(values: Any) -> None:
    assert check_encrypted(Document("", values)) == ()


def test_the_error_names_file_and_line() -> None:
    text = "config:\n  gcp:project: acme-dev\n  slipway:workspace:\n    notify:\n      secure: v1:abcdef\n"
    with pytest.raises(StackErrors) as error:
        parse(from_text(text, "stacks/Pulumi.dev.yaml"))
    said = str(error.value)
    assert said.startswith("stacks/Pulumi.dev.yaml:4  slipway:workspace.notify: is encrypted")
    assert "fix: write it in plain text" in said and "abcdef" not in said


KEY = {"encryptionsalt": "v1:salt"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"config": {"team:token": {"secure": "v1:abc"}}, **KEY},
            "team:token: is not a value that Pulumi has encrypted",
        ),
        ({"config": {"team:a": {"b": {"secure": "v1:!:c"}}}, **KEY}, "team:a.b: is not a value"),
        ({"config": {"team:token": {"secure": "v1:bm8=:dGV4dA=="}}}, "team:token: can't be decrypted"),
        ({"config": {"pulumi:disable-default-providers": ["*"]}}, "pulumi:disable-default-providers: disables"),
        (
            {"config": {"pulumi:disable-default-providers": '["aws", "gcp"]'}},
            "pulumi:disable-default-providers: disables",
        ),
    ],
)
def test_settings_that_pulumi_rejects_are_rejected(values: Any, said: str) -> None:
    (found,) = check_pulumi_settings(Document("", values))
    assert str(found).startswith(said) and found.fix
    with pytest.raises(StackErrors, match=re.escape(said)):
        parse(Document("", values), stack="dev")


@pytest.mark.parametrize(
    "values",
    [
        {"config": {"team:token": {"secure": "v1:bm8=:dGV4dA=="}}, **KEY},
        {"config": {"team:token": {"secure": "AAABAGNsb3Vk"}}},
        {"config": {"pulumi:disable-default-providers": ["aws"]}},
        {"config": {"pulumi:disable-default-providers": "aws"}},
        {"config": []},
        None,
    ],
)
def test_settings_that_pulumi_accepts_are_accepted(values: Any) -> None:
    assert check_pulumi_settings(Document("", values)) == ()


@pytest.mark.parametrize(
    ("environment", "backend", "said"),
    [
        (["acme/dev"], "gs://acme-state?x=1", "needs Pulumi Cloud, and the backend is gs://acme-state: Pulumi rejects"),
        ({"values": {}}, "file://~", "needs Pulumi Cloud, and the backend is file://~"),
        (["acme/dev"], "", "needs Pulumi Cloud: Pulumi rejects it with any other backend"),
        (["acme/dev"], "https://api.pulumi.com", ""),
        ([], "file://~", ""),
    ],
)
def test_an_environment_needs_pulumi_cloud(environment: Any, backend: str, said: str) -> None:
    found = check_environment(Document("", {"environment": environment}), backend)
    assert found.what.startswith(said) if found else not said
