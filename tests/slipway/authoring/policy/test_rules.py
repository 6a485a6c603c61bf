"""Each rule of a policy, with a stack that keeps it and one that breaks it. # N5 # P5 # X3"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from slipway.authoring.policy.rule import ADVISORY, MANDATORY, DeclaredStack
from slipway.authoring.policy.rules import RULES, refuse, sentence, violations
from slipway.base.errors import PolicyError
from slipway.model.catalog.clusters import Cluster, DormantCluster, Pool, PricedAlternative
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template
from slipway.model.cluster import Adoption
from slipway.model.facts import Facts, QuotaFacts, QuotaLine, TrainerFacts
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.prices import Price
from slipway.model.season import Season

TRAINER = "slipway-dev-trainer@acme-dev.iam.gserviceaccount.com"
DIGEST = "europe-docker.pkg.dev/acme/train/lora@sha256:" + "0" * 64
KEY = "projects/acme-dev/locations/us-central1/keyRings/r/cryptoKeys/k"
WORKERS = Pool("workers", MachineSpec("n1-standard-8", disk=Disk("pd-ssd", 100)), 2, 10, True, Price(Decimal("0.5")))
CPU = Cluster("cpu", (WORKERS,), id="cpu-1a2b3c4", kms_key=KEY, labels={"team": "ml"})
REQUEST = {
    "encryptionSpec": {"kmsKeyName": KEY},
    "jobSpec": {
        "serviceAccount": "lora@acme-dev.iam.gserviceaccount.com",
        "scheduling": {"timeout": "3600s"},
        "workerPoolSpecs": [
            {
                "machineSpec": {"machineType": "n1-standard-8"},
                "replicaCount": "1",
                "containerSpec": {"imageUri": DIGEST},
            }
        ],
    },
}
PIPELINE: Any = {"runtimeConfig": {}, "pipelineSpec": {}}
SPOT = Offer("spot", True, "", "", (), Price(Decimal(1)), REQUEST)
LORA = Template("lora", "", "custom-job", (), (), (SPOT,), checkpoints=True)


def drawn(high: int) -> QuotaFacts:
    return QuotaFacts("us-central1", "enforce", False, {"cpus": QuotaLine("cpus", "ok", 0, {}, high, 100)})


GOOD = Facts(
    Catalog("dev", "acme-dev", "us-central1", "", False, "work", TRAINER, {"cpu": CPU}, (), {"lora": LORA}),
    submitters={"group:ml@acme.example": {"submit": "roles/aiplatform.user"}},
    quota=drawn(80),
    kms_key=KEY,
)


def with_request(path: str, value: object) -> Facts:
    """The same stack, whose template asks for something else."""
    body: Any = {**REQUEST, "jobSpec": {**REQUEST["jobSpec"]}}  # type: ignore[dict-item]
    *way, last = path.split(".")
    inner = body
    for key in way:
        at: Any = int(key) if key.isdigit() else key
        inner[at] = dict(inner[at]) if isinstance(inner[at], Mapping) else list(inner[at])
        inner = inner[at]
    inner[last] = value
    return with_template(replace(LORA, offers=(replace(SPOT, request=body),)))


def with_template(template: Template) -> Facts:
    return moved(templates={template.name: template})


def with_cluster(**changes: Any) -> Facts:
    return moved(clusters={"cpu": replace(CPU, **changes)})


WORKER = "jobSpec.workerPoolSpecs.0"
FAR = (PricedAlternative((replace(WORKERS, price_per_hour=Price(Decimal("0.6"))),), "us-east4"),)
EVERYBODY: dict[str, dict[str, str]] = {"domain:acme.example": {}}
EVALS = {"evals": TrainerFacts("evals", "e@p.iam", {"domain:acme.example": "role"})}


def with_pool(**changes: Any) -> Facts:
    return with_cluster(pools=(replace(WORKERS, **changes),))


def runs(key: str, value: object) -> Facts:
    """The same stack, whose template's worker pool is another one."""
    return with_request(f"{WORKER}.{key}", value)


def moved(**changes: Any) -> Facts:
    return replace(GOOD, catalog=replace(GOOD.catalog, **changes))


ALLOWED = "allowed are us-central1"
TWO = with_cluster(alternatives=(PricedAlternative((WORKERS,)), PricedAlternative((WORKERS,), "us-east4")))
DEARER = with_cluster(alternatives=FAR)
OWNER = {"user:a@acme.example": {"x": "roles/owner"}}
CASES: tuple[tuple[str, object, Facts, str], ...] = (
    ("regions", ["us-central1"], moved(region="asia-east1"), f"region asia-east1: {ALLOWED}"),
    ("regions", ["us-central1"], TWO, f"cluster cpu (alternative 2): us-east4, {ALLOWED}"),
    ("regions", ["us-central1"], with_cluster(region="us-east4", alternative=1), f"cluster cpu: us-east4, {ALLOWED}"),
    (
        "idleCost",
        1,
        DEARER,
        "the stack: $1.20/h at its smallest with its dearest alternatives, at most $1.00/h is allowed",
    ),
    ("mostCost", 5, with_pool(max=11), "the stack: up to $5.50/h, at most $5.00/h is allowed"),
    (
        "machines",
        ["n1-*"],
        runs("machineSpec", {"machineType": "a3-highgpu-8g"}),
        "template lora (spot): a3-highgpu-8g, allowed are n1-*",
    ),
    ("protection", True, with_cluster(replacement="in-place"), "cluster cpu: in-place"),
    ("quotaHeadroom", 25, replace(GOOD, quota=drawn(81)), "quota cpus: pools take 81 of 100 at most; keep 25 % free"),
    ("labels", ["team"], with_cluster(labels={}), "cluster cpu: label team is missing"),
    (
        "imagesByDigest",
        True,
        runs("containerSpec", {"imageUri": "train:latest"}),
        "template lora (spot): image train:latest is not pinned by digest",
    ),
    ("imagesByDigest", True, runs("containerSpec", {"executorImageUri": "a:b"}), "template lora (spot): image a:b is"),
    (
        "ownServiceAccount",
        True,
        with_request("jobSpec.serviceAccount", TRAINER),
        f"template lora (spot): runs as {TRAINER}",
    ),
    ("cmek", True, with_cluster(kms_key=""), "cluster cpu: no encryption.kmsKey"),
    ("cmek", True, replace(GOOD, kms_key=""), "the stack's buckets: no encryption.kmsKey under slipway:workspace"),
    ("cmek", True, with_request("encryptionSpec", {}), "template lora (spot): no key of your own"),
    ("nothingPublic", True, replace(GOOD, submitters=EVERYBODY), "submitter domain:acme.example"),
    ("nothingPublic", True, replace(GOOD, trainers=EVALS), "submitter domain:acme.example"),
    (
        "submitterRoles",
        True,
        replace(GOOD, submitters=OWNER),
        "submitter user:a@acme.example: roles/owner is more than submitting needs",
    ),
    ("spotCheckpoints", True, with_template(replace(LORA, checkpoints=False)), "template lora: is offered on Spot"),
    (
        "longestTimeout",
        1,
        with_request("jobSpec.scheduling", {"timeout": "7200s"}),
        "template lora (spot): may run 2 h, at most 1 h are allowed",
    ),
    ("longestTimeout", 1, with_request("jobSpec.scheduling", {}), "template lora (spot): may run 7 days"),
    (
        "longestTimeout",
        1,
        with_template(replace(LORA, offers=(replace(SPOT, kind="pipeline", request=PIPELINE),))),
        "template lora (spot): may run 7 days, at most 1 h are allowed; a pipeline can't have a timeout: allow as much",
    ),
    ("reviewedCodeOnly", True, replace(GOOD, code=True), "slipway:workspace.code is true"),
)


def held_to(facts: Facts, key: str, setting: object, level: str = MANDATORY) -> list[str]:
    return [sentence(violation) for violation in violations(replace(facts, policy={level: {key: setting}}))]


@pytest.mark.parametrize(("key", "setting", "broken", "words"), CASES)
def test_a_rule_is_kept_and_is_broken(key: str, setting: object, broken: Facts, words: str) -> None:
    assert held_to(GOOD, key, setting) == []
    (said,) = held_to(broken, key, setting)
    assert said.startswith(words), said
    assert said.endswith(f"[mandatory policy {key}]")


def test_a_rule_that_allows_nothing_says_so() -> None:
    assert held_to(GOOD, "regions", [])[0].startswith("region us-central1: allowed are none")


def test_each_rule_has_a_case() -> None:
    assert {rule.key for rule in RULES} == {case[0] for case in CASES}


def test_a_rule_that_is_false_or_left_out_asks_for_nothing() -> None:
    switches = [(key, broken) for key, setting, broken, _ in CASES if setting is True]
    assert [said for key, broken in switches for said in held_to(broken, key, False)] == []
    assert [violation for _, _, broken, _ in CASES for violation in violations(broken)] == []


def test_a_mandatory_rule_stops_the_deployment_and_an_advisory_one_does_not() -> None:
    open_stack = replace(GOOD, code=True)
    refuse(violations(replace(open_stack, policy={ADVISORY: {"reviewedCodeOnly": True}})))
    with pytest.raises(PolicyError, match="breaks 1 of its own mandatory rules, so nothing was changed"):
        refuse(violations(replace(open_stack, policy={MANDATORY: {"reviewedCodeOnly": True}})))


def test_a_request_is_judged_where_its_cluster_is() -> None:  # N2
    pool = replace(SPOT, capacity_type="pool", cluster="cpu", pools=("workers",))
    catalog = with_cluster(region="us-east4", alternative=1).catalog
    lora = replace(LORA, offers=(pool, SPOT))
    declared = DeclaredStack(replace(GOOD, catalog=replace(catalog, templates={"lora": lora}))).requests
    assert [request.region for _, _, request in declared] == ["us-east4", "us-central1"]


def test_a_rule_that_nobody_knows_can_not_be_shown_to_hold() -> None:
    (said,) = held_to(GOOD, "neverOnFridays", True)
    assert "unknown rule neverOnFridays" in said
    (said,) = held_to(GOOD, "idleCost", "cheap")
    assert said.startswith("setting 'cheap' of idleCost: this version of slipway can't check it")


def test_what_an_adopted_cluster_costs_and_is_labelled_with_is_its_owners_and_nothing_else() -> None:  # N13
    theirs = replace(CPU, name="theirs", id="team-a", labels={}, kms_key="", adopted=Adoption("team-a"))
    policy = {"idleCost": 1.5, "mostCost": 6, "labels": ["team"], "cmek": True, "machines": ["n1-*"]}
    catalog = replace(GOOD.catalog, clusters={"cpu": CPU, "theirs": theirs})
    broken = violations(replace(GOOD, catalog=catalog, policy={MANDATORY: policy}))
    assert ["theirs: no encryption.kmsKey" in violation.sentence for violation in broken] == [True]


DECEMBER, JANUARY = datetime(2026, 12, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)


def resting(name: str, season: Season, **changes: Any) -> DormantCluster:
    return DormantCluster(**{**vars(CPU), "name": name, "id": f"{name}-1a2b3c4", "season": season, **changes})


def with_resting(*clusters: DormantCluster, **now: Any) -> Facts:
    """Beside the cluster of now, which `now` changes."""
    there = {"cpu": replace(CPU, **now)}
    return replace(
        GOOD, catalog=replace(GOOD.catalog, clusters=there, dormant={cluster.name: cluster for cluster in clusters})
    )


@pytest.mark.parametrize(
    ("key", "setting", "changes", "breach"),
    [
        (
            "machines",
            ["n1-standard-8"],
            {"pools": (replace(WORKERS, machine=MachineSpec("n1-highmem-8")),)},
            "pool gpu/workers: n1-highmem-8",
        ),
        ("regions", ["us-central1"], {"region": "us-east4"}, "cluster gpu: us-east4"),
        ("cmek", True, {"kms_key": ""}, "cluster gpu: no encryption.kmsKey"),
        ("protection", True, {"replacement": "in-place"}, "cluster gpu: in-place"),
    ],
)
def test_a_cluster_whose_season_is_to_begin_keeps_the_rules_from_its_review_on(
    key: str, setting: object, changes: dict[str, Any], breach: str
) -> None:
    """Else the day on which it begins would stop the whole stack. What only an edit brings back is reviewed then."""
    policy = {MANDATORY: {key: setting}}
    (breaches,) = violations(replace(with_resting(resting("gpu", Season(DECEMBER), **changes)), policy=policy))
    assert breaches.sentence.startswith(breach)
    over = resting("gpu", Season(None, DECEMBER), since=DECEMBER, **changes)
    for cluster_ in (over, replace(over, why="idle")):
        assert violations(replace(with_resting(cluster_), policy=policy)) == ()


@pytest.mark.parametrize(
    ("key", "each", "breach"), [("idleCost", 1, "$2.00/h at its smallest"), ("mostCost", 5, "up to $10.00/h")]
)
def test_money_is_counted_of_the_clusters_that_are_there_at_once(key: str, each: float, breach: str) -> None:
    """One cluster costs `each`."""

    def texts(facts: Facts, most: float) -> list[str]:
        return [violation.sentence for violation in violations(replace(facts, policy={MANDATORY: {key: most}}))]

    second, third = resting("second", Season(DECEMBER, JANUARY)), resting("third", Season(JANUARY))
    (text,) = texts(with_resting(second, third), each)
    assert text.startswith(f"the stack: {breach} from 2026-12-01 on, at most ")
    assert texts(with_resting(second, third), 2 * each) == [], "the third comes when the second goes"
    assert texts(with_resting(second, third, season=Season(None, DECEMBER)), each) == [], "they take turns"
    assert texts(with_resting(replace(second, adopted=Adoption("team-a"))), each) == []


def test_what_an_offer_on_a_dormant_cluster_takes_is_told_of_its_pool_alone() -> None:
    offer = replace(SPOT, capacity_type="pool", dormant="gpu")
    template = replace(LORA, offers=(offer,))
    facts = with_resting(resting("gpu", Season(DECEMBER)))
    broken = replace(facts, policy={MANDATORY: {"machines": ["a3-*"]}})
    broken = replace(broken, catalog=replace(broken.catalog, templates={"lora": template}))
    assert [violation.sentence.partition(":")[0] for violation in violations(broken)] == [
        "pool cpu/workers",
        "pool gpu/workers",
    ]


def test_a_cluster_that_waits_for_quota_since_its_season_began_counts_as_there() -> None:
    late = resting("late", Season(datetime(2026, 11, 1, tzinfo=UTC)), lacks=("cpus",), labels={})
    facts = with_resting(late, season=Season(datetime(2026, 11, 20, tzinfo=UTC)))
    breaches = violations(replace(facts, policy={MANDATORY: {"labels": ["team"], "idleCost": 1}}))
    assert [finding.sentence.partition(",")[0] for finding in breaches] == [
        "cluster late: label team is missing",
        "the stack: $2.00/h at its smallest",
    ]
