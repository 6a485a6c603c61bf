"""Parsing of a stack file: its keys, its YAML, its configuration and its secrets."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from slipway.authoring.stack.stack import WorkspaceSettings, from_config, parse, stack_of
from slipway.authoring.stack.yaml_file import StackErrors, from_text, load
from slipway.base.errors import ConfigError
from slipway.model.cluster import ClusterSpec, DnsPeering, PoolSpec, PscInterface
from slipway.model.machines.spec import Disk, MachineSpec

from .files import HEAD, read, with_config, with_pool, wrong


def test_a_small_stack_with_its_defaults() -> None:  # D1, D6
    stack = read(with_pool("machine: n1-standard-8\nreplicas: {min: 1, max: 4}"))
    workers = PoolSpec("workers", MachineSpec("n1-standard-8"), 1, 4, True, 1)
    assert (stack.name, stack.project, stack.region) == ("prod", "acme-ml-prod", "us-central1")
    assert stack.clusters == (ClusterSpec("cpu", (workers,), display_name="cpu"),)
    assert (stack.quota.mode, stack.quota.contact_email, stack.quota.strict) == ("enforce", "", False)
    assert stack.templates == ()
    assert stack.workspace == WorkspaceSettings(
        (), "acme-ml-prod-prod-catalog", "acme-ml-prod-prod-work", "slipway-prod-trainer"
    )


def test_everything_that_the_provider_has_is_reachable() -> None:  # D1, B2
    stack = read(
        with_config(
            """
            slipway:persistentResources:
              team-a:
                displayName: Team A
                pools:
                  gpu:
                    machine: a3-highgpu-8g
                    disk: { type: pd-ssd, sizeGb: 500 }
                    replicas: { min: 1, max: 4, initial: 2 }
                  t4: { machine: n1-standard-8, accelerator: {type: NVIDIA_TESLA_T4, count: 2}, replicas: 3 }
                  new: { machine: n4-standard-8, replicas: 1 }
                network: projects/123456789012/global/networks/training
                reservedIpRanges: [vertex]
                encryption: { kmsKey: projects/p/locations/us-central1/keyRings/r/cryptoKeys/k }
                serviceAccount: { custom: false }
                labels: { team: a, cost-centre: "42" }
                replacement: rollover
                generation: 3
                retireWithin: 2w
              team-b:
                pools: { cpu: { machine: n1-standard-4, replicas: 1 } }
                pscInterface:
                  networkAttachment: training
                  dnsPeeringConfigs: [{ domain: corp.example., targetProject: net, targetNetwork: shared }]
            slipway:quota: { mode: warn, contactEmail: ml@acme.example, strict: true }
            slipway:templates: [dask-digits, gemma2-lora]
            slipway:workspace:
              submitters: [group:ml@acme.example, "user:ada@acme.example"]
              catalogBucket: acme-catalog
              workBucket: acme-work
              trainer: acme-trainer
            """
        )
    )
    first, second = stack.clusters
    assert first == ClusterSpec(
        "team-a",
        (
            PoolSpec("gpu", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500)), 1, 4, True, 2),
            PoolSpec("new", MachineSpec("n4-standard-8", None, 0, Disk("hyperdisk-balanced", 100)), 1, 1, False, 1),
            PoolSpec("t4", MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2, Disk("pd-ssd", 100)), 3, 3, False, 3),
        ),
        display_name="Team A",
        network="projects/123456789012/global/networks/training",
        reserved_ip_ranges=("vertex",),
        kms_key="projects/p/locations/us-central1/keyRings/r/cryptoKeys/k",
        custom_service_account=False,
        labels={"team": "a", "cost-centre": "42"},
        generation=3,
        retire_within=timedelta(weeks=2),
    )
    assert second.psc == PscInterface("training", (DnsPeering("corp.example.", "net", "shared"),))
    assert (stack.quota.mode, stack.quota.contact_email, stack.quota.strict) == ("warn", "ml@acme.example", True)
    assert stack.templates == ("dask-digits", "gemma2-lora")
    assert stack.workspace == WorkspaceSettings(
        ("group:ml@acme.example", "user:ada@acme.example"), "acme-catalog", "acme-work", "acme-trainer"
    )


def test_the_order_of_pools_in_the_file_means_nothing() -> None:  # B3: an edit that looks harmless is harmless
    one = "a: {machine: n1-standard-4, replicas: 1}\nb: {machine: n1-standard-8, replicas: 1}"
    head = "slipway:persistentResources:\n  cpu:\n    pools:\n"
    first = read(with_config(head + "".join(f"      {line}\n" for line in one.splitlines())))
    second = read(with_config(head + "".join(f"      {line}\n" for line in reversed(one.splitlines()))))
    assert first.clusters == second.clusters


def test_anchors_and_merges_of_yaml_work() -> None:
    stack = read(
        with_config(
            """
            slipway:persistentResources:
              cpu:
                pools:
                  a: &small { machine: n1-standard-4, replicas: 1 }
                  b: *small
                  c: { <<: *small, replicas: 2 }
            """
        )
    )
    assert [(pool.name, pool.replicas) for pool in stack.clusters[0].pools] == [("a", 1), ("b", 1), ("c", 2)]


def test_what_pulumi_and_others_write_is_left_alone() -> None:
    stack = read("encryptionsalt: v1:abc=\nsecretsprovider: gcpkms://p\n" + HEAD + "  other:key: 1\n  gcp:zone: a\n")
    assert stack.name == "prod"


def test_the_attribution_label_may_be_off_as_text_or_as_a_boolean() -> None:
    assert read(HEAD.replace('"false"', "false")).project == "acme-ml-prod"


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


def test_a_file_that_cannot_be_read_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no stack file"):
        load(tmp_path / "Pulumi.none.yaml")
    latin = tmp_path / "Pulumi.latin.yaml"
    latin.write_bytes(b"config: \xe9\n")
    with pytest.raises(ConfigError, match="can't read"):
        parse(load(latin))


def value(text: str) -> Any:
    document = from_text(f"a: {text}\n", "Pulumi.dev.yaml")
    return document.mistakes or document.values["a"]


@pytest.mark.parametrize(
    "text", ["yes", "no", "on", "Off", "y", "1:30", "1:30.5", "=", "tRUE", "0o8", "1e", ".", "-x", "1.5.2", "0x", "1 2"]
)
def test_what_only_yaml_1_1_takes_for_something_else_is_text(text: str) -> None:  # D1
    assert value(text) == text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0o17", 15),
        ("0O17", 15),
        ("017", 15),
        ("-017", -15),
        ("+0x1F", 31),
        ("0b101", 5),
        ("1_000", 1000),
        ("08", 8),
        ("1e3", 1000),
        ("1.0", 1),
        ("1.", 1),
        ("0", 0),
        ("-0", 0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.5e-3", 0.0015),
        ("!!float 1", 1),
    ],
)
def test_numbers(text: str, number: float) -> None:  # D1
    found = value(text)
    assert found == number and type(found) is type(number)


@pytest.mark.parametrize(
    ("text", "plain"), [("true", True), ("True", True), ("FALSE", False), ("~", None), ("null", None), ("''", "")]
)
def test_what_is_a_bool_or_nothing(text: str, plain: object) -> None:
    assert value(text) is plain or value(text) == plain == ""


@pytest.mark.parametrize("text", [".inf", "-.INF", ".nan", "!!int 1:30", "!!float 1:30"])
def test_what_the_engine_can_not_take_either_is_refused(text: str) -> None:
    (finding,) = value(text)
    assert "not a valid one" in finding.what


@pytest.mark.parametrize("key", ["1", "1.5", "true", "~", "2026-11-20"])
def test_a_key_that_is_no_text_is_refused_and_one_in_quotes_is_not(key: str) -> None:
    (finding,) = value(f"{{{key}: x}}")
    assert finding.key == f"a.{key}" and finding.fix == "put it in quotes"
    assert value(f"{{'{key}': x}}") == {key: "x"}


@pytest.mark.parametrize(
    ("head", "line", "key", "what", "fix"),
    [
        (HEAD.replace("us-central1", "us-centrall"), 3, "gcp:region", "not a region", "did you mean `us-central1`?"),
        (HEAD.replace("us-central1", "mars"), 3, "gcp:region", "not a region", "europe-west4"),
        (HEAD.replace("acme-ml-prod", "Acme"), 2, "gcp:project", "not a project id", "acme-ml-prod"),
        (HEAD.replace("acme-ml-prod", "12"), 2, "gcp:project", "should be text, is 12", "gcp:project: acme-ml-prod"),
        (HEAD.replace("  gcp:project: acme-ml-prod\n", ""), 1, "gcp:project", "is missing", "add `gcp:project"),
        (HEAD.replace("gcp:region", "gcp:regoin"), 1, "gcp:region", "is missing", "add `gcp:region: us-central1`"),
        (HEAD.replace("gcp:region", "gcp:regoin"), 3, "gcp:regoin", "", "did you mean `gcp:region`?"),
        (HEAD.replace('"false"', '"true"'), 4, "gcp:addPulumiAttributionLabel", "replaced", '"false"'),
        (HEAD.replace('"false"', "0"), 4, "gcp:addPulumiAttributionLabel", "is 0", '"false"'),
        (HEAD + "confg: {}\n", 5, "confg", "unknown key", "did you mean `config`?"),
        (HEAD + "slipway:quota: {}\n", 5, "slipway:quota", "beside `config`", "indent it"),
    ],
)
def test_the_head_of_the_configuration(head: str, line: int, key: str, what: str, fix: str) -> None:
    findings = wrong(head)
    assert [item for item in findings if (item.line, item.key) == (line, key) and what in item.what and fix in item.fix]
    assert len({item.key for item in findings}) == len(findings) <= 2


CLUSTER = "slipway:persistentResources"
FAR = "{cpu: {pools: {a: {machine: n1-standard-4, replicas: 1}}, alternatives: [{region: us-east4}]}}"


@pytest.mark.parametrize(
    ("entry", "place", "what", "fix"),
    [
        ("slipway:persistentResource: {}", "", "unknown key", "persistentResources"),
        ("slipway:zzzzzz: {}", "", "unknown key", "slipway:quota"),
        ("gcp:vertexAiCustomEndpoint: http://x/", "", "environment", "VERTEX_AI_CUSTOM"),
        ("gcp:defaultLabels: {a: b}", "", "replaces", "own `labels`"),
        ("slipway:quota: {mode: request}", ".mode", "'request'", "add `contactEmail`"),
        ("slipway:quota: {mode: maybe}", ".mode", "'maybe'", "enforce or warn"),
        ("slipway:quota: {contactEmail: me}", ".contactEmail", "not an e-mail", "@acme.example"),
        ("slipway:quota: 5", "", "should be a mapping", "its keys are mode, contactEmail"),
        (
            "slipway:policy: {grades: {submiter-gone: warning}}",
            ".grades.submiter-gone",
            "'submiter-gone'",
            "did you mean `submitter-gone`?",
        ),
        ("slipway:policy: {grades: {submitter-gone: fatal}}", ".grades.submitter-gone", "'fatal'", "blocking"),
        (
            "slipway:policy: {grades: {cluster-deleted: change}}",
            ".grades",
            "scheduled deployment",
            "warning or blocking",
        ),
        ("slipway:templates: dask-digits", "", "should be a list", "[dask-digits]"),
        ("slipway:templates: [Dask]", "[0]", "template's name", "dask-digits"),
        (f"slipway:templates: [{'a' * 51}]", "[0]", "template's name", "1–50"),
        ("slipway:templates: [a, b, a]", "[2]", "listed twice", "keep one"),
        (
            f"{CLUSTER}: {{a: {{pools: {{}}, serviceAccount: t@acme.iam.gserviceaccount.com}}}}",
            ".a.serviceAccount",
            "names no account",
            "the `trainer` of",
        ),
        (
            f"{CLUSTER}: {{a: {{pools: {{}}, serviceAccount: {{custom: t@acme.iam.gserviceaccount.com}}}}}}",
            ".a.serviceAccount.custom",
            "names no account",
            "the `trainer` of",
        ),
        ("slipway:workspace: {submitters: [bob]}", ".submitters[0]", "not an IAM member", "group:"),
        ("slipway:workspace: {submitters: [allUsers]}", ".submitters[0]", "strangers", "group:"),
        ("slipway:workspace: {catalogBucket: A}", ".catalogBucket", "bucket's name", "3–63"),
        (
            "slipway:workspace: {catalogBucket: one, workBucket: one}",
            ".workBucket",
            "catalog's bucket as well",
            "two buckets",
        ),
        (
            f"slipway:workspace: {{workBucket: {'w' * 60}}}\n  {CLUSTER}: {FAR}",
            ".workBucket",
            "can't be a bucket's name",
            "a shorter name, which us-east4 has behind it",
        ),
        ("slipway:workspace: {trainer: abc}", ".trainer", "service account's id", "6–30"),
    ],
)
def test_the_rest_of_the_configuration(entry: str, place: str, what: str, fix: str) -> None:
    findings = wrong(f"{HEAD}  {entry}\n")
    key = ":".join(entry.split(":")[:2]) + place
    assert [one for one in findings if (one.line, one.key) == (5, key) and what in one.what and fix in one.fix]
    assert len({one.key for one in findings}) == len(findings) <= 2


def test_a_stack_name_that_fits_no_label_or_account() -> None:
    assert "can't be in a label" in wrong(HEAD, "stacks/Pulumi.Prod.yaml")[0].what
    (finding,) = wrong(HEAD, "stacks/Pulumi.a-much-too-long-name.yaml")
    assert finding.key == "slipway:workspace.trainer" and "set `trainer`" in finding.fix


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
    ],
)
def test_secrets_are_refused_and_never_repeated(line: str, kind: str) -> None:  # D5
    head = HEAD.replace("  gcp:project: acme-ml-prod\n", "") if line.startswith("gcp:project") else HEAD
    with pytest.raises(StackErrors) as caught:
        read(head + f"  {line}\n")
    (finding,) = caught.value.mistakes
    assert finding.what == f"{kind} in a stack file" and "workload identity" in finding.fix
    assert "hunter2" not in str(caught.value)
