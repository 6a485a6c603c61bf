"""The stack's configuration, the hook for errors, and the program: what they tell the engine. # D6"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from pulumi.runtime import mocks

from components import PersistentResource, PersistentResourceArgs, PoolArgs, live_reading
from components.engine import EngineRun, configured
from components.hooks import words
from components.program import deploy
from slipway.authoring.stack.yaml_file import StackErrors
from slipway.google.provider_errors import meaning_of
from slipway.model.state import State

from .conftest import PROJECT, REGION, Asked, declared, only

ROOT = Path(__file__).parents[2]

FILE = """config:
  gcp:project: acme-dev
  gcp:region: us-central1
  gcp:addPulumiAttributionLabel: "false"
  slipway:quota: { mode: enforce }
"""
CONFIG = {"gcp:project": "acme-dev", "gcp:region": "us-central1", "gcp:addPulumiAttributionLabel": "false"}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    mocks.set_mocks(None, project="slipway", stack="dev", preview=False)  # type: ignore[arg-type]  # none is called
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps(CONFIG))
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text(FILE)
    return tmp_path


def test_the_file_as_it_is(checkout: Path) -> None:
    _, stack = configured(checkout)
    assert (stack.name, stack.project, stack.region, stack.quota.mode) == ("dev", "acme-dev", "us-central1", "enforce")


def test_the_engines_values_win(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`pulumi up --config …` and `--config-file …` reach the program through the engine alone."""
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({**CONFIG, "slipway:quota": '{"mode": "warn"}'}))
    assert configured(checkout)[1].quota.mode == "warn"


def test_a_stack_without_a_file_is_configured_too(checkout: Path) -> None:
    (checkout / "stacks" / "Pulumi.dev.yaml").unlink()
    assert configured(checkout)[1].project == "acme-dev"


def test_errors_name_file_line_and_key(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({**CONFIG, "slipway:quota": '{"mode": "hope"}'}))
    with pytest.raises(StackErrors) as error:
        configured(checkout)
    (finding,) = error.value.mistakes
    assert (finding.file, finding.line, finding.key) == ("stacks/Pulumi.dev.yaml", 5, "slipway:quota.mode")


SECURE = FILE.replace("{ mode: enforce }", "{ contactEmail: { secure: v1:abc } }")


@pytest.mark.parametrize(("file", "line"), [(SECURE, ":5  slipway:quota.contactEmail"), (FILE, ":5  slipway:quota")])
def test_a_secret_of_the_configuration_is_rejected_and_never_repeated(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, file: str, line: str
) -> None:
    """Pulumi hands the program the decrypted value, which errors about it would repeat."""
    (checkout / "stacks" / "Pulumi.dev.yaml").write_text(file)
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({**CONFIG, "slipway:quota": '{"contactEmail": "canary"}'}))
    monkeypatch.setenv("PULUMI_CONFIG_SECRET_KEYS", json.dumps(["slipway:quota"]))
    with pytest.raises(StackErrors) as error:
        configured(checkout)
    assert f"stacks/Pulumi.dev.yaml{line}: is encrypted" in str(error.value) and "canary" not in str(error.value)


CLUSTER_FILE = (
    FILE
    + """  slipway:persistentResources:
    cpu:
      pools:
        workers: { machine: n1-standard-4, replicas: 1 }
      network: projects/123456789012/global/networks/filed
"""
)


def deployed(checkout: Path, monkeypatch: pytest.MonkeyPatch, edit: Callable[[Any], None]) -> list[Asked]:
    """Return what the program of a stack file registers if it changes the arguments."""
    file = checkout / "stacks" / "Pulumi.dev.yaml"
    file.write_text(CLUSTER_FILE)
    config = {key: json.dumps(value) for key, value in yaml.safe_load(CLUSTER_FILE)["config"].items()}
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({**config, **CONFIG}))
    pulumi.runtime.set_all_config(CONFIG)

    def edited(args: Any) -> Any:
        edit(args)
        return args

    return declared(lambda: deploy(str(checkout / "__main__.py"), args=edited))


def test_deploy_accepts_the_network_of_a_resource_as_a_component_does(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edit(args: Any) -> None:
        args.clusters["cpu"].network = "projects/acme-dev/global/networks/training"

    made = only(deployed(checkout, monkeypatch, edit), "gcp:vertex/aiPersistentResource:AiPersistentResource")
    assert made.inputs["network"] == "projects/123456789012/global/networks/training"


def too_many(args: Any) -> None:
    args.clusters["cpu"].pools = {"workers": PoolArgs(machine="n1-standard-4", replicas=0)}


def no_network(args: Any) -> None:
    args.clusters["cpu"].network = "https://example.com/vpc"


@pytest.mark.parametrize(("edit", "said"), [(too_many, "pools.workers.replicas"), (no_network, "network")])
def test_a_mistake_of_the_program_is_not_reported_with_a_line_of_the_stack_file(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, edit: Callable[[Any], None], said: str
) -> None:
    with pytest.raises(pulumi.RunError, match=f"PersistentResource cpu: {said}: ") as error:
        deployed(checkout, monkeypatch, edit)
    assert "Pulumi.dev.yaml" not in str(error.value)


def test_project_and_region_alone_need_nothing_else(checkout: Path) -> None:
    run = EngineRun.of(checkout, State())
    assert (run.project, run.region) == ("acme-dev", "us-central1")


VARIABLES = ("GOOGLE_IMPERSONATE_SERVICE_ACCOUNT", "USER_PROJECT_OVERRIDE", "GOOGLE_BILLING_PROJECT")


@pytest.mark.parametrize(
    ("config", "becomes"),
    [
        ({}, ("", "", "")),
        ({"gcp:impersonateServiceAccount": "up@acme.iam"}, ("up@acme.iam", "", "")),
        ({"gcp:userProjectOverride": "true", "gcp:billingProject": "acme-pays"}, ("", "true", "acme-pays")),
        ({"gcp:billingProject": "acme-pays"}, ("", "", "")),
        ({"gcp:userProjectOverride": "true"}, ("", "true", "acme-dev")),
    ],
)
def test_the_program_asks_as_the_provider_does(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, config: dict[str, str], becomes: tuple[str, ...]
) -> None:
    """Otherwise a deployment would read, and its hooks delete, by another identity's view."""
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
    monkeypatch.delenv("GOOGLE_BILLING_PROJECT")
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({**CONFIG, **config}))
    EngineRun.of(checkout, State())
    assert tuple(os.environ.get(name, "") for name in VARIABLES) == becomes


def test_a_read_before_the_first_component_has_the_provider_s_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program's own buckets are registered before a component starts the run."""
    monkeypatch.setenv("GOOGLE_IMPERSONATE_SERVICE_ACCOUNT", "")
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({**CONFIG, "gcp:impersonateServiceAccount": "up@acme.iam"}))
    asked: list[str] = []
    monkeypatch.setattr(live_reading, "connect", lambda environ: asked.append(environ[VARIABLES[0]]))
    monkeypatch.setattr(live_reading, "Reader", lambda connection, scope, where: None)
    live_reading.reader_of()
    assert asked == ["up@acme.iam"]


def test_the_words_name_the_thing_and_the_way_out() -> None:
    meaning = meaning_of("deleting urn:x: 1 error occurred:\n\t* googleapi: Error 429: slower, please\n\n", {})
    said = words("cpu-1a2b3c4", "gcp:vertex/aiPersistentResource:AiPersistentResource", "delete", meaning)
    what, why, fix = said.splitlines()
    assert what.startswith("AiPersistentResource cpu-1a2b3c4 could not be deleted")
    assert why == "  why: slower, please" and fix.startswith("  fix: wait a minute")


def test_every_resource_has_it_beside_its_own_hooks() -> None:
    def program() -> None:
        args = PersistentResourceArgs(pools={"workers": PoolArgs(machine="n1-standard-4", replicas=1)})
        PersistentResource("cpu", args)

    pulumi.runtime.set_all_config({"gcp:project": PROJECT, "gcp:region": REGION})
    made = only(declared(program), "gcp:vertex/aiPersistentResource:AiPersistentResource").request.hooks
    assert list(made.before_delete) == ["slipway-guard-v1"] and list(made.on_error) == ["slipway-trouble-v1"]


def test_the_program_of_this_checkout_is_that_of_any_other() -> None:
    assert (ROOT / "__main__.py").read_text().endswith("from components.program import deploy\n\ndeploy(__file__)\n")
