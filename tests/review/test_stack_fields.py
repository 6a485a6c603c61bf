"""Each edited field of a stack file is in the table of settings. # N5"""

from collections.abc import Iterator
from inspect import getmembers, isclass

import pytest

from slipway.authoring.stack import config, entries
from slipway.authoring.stack.entries import Entry
from tests.review.case import Case, Edit, h100, stack, template
from tests.review.edits import SCRIPT
from tests.review.play import play

DISK = "machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }"
QUOTA = "mode: enforce, contactEmail: platform@acme.example"
RESERVED = "machine: a3-highgpu-8g, machines: 2"
PEERING = "domain: a.acme.example., targetProject: acme-net, targetNetwork: shared"
SMALL = "{ type: NVIDIA_TESLA_T4, count: 1 }"
T4_POOL = f"{{ machine: n1-standard-8, accelerator: {SMALL}, disk: {{ type: pd-ssd, sizeGb: 100 }}, replicas: 1 }}"


TEAM = stack(
    "  slipway:policy:\n",
    "  slipway:teams: { vision: { submitters: [user:ada@acme.example], clusters: [h100] } }\n  slipway:policy:\n",
)
KEYED = (
    stack("  slipway:policy:\n", "  slipway:machines: { judges: { machine: n1-standard-8 } }\n  slipway:policy:\n"),
    template("evals", '"judge", "n1-standard-8"', '"judge", "judges"'),
)


def rule(line: str) -> Edit:
    return stack("      longestTimeout: 48\n", f"      longestTimeout: 48\n      {line}\n")


BUDGET = stack("  slipway:policy:\n", "  slipway:budget: { stack: 80000 }\n  slipway:policy:\n")

AGENTS = stack("  slipway:policy:\n", "  slipway:agents: { perDay: 50 }\n  slipway:policy:\n")


def budget(keys: str) -> Edit:
    return stack("slipway:budget: { stack: 80000 }", f"slipway:budget: {{ {keys} }}")


def attached(peering: str = "") -> Edit:
    of = f", dnsPeeringConfigs: [{{ {peering} }}]" if peering else ""
    return h100(
        f"pscInterface: {{ networkAttachment: projects/acme-net/regions/us-central1/networkAttachments/a{of} }}"
    )


OTHERS = h100("alternatives: [{ pools: { workers: { machine: a3-megagpu-8g, replicas: 2 } } }]")
T4 = (stack("    cpu:\n", f"    t4:\n      pools:\n        workers: {T4_POOL}\n    cpu:\n"),)
EDITS: dict[str, Edit | tuple[Edit, ...]] = {
    "AcceleratorEntry.type": stack("NVIDIA_TESLA_T4", "NVIDIA_TESLA_V100"),
    "AcceleratorEntry.count": stack("count: 1", "count: 2"),
    "AlternativeEntry.region": (
        h100("alternatives: [{ region: us-east4 }]"),
        stack("[us-central1]", "[us-central1, us-east4]"),
    ),
    "AlternativeEntry.pools": OTHERS,
    "ClusterEntry.id": h100("id: theirs"),
    "ClusterEntry.pools": stack(
        "        workers: { machine: a3-highgpu-8g", "        others: { machine: a3-highgpu-8g"
    ),
    "ClusterEntry.displayName": stack("cpu of research", "cpu of us all"),
    "ClusterEntry.network": h100("network: projects/123456789012/global/networks/ml"),
    "ClusterEntry.reservedIpRanges": h100("network: projects/1/global/networks/ml\n      reservedIpRanges: [a]"),
    "ClusterEntry.encryption": h100("encryption: { kmsKey: projects/p/locations/us-central1/keyRings/r/cryptoKeys/k }"),
    "ClusterEntry.pscInterface": attached(),
    "ClusterEntry.serviceAccount": h100("serviceAccount: { custom: false }"),
    "ClusterEntry.labels": stack("cost-center: research", "cost-center: vision"),
    "ClusterEntry.replacement": stack("replacement: rollover", "replacement: protect"),
    "ClusterEntry.generation": h100("generation: 2"),
    "ClusterEntry.retireWithin": stack("retireWithin: 7d", "retireWithin: 1d"),
    "ClusterEntry.createWithin": h100("createWithin: 2h"),
    "ClusterEntry.alternatives": OTHERS,
    "ClusterEntry.from": h100("from: 2027-01-01"),
    "ClusterEntry.until": h100("until: 2027-01-01"),
    "ClusterEntry.idleLimit": h100("idleLimit: 2h"),
    "AgentsEntry.perDay": stack("slipway:agents: { perDay: 50 }", "slipway:agents: { perDay: 500 }"),
    "AgentsEntry.machines": stack("slipway:agents: { perDay: 50 }", "slipway:agents: { perDay: 50, machines: [a] }"),
    "BudgetEntry.stack": budget("stack: 90000"),
    "BudgetEntry.teams": budget("stack: 80000, teams: { vision: 40000 }"),
    "BudgetEntry.users": budget("stack: 80000, users: { ada: 500 }"),
    "BudgetEntry.enforce": budget("stack: 80000, enforce: true"),
    "DiskEntry.type": stack(
        "pd-ssd, sizeGb: 100 }, replicas: { min: 4", "pd-standard, sizeGb: 100 }, replicas: { min: 4"
    ),
    "DiskEntry.sizeGb": stack(DISK, DISK.replace("500", "600")),
    "DnsPeeringEntry.domain": attached(PEERING.replace("a.acme", "b.acme")),
    "DnsPeeringEntry.targetProject": attached(PEERING.replace("acme-net", "acme-other")),
    "DnsPeeringEntry.targetNetwork": attached(PEERING.replace("shared", "other")),
    "EncryptionEntry.kmsKey": h100("encryption: { kmsKey: projects/p/locations/us-central1/keyRings/r/cryptoKeys/l }"),
    "MachineEntry.machine": stack("judges: { machine: n1-standard-8 }", "judges: { machine: n1-standard-16 }"),
    "MachineEntry.accelerator": stack(
        "{ machine: n1-standard-8 }", f"{{ machine: n1-standard-8, accelerator: {SMALL} }}"
    ),
    "MachineEntry.disk": stack("{ machine: n1-standard-8 }", "{ machine: n1-standard-8, disk: { sizeGb: 200 } }"),
    "PoolEntry.machine": stack("machine: n1-standard-4", "machine: n1-standard-16"),
    "PoolEntry.accelerator": stack(f", accelerator: {SMALL}", ""),
    "PoolEntry.disk": stack(DISK, "machine: a3-highgpu-8g"),
    "PoolEntry.replicas": stack("replicas: 2 }", "replicas: 3 }"),
    "PscInterfaceEntry.networkAttachment": attached(),
    "PscInterfaceEntry.dnsPeeringConfigs": attached(PEERING),
    "QuotaEntry.mode": stack("mode: enforce", "mode: warn"),
    "QuotaEntry.contactEmail": (stack("mode: enforce", "mode: request"), stack("platform@acme", "others@acme")),
    "QuotaEntry.justification": stack(QUOTA, f"{QUOTA.replace('enforce', 'request')}, justification: a model"),
    "QuotaEntry.strict": stack(QUOTA, f"{QUOTA}, strict: true"),
    "ReplicaRange.min": stack("min: 4", "min: 2"),
    "ReplicaRange.max": stack("max: 16", "max: 20"),
    "ReplicaRange.initial": stack("min: 4", "min: 4, initial: 8"),
    "ReservationEntry.path": stack("reservations/bought", "reservations/other"),
    "ReservationEntry.machine": stack(RESERVED, "machine: a3-megagpu-8g, machines: 2"),
    "ReservationEntry.accelerator": stack(RESERVED, f"machine: n1-standard-8, accelerator: {SMALL}, machines: 2"),
    "ReservationEntry.machines": stack("machines: 2", "machines: 1"),
    "ReservationEntry.from": stack("machines: 2 }", "machines: 2, from: 2026-11-01 }"),
    "ReservationEntry.until": stack("machines: 2 }", "machines: 2, until: 2027-01-10 }"),
    "ServiceAccountEntry.custom": h100("serviceAccount: { custom: false }"),
    "TeamEntry.submitters": stack(
        "[user:ada@acme.example], clusters: [h100]", "[user:eve@acme.example], clusters: [h100]"
    ),
    "TeamEntry.clusters": stack("clusters: [h100]", "clusters: [h100, cpu]"),
    "TeamEntry.budget": stack("clusters: [h100]", "clusters: [h100], budget: 20000"),
    "TeamEntry.machines": stack("clusters: [h100]", "machines: { judges: n1-standard-16 }"),
    "TrainerEntry.account": stack("account: ml-jobs", "account: ml-runs"),
    "TrainerEntry.submitters": stack(
        "  slipway:policy:\n",
        "  slipway:trainers: { ml: { submitters: [user:ada@acme.example] } }\n  slipway:policy:\n",
    ),
    "SessionsEntry.max": stack("sessions: { max: 8h }", "sessions: { max: 4h }"),
    "SessionsEntry.pools": stack("sessions: { max: 8h }", "sessions: { max: 8h, pools: [cpu/workers] }"),
    "WorkspaceEntry.submitters": stack("      - user:ada@acme.example\n", ""),
    "WorkspaceEntry.catalogBucket": stack("acme-catalog", "acme-other"),
    "WorkspaceEntry.workBucket": stack("acme-work", "acme-other"),
    "WorkspaceEntry.encryption": stack(
        "trainer: trainer",
        "trainer: trainer\n    encryption: { kmsKey: projects/p/locations/us-central1/keyRings/r/cryptoKeys/k }",
    ),
    "WorkspaceEntry.trainer": stack("trainer: trainer", "trainer: another"),
    "WorkspaceEntry.code": (
        stack("trainer: trainer", "trainer: trainer\n    code: true"),
        stack("      reviewedCodeOnly: true\n", ""),
    ),
    "WorkspaceEntry.confirmAbove": stack("trainer: trainer", "trainer: trainer\n    confirmAbove: 50"),
    "WorkspaceEntry.board": stack("trainer: trainer", "trainer: trainer\n    board: true"),
    "WorkspaceEntry.notify": stack("trainer: trainer", "trainer: trainer\n    notify: slack-ml"),
    "WorkspaceEntry.urgent": stack("trainer: trainer", "trainer: trainer\n    urgent: [user:eve@acme.example]"),
    "WorkspaceEntry.shell": stack("trainer: trainer", "trainer: trainer\n    shell: true"),
    "PolicyEntry.mandatory": stack("      reviewedCodeOnly: true\n", ""),
    "PolicyEntry.advisory": stack("longestTimeout: 48", "longestTimeout: 72"),
    "PolicyEntry.grades": stack("    advisory:\n", "    grades: { cluster-replaced: blocking }\n    advisory:\n"),
    "PolicyEntry.approveAbove": stack("    advisory:\n", "    approveAbove: { idle-cost: 500 }\n    advisory:\n"),
    "PolicyRulesEntry.regions": stack("[us-central1]", "[us-central1, us-east4]"),
    "PolicyRulesEntry.machines": rule("machines: [a3-highgpu-8g, n1-standard-4, n1-standard-8]"),
    "PolicyRulesEntry.idleCost": rule("idleCost: 300"),
    "PolicyRulesEntry.mostCost": rule("mostCost: 900"),
    "PolicyRulesEntry.protection": rule("protection: true"),
    "PolicyRulesEntry.quotaHeadroom": rule("quotaHeadroom: 10"),
    "PolicyRulesEntry.labels": rule("labels: [team]"),
    "PolicyRulesEntry.imagesByDigest": rule("imagesByDigest: true"),
    "PolicyRulesEntry.ownServiceAccount": rule("ownServiceAccount: true"),
    "PolicyRulesEntry.cmek": rule("cmek: true"),
    "PolicyRulesEntry.nothingPublic": rule("nothingPublic: true"),
    "PolicyRulesEntry.submitterRoles": rule("submitterRoles: true"),
    "PolicyRulesEntry.spotCheckpoints": rule("spotCheckpoints: true"),
    "PolicyRulesEntry.longestTimeout": stack("longestTimeout: 48", "longestTimeout: 12"),
    "PolicyRulesEntry.reviewedCodeOnly": stack("reviewedCodeOnly: true", "reviewedCodeOnly: false"),
}
SESSIONS = stack("  slipway:policy:\n", "  slipway:sessions: { max: 8h }\n  slipway:policy:\n")
GIVEN: dict[str, tuple[Edit, ...]] = {
    **{f"SessionsEntry.{key}": (SESSIONS, *SCRIPT) for key in ("max", "pools")},
    **{f"AgentsEntry.{key}": (AGENTS,) for key in ("perDay", "machines")},
    **{f"BudgetEntry.{key}": (BUDGET,) for key in ("stack", "teams", "users", "enforce")},
    "AcceleratorEntry.type": T4,
    "AcceleratorEntry.count": T4,
    "PoolEntry.accelerator": T4,
    **{f"TeamEntry.{key}": (TEAM,) for key in ("submitters", "clusters", "budget")},
    "TeamEntry.machines": (TEAM, *KEYED),
    **{f"MachineEntry.{key}": KEYED for key in ("machine", "accelerator", "disk")},
    "TrainerEntry.account": (
        stack("  slipway:policy:\n", "  slipway:trainers: { ml: { account: ml-jobs } }\n  slipway:policy:\n"),
    ),
}


def fields() -> Iterator[str]:
    for module in (entries, config):
        for name, model in getmembers(module, isclass):
            # The fields of a private class are those of the entries that are made of it.
            if name.startswith("_") or model.__module__ != module.__name__:
                continue
            if issubclass(model, Entry) and model is not Entry:
                yield from (f"{name}.{field.alias or key}" for key, field in model.model_fields.items())


def test_every_field_is_edited_here() -> None:
    assert sorted(EDITS) == sorted(fields())


AT_CREATION = ("ReplicaRange.initial",)
"""What counts only when a cluster is created, so that no catalog has it."""


@pytest.mark.parametrize("name", [name for name in EDITS if name not in AT_CREATION])
def test_an_edit_is_rejected_or_in_the_table_of_settings(name: str) -> None:
    edits = EDITS[name]
    reviewed = play(Case(name, edits if isinstance(edits, tuple) else (edits,), given=GIVEN.get(name, ())))
    assert reviewed.settings or reviewed.refused
    assert [row for row in reviewed.settings if row.before == row.after] == []
