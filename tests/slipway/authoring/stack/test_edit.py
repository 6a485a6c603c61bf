"""A program's edit of a stack is held to the checks of a file, and its mistakes name it. # D1 # D6"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from slipway.authoring.stack.edit import edited
from slipway.authoring.stack.stack import Stack
from slipway.base.errors import ConfigError
from slipway.model.cluster import ClusterSpec, DnsPeering, PoolSpec, PscInterface
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.season import Season

from .files import read, with_config

STACK = read(
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
            network: projects/123456789012/global/networks/training
            reservedIpRanges: [vertex]
            serviceAccount: { custom: false }
            labels: { team: a }
            replacement: in-place
            generation: 3
            retireWithin: 2w
            createWithin: 90m
            from: 2027-01-10
            until: 2027-03-01T08:00:00Z
            idleLimit: 3d
            alternatives:
              - { region: us-east4, pools: { gpu: { machine: a2-ultragpu-8g, replicas: 1 } } }
              - pools: { t4: { machine: n1-standard-8, replicas: 3 } }
          team-b:
            pools: { cpu: { machine: n1-standard-4, replicas: 1 } }
            encryption: { kmsKey: projects/p/locations/us-central1/keyRings/r/cryptoKeys/k }
            pscInterface:
              networkAttachment: training
              dnsPeeringConfigs: [{ domain: corp.example., targetProject: net, targetNetwork: shared }]
          theirs: { id: research, pools: { cpu: { machine: n1-standard-4, replicas: { min: 1, max: 2 } } } }
        slipway:quota: { mode: request, contactEmail: ml@acme.example, strict: true }
        slipway:policy: { mandatory: { regions: [us-central1], idleCost: 1000 }, grades: { access-lost: warning } }
        slipway:budget: { stack: 80000, teams: { vision: 30000 }, enforce: true }
        slipway:agents: { perDay: 50, machines: [n1-standard-8] }
        slipway:sessions: { max: 90m, pools: [team-b/cpu] }
        slipway:reservations:
          mine:
            path: projects/acme/zones/us-central1-a/reservations/r
            machine: n1-standard-8
            accelerator: { type: NVIDIA_TESLA_T4, count: 1 }
            machines: 2
        slipway:teams:
          vision: { submitters: [group:vision@acme.example, group:ml@acme.example], clusters: [team-a],
            machines: { small: n1-standard-16, gpu: { machine: n1-standard-16, disk: { type: pd-ssd } } } }
          language: { budget: 5000 }
        slipway:machines:
          small: n1-standard-8
          gpu: { machine: n1-standard-8, accelerator: { type: NVIDIA_TESLA_T4, count: 1 }, disk: { sizeGb: 200 } }
        slipway:trainers: { evals: { submitters: [group:evals@acme.example] } }
        slipway:templates: [dask-digits, gemma2-lora]
        slipway:workspace: { submitters: [group:ml@acme.example], code: true, confirmAbove: 20.5, board: true }
        """
    )
)


def test_what_a_file_says_is_read_and_comes_back_whole() -> None:  # B2
    first, second, theirs = STACK.clusters
    assert replace(first, alternatives=(), season=Season()) == ClusterSpec(
        "team-a",
        (
            PoolSpec("gpu", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500)), 1, 4, True, 2),
            PoolSpec("t4", MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2, Disk("pd-ssd", 100)), 3, 3, False, 3),
        ),
        display_name="Team A",
        network="projects/123456789012/global/networks/training",
        reserved_ip_ranges=("vertex",),
        custom_service_account=False,
        labels={"team": "a"},
        replacement="in-place",
        generation=3,
        retire_within=timedelta(weeks=2),
        create_within=timedelta(minutes=90),
    )
    assert second.psc == PscInterface("training", (DnsPeering("corp.example.", "net", "shared"),))
    assert second.kms_key.endswith("cryptoKeys/k") and theirs.adopted
    assert theirs.adopted.line("pools").startswith("stacks/Pulumi.prod.yaml:")
    assert edited(STACK, lambda stack: stack)[1] == STACK


def test_a_loop_declares_a_cluster_for_each_team() -> None:
    def one_for_each_team(stack: Stack) -> Stack:
        shared = stack.clusters[1]
        teams = (replace(shared, name=team, display_name=team) for team in ("vision", "speech"))
        return replace(stack, clusters=(*stack.clusters, *teams))

    assert [cluster.name for cluster in edited(STACK, one_for_each_team)[1].clusters[3:]] == ["vision", "speech"]


def of(**changes: Any) -> Callable[[Stack], Stack]:
    """Return the edit of the first cluster."""

    def wrong(stack: Stack) -> Stack:
        first, *others = stack.clusters
        return replace(stack, clusters=(replace(first, **changes), *others))

    return wrong


POOL = STACK.clusters[0].pools[0]
HALF: Any = 1.5
IN_FILE = "wrong of test_edit.py"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (of(name="Team A"), rf"{IN_FILE}:\d+  slipway:persistentResources.Team A: "),
        (
            of(pools=(replace(POOL, max=0),)),
            rf"{IN_FILE}:\d+  \S+pools.gpu.replicas.max: max 0 is not more than min 1",
        ),
        (of(pools=(replace(POOL, replicas=HALF),)), rf"{IN_FILE}:\d+  \S+team-a.pools.gpu.replicas.initial: .* whole"),
        (of(labels={"Team": "a"}), "can't be a label's name"),
        (of(season=Season(idle_limit=timedelta(seconds=5))), "idleLimit: is not a valid time"),
        (of(name="team-b"), f"{IN_FILE} gives `clusters` a value that no stack file can have"),
        (of(deletion_policy="ABANDON"), f"{IN_FILE} gives `clusters` a value that no stack file can have"),
        (of(labelz={}), rf"{IN_FILE} returns no stack\n  why: line \d+: TypeError: "),
        (lambda _: None, r"<lambda> of test_edit.py returns no stack\n  why: line \d+: AttributeError: "),
        (lambda stack: replace(stack, region="us-east4"), "<lambda> of test_edit.py moves the stack"),
    ],
)
def test_a_mistake_names_the_edit(edit: Callable[[Stack], Stack], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        edited(STACK, edit)
