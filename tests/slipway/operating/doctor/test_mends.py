"""A mend is a command to be pasted as it stands, or says in words what a person must do; for every kind, a budget's
too. # N10 N19"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache

import pytest

from slipway.authoring.stack.yaml_file import from_text
from slipway.deploying.deployment.workspace_plan import SUBMITTER_ROLES
from slipway.google.live import Increase, Live, Unknown
from slipway.google.monitoring import CPU as CPU_USE
from slipway.google.monitoring import Point, Series
from slipway.google.permissions import Bound
from slipway.google.quota.seasons import judge
from slipway.google.storage import Location
from slipway.model.budget import Budget, Ledger, month_of
from slipway.model.catalog.clusters import DormantCluster
from slipway.model.catalog.template import Parameter
from slipway.model.findings.finding import Finding, Grade, Section, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import CAPACITY_TYPE_LABEL, CODE_LABEL, recorded
from slipway.model.state import State
from slipway.operating.doctor.examination import examine
from slipway.operating.doctor.picture import Backend, Need, Picture, Policy, Submission, UnseenPolicy
from slipway.using.jobs.pause import STACK, Pause
from tests.slipway.operating.doctor.picture import (
    BUSY,
    CPU,
    DOCUMENT,
    FILE,
    found,
    lives,
    package,
    picture,
    published,
    state,
)
from tests.slipway.reviewing.builders import NOW, TRAINER, catalog, cluster, job, limits, offer, template

# Pulumi's own commands rewrite the reviewed stack file: targets of make give it a copy.
COMMANDS = frozenset({"make", "slipway", "gcloud", "find", "cp", "mv"})
WORDS = re.compile(r"(raise|remove|lower|ask for|set|submit|free|leave|type again) ")
PLACEHOLDER = re.compile(r"…|<[^>]*>|\b[A-Z]{4,}\b(?![_=])")
CPUS = "custom_model_training_cpus"
OFF = Unknown("Vertex AI API has not been used", "aiplatform.googleapis.com x", "role", off=True)
DENIED = Unknown("denied", "aiplatform.googleapis.com customJobs.list", "roles/aiplatform.viewer", "ada")
OTHER = replace(lives(), name="projects/p/locations/r/persistentResources/theirs", labels={})
SENT = job("alone", strategy="STANDARD", env={"SLIPWAY_PARAMETERS": recorded({"name": "my run"})})
ALONE = replace(SENT, labels={**SENT.labels, CAPACITY_TYPE_LABEL: "on-demand"})
LORA = template("lora", offer(), offer("on-demand"), parameters=[Parameter("name", "str")])
FAILED = lives(state="ERROR", error="no machines")
OLD = cluster("cpu", generation=7)

HEALTH = [word for word, kind in KINDS.items() if kind.section is Section.HEALTH]


def quota(limit: int, increase: Increase = Increase.POSSIBLE) -> object:
    other = replace(lives(replicas=1), name="other", labels={})
    return judge(catalog(CPU), Live((lives(used=1), other), (BUSY,), limits({CPUS: limit}, increase), None), NOW)


def pictures() -> Iterator[Picture]:
    """One at least for each kind."""
    yield picture(FAILED)
    yield picture(lives(used=1), lives(OLD, state="ERROR"))
    yield picture(replace(lives(), labels={}))
    yield picture(OTHER)
    yield picture(replace(OTHER, pools=lives(used=1).pools))
    yield picture(lives(used=1, days=1, state="PROVISIONING"), jobs=())
    yield picture(backend=Backend("gs://s", state()))
    yield picture(lives(used=1), lives(OLD))
    for jobs, used in (((job("tune", on=OLD),), 1), ((), 1), ((), 0)):
        yield picture(
            lives(days=3, used=1),
            lives(OLD, used=used),
            jobs=(BUSY, *jobs),
            published=published(catalog(CPU, retiring=(OLD.id,))),
        )
    for spent in (990.0, 500.0, None):
        ledger = None if spent is None else Ledger(NOW, month_of(NOW), spent, 2000.0)
        yield picture(published=published(replace(catalog(CPU), budget=Budget(1000))), ledger=ledger)
    for paused in (STACK, "cpu"):
        yield picture(pauses={paused: Pause(Location("work", "pauses/1"), paused, NOW, "ada")})
    yield picture(lives(days=34, used=1))
    yield picture(lives(), jobs=(), recent=())
    yield picture(lives(replicas=2), jobs=(), recent=(), document=None)
    told = published(catalog(CPU, LORA))
    for beside in (ALONE, replace(ALONE, labels={**ALONE.labels, CODE_LABEL: "x"}), replace(ALONE, labels={})):
        for of_catalog in ("", " --catalog gs://acme"):
            yield picture(lives(used=1), jobs=(beside,), published=told, of_catalog=of_catalog)
    named = from_text("config:\n  slipway:quota: { contactEmail: ml@acme.example }\n", FILE)
    for document in (named, DOCUMENT):
        for increase in (Increase.POSSIBLE, Increase.IMPOSSIBLE):
            yield picture(quota=quota(17, increase), document=document)
    yield picture(published=None)
    yield picture(published=replace(told, whole=None, damage="not valid JSON"))
    yield picture(commits=("1234567 x",))
    yield picture(published=published(catalog(CPU, dirty=True)))
    image = {"containerSpec": {"imageUri": "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"}}
    old = offer(request={"jobSpec": {"workerPoolSpecs": [image]}})
    yield picture(published=published(catalog(CPU, template("lora", old), template("tune", old))))
    yield picture(backend=Backend("gs://s", state(CPU.id, OLD.id)))
    yield picture(backend=Backend("gs://s", None))
    yield picture(backend=Backend("file:///s", state(CPU.id), pending=("work",)))
    yield picture(backend=Backend("file:///s", state(CPU.id), pending=("work",), deletes=True), published=None)
    sent = Submission("lora-1", "lora", NOW - timedelta(hours=2), ("-p", "name=my run"))
    yield picture(submissions=(sent, replace(sent, words=None)))
    for many in (1, 9):
        packages = (package(f"gs://b/packages/{n}.tar.gz", 10, NOW - timedelta(days=100 + n)) for n in range(many))
        yield picture(packages=tuple(packages))
    everybody = frozenset({Bound("roles/storage.objectViewer", "allUsers"), Bound("roles/x", "user:a@b", "in May")})
    yield picture(policies=(Policy(Subject("bucket", "acme-work"), everybody),))
    remade = published(replace(catalog(CPU), submitters={TRAINER: ("group:ml@acme.example",)}))
    shut = (Policy(Subject("account", TRAINER), frozenset()),)
    yield picture(policies=shut, published=remade, backend=Backend("gs://s", state(CPU.id)))
    submitter = frozenset(Bound(role, "user:eve@acme.example") for role in SUBMITTER_ROLES.values())
    policies = (Policy(Subject("project", "acme-prod"), submitter),)
    yield picture(lives(), policies=policies)
    yield picture(policies=policies, neighbours=DENIED)
    known = State(submitters=("user:eve@acme.example",))
    yield picture(policies=policies, backend=Backend("gs://s", known))
    yield picture(policies=policies, backend=Backend("gs://s", known), published=None)
    slept = tuple(Point(NOW - timedelta(minutes=minute), 0.0) for minute in (16, 5))
    yield picture(lives(used=4), jobs=(ALONE,), use=(Series(CPU_USE, ALONE.id, "workerpool0-0", "", slept),))
    yield picture(
        policies=(
            UnseenPolicy("no such account", "", "r", of=Subject("account", "t@p.iam.gserviceaccount.com"), gone=True),
        )
    )
    yield picture(jobs=DENIED, recent=DENIED, quota=replace(DENIED, role=""))
    yield picture(clusters=OFF)
    yield picture(gaps=(Need("project acme-prod", "", "roles/logging.viewer", "slipway jobs logs"),))
    yield picture(lives(), published=published(catalog(CPU, cluster("gone"))))
    yield picture(published=published(catalog(CPU, dormant={"gpu": DormantCluster(**vars(cluster("gpu")))})))


@cache
def every() -> tuple[Finding, ...]:
    return tuple(dict.fromkeys(finding for seen in pictures() for finding in examine(seen)))


def test_there_is_an_example_of_every_kind() -> None:
    assert {finding.kind for finding in every()} == set(HEALTH)


@pytest.mark.parametrize("kind", HEALTH)
def test_what_mends_can_be_pasted_or_is_said_in_words(kind: str) -> None:
    for finding in (finding for finding in every() if finding.kind == kind):
        assert finding.fix, finding
        if finding.fix.partition(" ")[0] in COMMANDS:
            shlex.split(finding.fix)
            assert not PLACEHOLDER.search(finding.fix), finding.fix
        else:
            assert WORDS.match(finding.fix), finding.fix


def test_what_everybody_may_do_is_an_exposure_with_the_command_that_ends_it() -> None:
    def told(*bound: Bound) -> dict[str, Finding]:
        return found(policies=(Policy(Subject("bucket", "acme-work"), frozenset(bound)),))

    ada, viewer = Bound("roles/viewer", "user:ada@acme.example"), "roles/storage.objectViewer"
    finding = told(Bound(viewer, "allUsers"), ada)["exposed"]
    assert finding.sentence == f"anybody on the internet has {viewer} on bucket acme-work (allUsers)"
    command = "gcloud storage buckets remove-iam-policy-binding gs://acme-work --member=allUsers"
    assert finding.fix == f"{command} --role={viewer}"
    two = told(Bound("roles/storage.objectAdmin", "allAuthenticatedUsers", "in May"))["exposed"]
    assert two.sentence.startswith("anybody with a Google account") and two.fix.endswith(" --all")
    assert told(ada) == {}


def test_a_job_beside_a_pool_is_submitted_there_with_its_own_parameters() -> None:
    told = published(catalog(CPU, LORA))
    finding = found(lives(used=1), jobs=(ALONE,), published=told, of_catalog=" --catalog gs://acme")["job-beside-pool"]
    assert finding.fix == "slipway submit lora -p 'name=my run' --capacity pool --catalog gs://acme"


def test_quota_is_asked_for_by_whom_the_stack_file_names_and_as_much_as_is_drawn() -> None:
    named = from_text("config:\n  slipway:quota: { contactEmail: ml@acme.example }\n", FILE)
    finding = found(quota=quota(17), document=named)["quota-nearly-used"]
    assert finding.fix == f"slipway quota --request {CPUS}=40 --contact ml@acme.example"


LEDGER = Ledger(NOW - timedelta(hours=1), month_of(NOW), 500.0, 900.0, {"vision": 95.0}, {"ada": 10.0})


@pytest.mark.parametrize(
    ("budget", "ledger", "kinds"),
    [
        (None, None, {}),
        (Budget(1000, {"vision": 200}), LEDGER, {}),
        (Budget(600), LEDGER, {"budget-spent": Grade.WARNING, "budget-short": Grade.WARNING}),
        (Budget(500, enforce=True), LEDGER, {"budget-spent": Grade.BLOCKING}),
        (Budget(teams={"nlp": 0}, enforce=True), LEDGER, {}),
        (Budget(teams={"vision": 0}, enforce=True), LEDGER, {"budget-spent": Grade.BLOCKING}),
        (Budget(800), LEDGER, {"budget-short": Grade.WARNING}),
        (Budget(800), replace(LEDGER, forecast=None), {}),
        (Budget(1), None, {"budget-unknown": Grade.WARNING}),
        (Budget(1), "no hourly run has told", {"budget-unknown": Grade.WARNING}),
        (Budget(1), replace(LEDGER, at=NOW - timedelta(days=3)), {"budget-unknown": Grade.WARNING}),
    ],
)
def test_a_budget_that_is_spent_or_will_not_last_or_of_which_nothing_is_known_is_told(
    budget: Budget | None, ledger: Ledger | str | None, kinds: dict[str, Grade]
) -> None:
    seen = found(published=published(replace(catalog(CPU), budget=budget)), ledger=ledger)
    assert {kind: value.grade for kind, value in seen.items() if "budget" in kind} == kinds


def test_a_month_that_is_younger_than_the_last_run_is_no_finding() -> None:
    """The first hour of each month found it, and the second no more."""
    ended = NOW.replace(day=1, hour=0, minute=0, second=0, microsecond=0) - timedelta(minutes=10)
    last = replace(LEDGER, at=ended, month=month_of(ended))
    whole = replace(catalog(CPU), budget=Budget(1))

    def said_at(now: datetime) -> set[str]:
        kinds = found(published=published(whole), ledger=last, now=now)
        return {kind for kind in kinds if "budget" in kind}

    assert said_at(ended + timedelta(minutes=40)) == set()
    assert said_at(ended + timedelta(hours=25)) == {"budget-unknown"}
