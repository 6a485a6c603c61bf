"""Refusals that a program of components can meet: never in a stack file's words. # N33"""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import components
from components import args as arguments
from slipway.authoring.stack.stack import from_config
from slipway.authoring.template.proof import StackResources, place_all, refuse
from slipway.base.errors import SlipwayError
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.destruction import must_be_decided, must_keep_roles, must_leave_none
from slipway.deploying.deployment.workspace_plan import SharedGrant
from slipway.deploying.engine.drift import NextDeployment
from slipway.deploying.generations.action import Action, What, Why
from slipway.deploying.generations.adoption import differences, obstacles
from slipway.deploying.generations.generations import not_withdrawable, taken_ids, unlike
from slipway.deploying.generations.protection import refusal, undeletable
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Unknown
from slipway.google.provider_errors import meaning_of
from slipway.model.cluster import PROTECT, Adoption, CurrentCluster
from slipway.model.labels import STACK_LABEL
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.origin import Program
from slipway.model.state import StateGrant
from tests.builders.templates import job_template as template
from tests.components.conftest import PROJECT, REGION
from tests.slipway.deploying.deployment import world

ORIGIN = Program("dev", "ml")
OF_A_FILE = re.compile(
    r"the entry|stack file|the file\b|this stack|the stack is|make \w+ STACK=|slipway:\w|(?<!Slipway's )docs/\w"
    r"|[a-z]+: \{|[a-z][A-Z]\w+: "
)
CONFIG = {"gcp:project": PROJECT, "gcp:region": REGION, "gcp:addPulumiAttributionLabel": "false"}
SPEC = world.spec("research")


def said(refuse: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(SlipwayError) as caught:
        refuse(*args)
    return str(caught.value)


def of_a_destruction(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    place = f"projects/{PROJECT}/locations/{REGION}/persistentResources/research-1a2b3c4"
    living = replace(world.cluster("research-1a2b3c4", "1a2b3c4", name="research", stack="dev-ml"), name=place)
    module = "slipway.deploying.deployment.destruction"
    monkeypatch.setattr(f"{module}._clusters", lambda _: (living,))
    monkeypatch.setattr(StackGuard, "reader", lambda *_: SimpleNamespace(catalog=lambda: None))
    grant = StateGrant("submit", "roles/aiplatform.user", "user:ada@acme.example")
    monkeypatch.setattr(StackGuard, "need", lambda *_: (SharedGrant(grant),))
    guard = StackGuard({}, "dev-ml", (PROJECT, REGION))
    guard.declared = replace(from_config(CONFIG, stack="dev-ml"), program=ORIGIN)
    yield said(must_leave_none, guard)
    yield said(must_keep_roles, guard)
    unread = StackGuard({}, "dev-ml", (PROJECT, REGION), Unknown("the backend", "it is away", ""))
    unread.declared = guard.declared
    yield said(must_leave_none, unread)
    guard.undecided = ORIGIN
    yield said(must_be_decided, guard)
    (protected,) = filter(None, [undeletable([replace(SPEC, replacement=PROTECT)], None, ORIGIN)])
    yield str(protected.error)


def of_a_plan() -> Iterator[str]:
    edits = ("pools.workers.disk.sizeGb", "the dates or the `idleLimit`", "its declaration, which is gone")
    for action in (
        Action("research", "research-1a2b3c4", What.REFUSE, Why.PROTECTED, edited=edits),
        Action("research", "research-1a2b3c4", What.REFUSE, Why.ASKED, instead=("research-2a2b3c4",)),
    ):
        yield str(refusal(action, ORIGIN).error)
    yield from not_withdrawable(["research-1a2b3c4"], PublishedCatalog({"research": "research-1a2b3c4"}))
    living = world.cluster("research-1a2b3c4", "1a2b3c4", name="research")
    yield from taken_ids([SPEC], lambda _: "1a2b3c4", [living], {}, None)
    other = replace(SPEC, pools=(replace(SPEC.pools[0], machine=MachineSpec("n1-highmem-8")),))
    yield unlike(CurrentCluster(other, "research-1a2b3c4", "1a2b3c4", import_=True), living)
    yield from (reason.words for reason in Why)
    yield from NextDeployment


def of_an_adoption() -> Iterator[str]:
    adoption, living = Adoption("team-a"), replace(world.cluster("team-a", "", stack=""), labels={})
    spec = replace(SPEC, adopted=adoption, custom_service_account=False)
    where: dict[str, Any] = {"stack": "dev-ml", "place": f"{REGION} of {PROJECT}", "origin": ORIGIN}
    yield from obstacles(spec, adoption, {}, (), **where)
    for whose in ("dev-ml", "prod"):
        yield from obstacles(spec, adoption, {"team-a": replace(living, labels={STACK_LABEL: whose})}, (), **where)
    yield from obstacles(spec, adoption, {"team-a": living}, (), **where, kept=("team-a",))
    yield from obstacles(spec, adoption, {"team-a": living}, ("team-a",), **where)
    yield from obstacles(spec, adoption, {"team-a": replace(living, state="STOPPED")}, (), **where)
    disk = Disk("pd-ssd", 200)
    for machine in (MachineSpec("n1-standard-8", disk=disk), MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2)):
        other = replace(living, pools=(replace(living.pools[0], machine=machine),))
        yield from differences(replace(spec, custom_service_account=True), other, ORIGIN)
        yield from differences(spec, replace(other, pools=(*other.pools, replace(other.pools[0], id="more"))), ORIGIN)


def of_templates() -> Iterator[str]:
    here = StackResources((SPEC,), origin=ORIGIN)
    placed, errors = place_all((template(), template(name="other")), here)
    yield said(refuse, errors)
    yield from (placement.refusal for all_ in placed.values() for placement in all_)
    yield said(refuse, place_all((template(),), StackResources((), origin=ORIGIN))[1])


def of_the_provider() -> Iterator[str]:
    yield str(meaning_of("nobody knows this one", {}).fix)


def test_refusals_are_in_a_programs_words(monkeypatch: pytest.MonkeyPatch) -> None:
    told = [*of_a_destruction(monkeypatch), *of_a_plan(), *of_an_adoption(), *of_templates(), *of_the_provider()]
    assert len(told) > 40
    assert [text for text in told if OF_A_FILE.search(text)] == []
    assert any("write `size_gb=200`" in text for text in told)


def test_help_names_the_fields_of_the_classes_alone() -> None:
    every = (each for _, each in (*inspect.getmembers(components), *vars(arguments).items()) if inspect.isclass(each))
    classes = {each for each in every if each.__module__.startswith("components")}
    assert len(classes) > 15
    for each in classes:
        assert not re.search(r"stack file|\b[a-z]+[A-Z]\w+\b|slipway:", str(each.__doc__)), each.__doc__
