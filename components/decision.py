"""The decision about a stack: what lives is read, the deployment planned, and its coming steps told."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulumi

from slipway.authoring.stack.stack import Stack
from slipway.base.clock import right_time
from slipway.deploying.deployment.live_plan import Declared, read_and_plan
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.workspace_plan import metric_writers
from slipway.google.live import Live, Unknown
from slipway.google.provider_errors import Places
from slipway.model.state import State

from .engine import EngineRun
from .voice import Voice

if TYPE_CHECKING:
    from slipway.authoring.template.job_template import JobTemplate
    from slipway.deploying.deployment.deployment import Deployment, ProvenStack


@dataclass(frozen=True)
class Decision:
    """A deployment as it is planned."""

    deployment: Deployment
    #: Returns the same deployment with another plan of its clusters.
    planned: Callable[[Plan], Deployment]
    templates: Collection[JobTemplate]
    now: datetime


def decide(
    run: EngineRun,
    stack: Stack,
    state: State | Unknown,
    declared: Declared,
    folders: Mapping[str, Path],
    places: Places,
    voice: Voice,
    *,
    begins: bool = False,
    absent: str = "",
) -> Decision:
    """Read what lives, and plan. `state`: the engine's of this stack; `folders`: those of the templates; `places` names
    lines of the stack file; `voice` reports waits; `begins`: the state has nothing of this stack; `absent`: why a
    preview reads nothing.

    Raises ConfigError for mistakes in templates, where this is no preview.
    """
    from slipway.authoring.template.proof import refuse
    from slipway.deploying.deployment.deployment import build_packages, plan_deployment, prove_stack

    proven = prove_stack(stack, run.checkout / "templates", folders)
    if not run.preview:
        refuse(proven.errors)
    with ThreadPoolExecutor(1) as background:
        reading = background.submit(
            copy_context().run, _read, run, proven, state, declared, places, voice, begins, absent
        )
        from slipway.deploying.deployment.checkout import checkout_revision

        revision = checkout_revision(run.checkout, os.environ)
        proven, packages = build_packages(proven, run.checkout)
        if not run.preview:
            refuse(proven.errors)
        live, plan, now = reading.result()
    planned = partial(plan_deployment, proven, packages, revision, live, preview=run.preview, now=now, known=state)
    return Decision(planned(plan), planned, proven.templates.values(), now)


def _read(
    run: EngineRun,
    proven: ProvenStack,
    state: State | Unknown,
    declared: Declared,
    places: Places,
    voice: Voice,
    begins: bool,
    absent: str,
) -> tuple[Live, Plan, datetime]:
    now, world = datetime.now(UTC), run.world
    live, plan = read_and_plan(
        proven.stack,
        os.environ,
        run.preview,
        now,
        voice.info,
        voice.warn,
        metrics=proven.metrics,
        writers=metric_writers(proven.templates.values()),
        known=state,
        lives=world.seen(proven.stack.region, proven.metrics) if world else None,
        declared=declared,
        places=places,
        begins=begins,
        absent=absent,
    )
    return live, plan, right_time(now, live.time)


def tell(
    run: EngineRun,
    decision: Decision,
    state: State | Unknown,
    unknown: Iterable[str],
    voice: Voice,
    **words: Any,
) -> None:
    """Tell the person the coming steps, and what a preview can't know of the arguments. `words`: those of
    `preview_text`, whose first message names the workspace itself."""
    from slipway.reviewing.preview_text import preview_text

    first = decision.deployment
    steps, *more = preview_text(first, state, decision.now, preview=run.preview, **words)
    pulumi.log.info(steps)
    for message in more:
        voice.info(message)
    for warning in (*first.warnings, *unknown):
        voice.warn(warning)
