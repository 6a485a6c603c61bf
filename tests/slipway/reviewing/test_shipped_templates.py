"""Every template that ships, reviewed: deployed again nothing of it changes, and a comment has one order. # N5 # D7"""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from slipway.answers.comparison import Comparison, World
from slipway.deploying.deployment.deployment import Deployment
from slipway.deploying.engine.preview import EngineStep, Preview, Resource
from slipway.google.catalog import document
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Live
from slipway.model import facts
from slipway.model.facts import CATALOG, CLUSTER, QUOTA, TEMPLATE, WORKSPACE, Facts
from slipway.model.findings.finding import Finding
from slipway.model.state import State
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.reading import deployed_facts
from slipway.reviewing.preview_text import preview_text
from slipway.reviewing.reviewer import review
from tests import shipped
from tests.slipway.deploying.deployment.test_shipped_stacks import NOW, ROOT, STACKS, deployment
from tests.slipway.reviewing.builders import living


def published(deployment: Deployment) -> PublishedCatalog:
    """As people find it: written and read."""
    return PublishedCatalog(whole=document.read(document.write(deployment.catalog).encode(), "catalog.json"))


def steps(of: Facts) -> tuple[EngineStep, ...]:
    """Components as the engine's events tell them: JSON whose keys are sorted."""
    components = (
        (WORKSPACE, "workspace", of.workspace),
        (QUOTA, "quota", of.quota_check),
        *((CLUSTER, id_, cluster) for id_, cluster in of.clusters.items()),
        *((TEMPLATE, name, template) for name, template in of.templates.items()),
        (CATALOG, "catalog", of.published),
    )
    said = [(type_, name, json.loads(json.dumps(shipped, sort_keys=True))) for type_, name, shipped in components]
    return tuple(
        EngineStep(
            "same", f"urn:pulumi:s::slipway::{type_}::{name}", type_, name, old=Resource(shipped), new=Resource(shipped)
        )
        for type_, name, shipped in said
    )


def previewed(deployment: Deployment, live: Live) -> list[str]:
    """What is told of changes, without the stack's name."""
    known = State(submitters=tuple(deployment.facts.submitters), catalog_bucket=deployment.catalog.catalog_bucket)
    return preview_text(
        replace(deployment, live=live, plan=replace(deployment.plan, notes=())), known, NOW, preview=True
    )[0].splitlines()[1:]


def reviewed(deployment: Deployment, live: Live) -> tuple[Finding, ...]:
    preview = Preview((), {step.urn: step for step in steps(deployment.facts)})
    after = facts.read([(step.type, step.name, step.new.inputs) for step in preview.standing.values() if step.new])
    before, _ = deployed_facts(preview, live.catalog, after)
    comparison = Comparison.between(deployment.stack.name, before, after, World(live, NOW), preview=preview)
    return review(Change(comparison)).findings


@pytest.mark.skipif(not {"dev", "staging", "prod"} <= {*STACKS}, reason="needs all of them")
def test_the_stacks_that_ship_have_every_template() -> None:
    assert {name for stack in STACKS for name in deployment(stack).catalog.templates} >= {*shipped.templates()}


@pytest.mark.parametrize("stack", STACKS)
def test_nothing_of_it_changes(stack: str) -> None:
    shipped = deployment(stack)
    live = Live(tuple(map(living, shipped.catalog.clusters.values())), (), {}, published(shipped))
    assert reviewed(shipped, live) == ()
    assert [line for line in previewed(shipped, live) if not line.startswith("✓")] == []


@pytest.mark.parametrize("stack", STACKS[:1])
def test_a_comment_is_the_same_in_whatever_order_the_engine_and_the_process_go(stack: str, tmp_path: Path) -> None:
    """The engine writes events as resources come to their turn, and sets have another order in each process."""
    whole = deployment(stack).facts
    events = [
        json.dumps(
            {"resourcePreEvent": {"metadata": {"op": "create", "urn": step.urn, "new": {"inputs": step.new.inputs}}}}
        )
        for step in steps(whole)
        if step.new
    ]
    comments = set()
    for seed in range(4):
        Random(seed).shuffle(events)
        (tmp_path / "events.jsonl").write_text("\n".join((*events, json.dumps({"summaryEvent": {}}))))
        command = (sys.executable, "-m", "slipway", "review", "events.jsonl", "--no-live", "--output", "markdown")
        environ = {"PATH": "/usr/bin", "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(seed)}
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True)
        comments.add(done.stdout)
    assert len(comments) == 1
    assert set(whole.templates) <= set(re.findall("[a-z0-9-]+", comments.pop()))
