"""A good stack file becomes a typed stack with every default resolved."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from slipway.cluster import ClusterSpec, DnsPeering, PoolSpec, PscInterface
from slipway.errors import ConfigError
from slipway.machines.spec import Disk, MachineSpec
from slipway.stack.stack import WorkspaceSettings, from_config, parse, stack_of
from slipway.stack.yaml_file import StackErrors, load

from .files import HEAD, read, with_config, with_pool


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
