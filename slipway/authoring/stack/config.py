"""The configuration of a stack: its keys, what jobs need beside machines, and the rules that a team sets itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, Strict, create_model

from slipway.authoring.policy.rules import RULES
from slipway.authoring.stack import bounds
from slipway.authoring.stack.entries import (
    ClusterEntry,
    EncryptionEntry,
    Entry,
    KeyedMachine,
    QuotaEntry,
    ReservationEntry,
)
from slipway.model.catalog.model import CONFIRM_ABOVE

Members = Annotated[tuple[Annotated[str, bounds.MEMBER], ...], Strict(False)]
"""IAM members; the file has a list, and their order means nothing."""


class WorkspaceEntry(Entry):
    """Submitters, buckets, and the account that jobs run as."""

    submitters: Members = Field(
        default=(), description="IAM members that may submit jobs.", examples=["[group:ml-engineers@acme.example]"]
    )
    catalog_bucket: Annotated[str, bounds.BUCKET_NAME] = Field(
        default="",
        description="Bucket of the catalog; <project>-<Pulumi project>--<stack>-catalog when left out.",
        examples=["acme-slipway-catalog"],
    )
    work_bucket: Annotated[str, bounds.BUCKET_NAME] = Field(
        default="",
        description="Bucket of results, in the stack's region; <project>-<Pulumi project>--<stack>-work when left out. "
        "An alternative in "
        "another region has a bucket of its own, with the region behind its name.",
        examples=["acme-slipway-work"],
    )
    encryption: EncryptionEntry | None = Field(
        default=None,
        description="Key of the buckets that the stack makes, and of jobs on machines of their own; "
        "Google's own when left out.",
    )
    trainer: Annotated[str, bounds.TRAINER] = Field(
        default="",
        description="Id of the account that jobs run as, in the stack's project; else <Pulumi project>--<stack>--"
        "trainer.",
        examples=["slipway-trainer"],
    )
    code: bool = Field(
        default=False,
        description="true: `submit --code` may run a person's working tree, on templates that allow it.",
        examples=["true"],
    )
    shell: bool = Field(
        default=False,
        description="Whether `submit --shell` may ask for a shell in the job's machines: whoever opens it acts as the "
        "job's account.",
        examples=["true"],
    )
    urgent: Members = Field(
        default=(),
        description="IAM members whose `submit --urgent` may have running jobs of others make room, where these go on "
        "from checkpoints; a group's for jobs of the team that it is called like; nobody when left out.",
        examples=["[user:ada@acme.example]"],
    )
    confirm_above: Annotated[float, bounds.COST] = Field(
        default=CONFIRM_ABOVE,
        description="USD an hour: `submit` asks before it sends jobs that cost more, on machines that are neither a "
        "pool's nor reserved; --yes answers.",
        examples=[4],
    )
    board: bool = Field(
        default=False,
        description="true: the hourly run writes the board into the catalog's bucket, whose readers then see "
        "everybody's jobs and costs.",
        examples=["true"],
    )
    notify: Annotated[str, bounds.SECRET_NAME] | None = Field(
        default=None,
        description="Secret of Secret Manager that has the address of a chat room or program: each job tells it when "
        "it starts after a wait, succeeds or fails, and a sweep at its first failure and its end "
        "(docs/follow.md). The accounts of jobs must be able to read it.",
        examples=["slack-ml"],
    )

    @property
    def kms_key(self) -> str:
        """The key of the stack's buckets, and of jobs on machines of their own; empty for Google's own."""
        return self.encryption.kms_key if self.encryption else ""


class TrainerEntry(Entry):
    """Another account for the jobs of templates that name it, with secrets, data and submitters of its own."""

    account: Annotated[str, bounds.TRAINERS_ACCOUNT] = Field(
        default="",
        description="Account id, made in the stack's project; <Pulumi project>--<stack>--<name> when left out.",
        examples=["slipway-evals"],
    )
    submitters: Members = Field(
        default=(),
        description="IAM members that may submit its templates, and so may run any code as it; nobody when left out.",
        examples=["[group:evals@acme.example]"],
    )


class TeamEntry(Entry):
    """A team: who belongs to it, which clusters `submit` keeps for its jobs, and which machines they take."""

    submitters: Members = Field(
        default=(),
        description="IAM members of the team, who may submit as those of `slipway:workspace` may.",
        examples=["[group:vision@acme.example]"],
    )
    clusters: Annotated[tuple[Annotated[str, bounds.CLUSTER_NAME], ...], Strict(False)] = Field(
        default=(),
        description="Clusters to which `submit` sends only this team's jobs. One that several teams list is for them; "
        "one that no team lists is for everybody.",
        examples=["[h100]"],
    )
    budget: Annotated[float, bounds.COST] | None = Field(
        default=None, description="USD a month, in place of the team's part of `slipway:budget`.", examples=[20000]
    )
    machines: dict[Annotated[str, bounds.MACHINE_KEY], KeyedMachine] = Field(
        default={},
        description="Machines of this team's jobs, by keys of `slipway:machines`, whose values the others take.",
        examples=["{small: n1-standard-16}"],
    )


_SETTINGS: Mapping[str, Any] = {
    "regions": list[Annotated[str, bounds.REGION]],
    "names": list[str],
    "amount": Annotated[float, bounds.COST],
    "hours": Annotated[float, bounds.HOURS],
    "switch": bool,
}
# A key for each rule.
_RULES: dict[str, Any] = {
    rule.key: (_SETTINGS[rule.takes] | None, Field(default=None, description=rule.text, examples=[rule.example]))
    for rule in RULES
}


class PolicyRulesEntry(create_model("Rules", __base__=Entry, **_RULES)):  # type: ignore[misc]
    """Rules of your own (docs/policy.md). Only those that are written hold."""


class PolicyEntry(Entry):
    """Rules for the stack: a broken mandatory rule stops the deployment, a broken advisory one is a warning."""

    mandatory: PolicyRulesEntry = PolicyRulesEntry()
    advisory: PolicyRulesEntry = PolicyRulesEntry()
    grades: Annotated[dict[Annotated[str, bounds.KIND], Annotated[str, bounds.GRADE]], bounds.GRADES] = Field(
        default={},
        description="Other grades for what reviews find (docs/findings.md), by kind.",
        examples=["{access-lost: warning}"],
    )
    approve_above: dict[Annotated[str, bounds.SUM], Annotated[float, bounds.COST]] = Field(
        default={},
        description="USD a month: a change that adds more, with nothing running or with every pool at its maximum, "
        "needs an approval.",
        examples=["{idle-cost: 500, most-cost: 5000}"],
    )


class BudgetEntry(Entry):
    """The stack's budget for a month: machines of its pools, and jobs' own machines, as the hourly run records them.
    `submit` warns at 80 %."""

    stack: Annotated[float, bounds.COST] | None = Field(
        default=None, description="USD a month for the stack, idle machines included.", examples=[80000]
    )
    teams: dict[str, Annotated[float, bounds.COST]] = Field(
        default={}, description="USD a month for each team.", examples=["{vision: 30000}"]
    )
    users: dict[str, Annotated[float, bounds.COST]] = Field(
        default={},
        description="USD a month for each user. It only warns, as users name themselves.",
        examples=["{ada: 500}"],
    )
    enforce: bool = Field(
        default=False,
        description="true: `submit` refuses jobs when the budget of the stack or the team is spent (exit code 5).",
        examples=["true"],
    )


class SessionsEntry(Entry):
    """Limits of `slipway session start`, which holds machines for one person's commands."""

    max: Annotated[str, bounds.IDLE_LIMIT] | None = Field(
        default=None, description="The longest; a session ends that long after its start.", examples=["8h"]
    )
    pools: Annotated[tuple[str, ...], Strict(False)] | None = Field(
        default=None,
        description="The only pools that sessions may hold machines of; no session at all where the list is empty, and "
        "wherever a job may run when left out.",
        examples=["[cpu/workers]"],
    )


class AgentsEntry(Entry):
    """Allowance of AI agents beside the pools, without a person: nothing when left out. An agent tells itself by
    SLIPWAY_AGENT (docs/agents.md)."""

    per_day: Annotated[float, bounds.COST] = Field(
        description="USD that the jobs of all agents may cost in 24 hours, each counted until its time limit.",
        examples=[50],
    )
    machines: Annotated[tuple[str, ...], Strict(False)] = Field(
        default=(),
        description="The machines that these jobs may take, as `submit` prints them; any when left out.",
        examples=["[n1-standard-8, n1-standard-8 with 1 NVIDIA_TESLA_T4]"],
    )


class ConfigEntry(BaseModel):
    """Configuration of the stack. Slipway reads no keys of other namespaces."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    project: Annotated[str, bounds.PROJECT_ID] = Field(
        alias="gcp:project", description="Project id.", examples=["acme-ml-prod"]
    )
    region: Annotated[str, bounds.REGION] = Field(
        alias="gcp:region",
        description="Region of buckets, jobs, quota and clusters, except alternatives in another region.",
        examples=["us-central1"],
    )
    attribution_label: Annotated[Any, bounds.ATTRIBUTION_LABEL] = Field(
        alias="gcp:addPulumiAttributionLabel",
        description='Always "false": that label can\'t change on a living cluster.',
        examples=['"false"'],
    )
    clusters: dict[Annotated[str, bounds.CLUSTER_NAME], ClusterEntry] = Field(
        default={}, alias="slipway:persistentResources", description="Clusters, by the name that people type."
    )
    quota: QuotaEntry = Field(default=QuotaEntry(), alias="slipway:quota")
    templates: list[Annotated[str, bounds.TEMPLATE_NAME]] = Field(
        default=[],
        alias="slipway:templates",
        description="Job templates to publish, by name.",
        examples=["[dask-digits]"],
    )
    reservations: dict[Annotated[str, bounds.RESERVATION_NAME], ReservationEntry] = Field(
        default={},
        alias="slipway:reservations",
        description="Reserved machines, by the name that templates use for the capacity type `reservation`.",
    )
    machines: dict[Annotated[str, bounds.MACHINE_KEY], KeyedMachine] = Field(
        default={},
        alias="slipway:machines",
        description='Machines, by the key that templates may name in place of a machine type: machine="small".',
        examples=["{small: n1-standard-8}"],
    )
    regions: list[Annotated[str, bounds.REGION]] = Field(
        default=[],
        alias="slipway:regions",
        description="Other regions where jobs may run on machines of their own (docs/scarce-machines.md). Each has a "
        "work bucket of its own, with the region behind its name, and quota of its own.",
        examples=["[us-east5, europe-west4]"],
    )
    workspace: WorkspaceEntry = Field(default=WorkspaceEntry(), alias="slipway:workspace")
    trainers: dict[Annotated[str, bounds.TRAINER_NAME], TrainerEntry] = Field(
        default={},
        alias="slipway:trainers",
        description='Other accounts for jobs, by the name that templates give: trainer="evals".',
    )
    teams: dict[Annotated[str, bounds.TEAM_NAME], TeamEntry] = Field(
        default={}, alias="slipway:teams", description="Teams, by name."
    )
    shares: dict[Annotated[str, bounds.CLUSTER_NAME], dict[str, Annotated[int, bounds.SHARE]]] = Field(
        default={},
        alias="slipway:shares",
        description="Machines of a cluster that each team's jobs have while others wait, by cluster and team; `submit` "
        "sends more only while no team below its share waits (docs/full-pool.md).",
        examples=["{h100: {vision: 2, language: 2}}"],
    )
    policy: PolicyEntry = Field(default=PolicyEntry(), alias="slipway:policy")
    budget: BudgetEntry | None = Field(
        default=None, alias="slipway:budget", description="What the stack may cost a month; no limit when left out."
    )
    sessions: SessionsEntry | None = Field(
        default=None, alias="slipway:sessions", description="Limits of sessions; those of jobs when left out."
    )
    agents: AgentsEntry | None = Field(
        default=None, alias="slipway:agents", description="Allowance of AI agents; nothing when left out."
    )


OWN_KEYS = tuple(str(field.alias) for field in ConfigEntry.model_fields.values())
