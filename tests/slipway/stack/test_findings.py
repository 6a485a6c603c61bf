"""What is wrong with a stack file is told all at once: file, line, key path, what is wrong, what would be right."""

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.stack.yaml_file import StackErrors

from .files import HEAD, read, with_config, with_pool, wrong

POOL = "slipway:persistentResources.cpu.pools.workers"


def test_all_errors_come_at_once_in_the_order_of_the_lines() -> None:
    text = with_config(
        """
        slipway:quota: { mode: request }
        slipway:persistentResources:
          cpu:
            replacement: recreate
            pools:
              workers: { machine: n1-standrd-8, disk: {type: ssd, sizeGb: 50}, replicas: {min: 0, max: 4} }
              head: { machine: n1-standard-4, replicas: three, disc: {} }
              head: { machine: n1-standard-4, replicas: 1 }
          Gpu: {}
        """,
        head=HEAD.replace("us-central1", "us-centrall"),
    )
    findings = wrong(text)
    assert [finding.line for finding in findings] == sorted(finding.line for finding in findings)
    cpu, pools = "slipway:persistentResources.cpu", "slipway:persistentResources.cpu.pools"
    assert {(finding.line, finding.key) for finding in findings} == {
        (3, "gcp:region"),
        (5, "slipway:quota.mode"),
        (8, f"{cpu}.replacement"),
        (10, f"{pools}.workers.machine"),
        (10, f"{pools}.workers.disk.type"),
        (10, f"{pools}.workers.disk.sizeGb"),
        (10, f"{pools}.workers.replicas.min"),
        (12, f"{pools}.head"),
        (13, "slipway:persistentResources.Gpu"),
        (13, "slipway:persistentResources.Gpu.pools"),
    }


def test_the_message_reads_file_line_key_what_and_fix(snapshot: SnapshotAssertion) -> None:
    with pytest.raises(StackErrors) as caught:
        read(with_pool("machine: n1-standrd-8\nreplicas: 1"))
    assert caught.value.exit_code == 2
    assert caught.value.render() == snapshot
