"""Parsing of a stack file: its keys, its YAML, its configuration and its secrets."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from slipway.authoring.stack.bounds import ACCOUNT, BUCKET
from slipway.authoring.stack.stack import from_config, parse, stack_of
from slipway.authoring.stack.yaml_file import StackErrors, from_text, load
from slipway.base.errors import ConfigError
from slipway.model.cluster import ClusterSpec, PoolSpec
from slipway.model.identity import Identity
from slipway.model.machines.spec import MachineSpec
from tests.builders.stacks import workspace_entry

from .files import HEAD, read, with_config, with_pool, wrong


def test_a_small_stack_with_its_defaults() -> None:  # D1, D6
    stack = read(with_pool("machine: n1-standard-8\nreplicas: {min: 1, max: 4}"))
    workers = PoolSpec("workers", MachineSpec("n1-standard-8"), 1, 4, True, 1)
    assert (stack.name, stack.project, stack.region) == ("prod", "acme-ml-prod", "us-central1")
    assert stack.clusters == (ClusterSpec("cpu", (workers,), display_name="cpu"),)
    assert (stack.quota.mode, stack.quota.contact_email, stack.quota.strict) == ("enforce", "", False)
    assert stack.templates == ()
    assert stack.workspace == workspace_entry(
        (), "acme-ml-prod-prod-catalog", "acme-ml-prod-prod-work", "prod--trainer"
    )


def test_the_order_of_pools_in_the_file_means_nothing() -> None:  # B3: an edit that looks harmless is harmless
    pools = ("a: {machine: n1-standard-4, replicas: 1}", "b: {machine: n1-standard-8, replicas: 1}")
    one, other = (
        f"slipway:persistentResources: {{cpu: {{pools: {{{', '.join(order)}}}}}}}" for order in (pools, pools[::-1])
    )
    assert read(with_config(one)).clusters == read(with_config(other)).clusters


def test_what_pulumi_and_others_write_is_left_alone() -> None:
    head = HEAD.replace('"false"', "false")
    stack = read(f"encryptionsalt: v1:abc=\nsecretsprovider: gcpkms://p\n{head}  other:key: 1\n  gcp:zone: a\n")
    assert stack.name == "prod"


def test_pulumis_own_configuration_serves_without_a_file() -> None:
    resources = {"cpu": {"pools": {"workers": {"machine": "n1-standard-8", "replicas": 2}}}}
    config = {
        "gcp:project": "acme-ml-prod",
        "gcp:region": "us-central1",
        "gcp:addPulumiAttributionLabel": "false",
        "slipway:persistentResources": json.dumps(resources),
        "slipway:templates": ["dask-digits"],
    }
    stack = from_config(config, stack="dev")
    assert stack.name == "dev" and stack.clusters[0].pools[0].replicas == 2
    with pytest.raises(StackErrors) as caught:
        from_config({**config, "slipway:persistentResources": "{not json"}, stack="dev")
    (finding,) = caught.value.mistakes
    assert (finding.file, finding.line, finding.key) == ("", 0, "slipway:persistentResources")
    assert str(finding).startswith("slipway:persistentResources: should be a mapping")


def test_a_stack_is_named_by_its_file(tmp_path: Path) -> None:  # D6
    assert stack_of("stacks/Pulumi.prod.yaml") == "prod"
    path = tmp_path / "Pulumi.team-2.yaml"
    path.write_text(HEAD)
    assert parse(load(path)).name == "team-2"
    assert parse(load(path), stack="other").name == "other"


def test_a_file_that_is_not_there_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no stack file"):
        load(tmp_path / "Pulumi.none.yaml")


def value(text: str) -> Any:
    document = from_text(f"a: {text}\n", "Pulumi.dev.yaml")
    return document.mistakes or document.values["a"]


@pytest.mark.parametrize(
    "text", ["yes", "no", "on", "Off", "y", "1:30", "1:30.5", "=", "tRUE", "0o8", "1e", ".", "-x", "1.5.2", "0x", "1 2"]
)
def test_what_only_yaml_1_1_takes_for_something_else_is_text(text: str) -> None:  # D1
    assert value(text) == text


def test_a_key_in_quotes_is_text() -> None:
    assert value("{'1': x, '~': y}") == {"1": "x", "~": "y"}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0o17", 15),
        ("017", 15),
        ("-017", -15),
        ("+0x1F", 31),
        ("0b101", 5),
        ("1_000", 1000),
        ("1e3", 1000),
        ("1.0", 1),
        ("-0", 0),
        ("1.5", 1.5),
        ("1.5e-3", 0.0015),
        ("!!float 1", 1),
    ],
)
def test_numbers(text: str, number: float) -> None:  # D1
    stack = value(text)
    assert stack == number and type(stack) is type(number)


@pytest.mark.parametrize(
    ("text", "plain"), [("true", True), ("True", True), ("FALSE", False), ("~", None), ("null", None), ("''", "")]
)
def test_what_is_a_bool_or_nothing(text: str, plain: object) -> None:
    assert value(text) is plain or value(text) == plain == ""


def test_a_stack_name_that_fits_no_label_or_account() -> None:
    assert "can't be in a label" in wrong(HEAD, "stacks/Pulumi.Prod.yaml")[0].what


def test_names_of_a_long_stack_are_cut(tmp_path: Path) -> None:
    path = tmp_path / f"Pulumi.{'much-' * 10}too-long.yaml"
    path.write_text(HEAD)
    stack = parse(load(path), identity=Identity("vision-infra", stack_of(path.name)))
    assert re.fullmatch(ACCOUNT, stack.workspace.trainer) and re.fullmatch(BUCKET, stack.workspace.catalog_bucket)
    assert stack.pulumi_project == "vision-infra" and stack.identity.stack == stack.name


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("gcp:accessToken: hunter2-hunter2", "credentials"),
        ("gcp:accessToken: {secure: v1:hunter2}", "credentials"),
        ("gcp:credentials: hunter2.json", "credentials"),
        ("other:apiKey: hunter2", "credentials"),
        ("other:text: ya29.hunter2hunter2", "an access token"),
        ('other:text: "-----BEGIN RSA PRIVATE KEY-----hunter2"', "a private key"),
        ('other:text: \'{"type": "service_account", "x": "hunter2"}\'', "a service account key"),
        ("gcp:project: ya29.hunter2hunter2", "an access token"),
        ("slipway:templates: [AIzahunter2hunter2hunter2hunter2hunter2]", "an API key"),
        ("slipway:quota: {mode: ya29.hunter2hunter2}", "an access token"),
        ("slipway:quota: {contactEmail: xoxb-hunter2hunter2}", "a key to another service"),
        ("slipway:templates: [hf_hunter2hunter2hunter2]", "a key to another service"),
    ],
)
def test_secrets_are_refused_and_never_repeated(line: str, kind: str) -> None:  # D5
    head = HEAD.replace("  gcp:project: acme-ml-prod\n", "") if line.startswith("gcp:project") else HEAD
    with pytest.raises(StackErrors) as caught:
        read(head + f"  {line}\n")
    (finding,) = caught.value.mistakes
    assert finding.what == f"{kind} in a stack file" and "workload identity" in finding.fix
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        "hf_hunter2hunter2hunter2: x",
        "slipway:hf_hunter2hunter2hunter2: x",
        "slipway:quota: {hf_hunter2hunter2hunter2: x}",
        "slipway:persistentResources: {hf_hunter2hunter2hunter2: {}}",
        "slipway:teams: {hf_hunter2hunter2hunter2: {submitters: [3]}}",
        "slipway:machines: {AIzahunter2hunter2hunter2hunter2hunter2: n1}",
    ],
)
def test_a_secret_that_stands_as_a_key_is_refused_and_never_repeated(line: str) -> None:  # D5
    with pytest.raises(StackErrors) as caught:
        read(HEAD + f"  {line}\n")
    assert any(finding.what.endswith("in a stack file") for finding in caught.value.mistakes)
    assert "hunter2" not in str(caught.value)
