"""Show the changes that a promotion of STAGING to PROD would bring.

Both are stack files of this checkout, with its templates. The answers are those of a review: submissions, access, cost,
quota and policy, and every changed setting. PROD keeps its names: project, region, buckets and service account. Only
reads files; asks nothing of the cloud, so running jobs are not part of it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slipway.base.errors import ConfigError
from slipway.base.files import from_here
from slipway.front.cli.check import stack_path
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import review_output_option
from slipway.using.context import Clock

if TYPE_CHECKING:
    from slipway.authoring.stack.stack import Stack
    from slipway.deploying.deployment.deployment import Deployment
    from slipway.model.identity import Identity
    from slipway.reviewing.review import Review

_KEYS = ("worst", "findings", "settings", "answers", "incomplete", "costs", "quota", "policy")
"""The keys of a review's JSON that a difference of two stacks has as well."""
_WITHOUT_CLOUD = "slipway diff"


@click.command()
@click.argument("staging", metavar="STAGING")
@click.argument("prod", metavar="PROD")
@review_output_option
def command(staging: str, prod: str, output: str) -> None:
    here = Path.cwd()
    every = sorted((here / "stacks").glob("Pulumi.*.yaml"))
    source = stack_path(staging, here, every, f"slipway diff {{}} {prod}")
    target = stack_path(prod, here, every, f"slipway diff {staging} {{}}")
    if source == target:
        raise ConfigError(
            f"{staging} and {prod} are the same stack file", fix="name two stacks: slipway diff STAGING PROD"
        )
    review = promotion(source, target, Clock().now())
    if output == "json":
        from slipway.reviewing.review import write

        body = write(review)
        screen.out_json("diff", {"from": staging, "to": prod, **{key: body[key] for key in _KEYS}})
    elif output == "markdown":
        from slipway.reviewing.render.comment import comment

        screen.out(comment([review]).rstrip("\n"))
    else:
        from slipway.reviewing.render.headline import NOTHING
        from slipway.reviewing.render.text import plain_text

        screen.out(plain_text(review, NOTHING if review.settings else f"{staging} and {prod} have the same settings"))


def promotion(source: Path, target: Path, now: datetime) -> Review:
    """Return the review of a change that gives the stack of one file the settings of another one.

    Args:
        source: The stack file with the new settings.
        target: The stack file that is changed.
        now: The time of both plans.

    Raises:
        ConfigError: A file has mistakes, or its settings are not valid in the other one's region.
    """
    from slipway.answers.comparison import Comparison, World
    from slipway.google.snapshot import skipped
    from slipway.reviewing.change.change import Change
    from slipway.reviewing.reviewer import review

    declared = _parsed(target)
    before = _planned(declared, target, now)
    after = _planned(_promoted(source, declared), source, now)
    world = World(skipped(_WITHOUT_CLOUD), now)
    comparison = Comparison.between(declared.name, before.facts, after.facts, world)
    problems = tuple(f"{error.what} ({from_here(source)})" for error in after.errors)
    return review(Change(comparison, unread=problems))


def _identity(path: Path, stack: str) -> Identity:
    from slipway.authoring.stack.yaml_file import pulumi_project
    from slipway.model.identity import Identity

    return Identity(pulumi_project(_root(path)), stack)


def _root(path: Path) -> Path:
    """Return the project's folder of a stack file."""
    beside = path.resolve().parent
    return beside.parent if beside.name == "stacks" else beside


def _parsed(path: Path) -> Stack:
    from slipway.authoring.stack.stack import parse, stack_of
    from slipway.authoring.stack.yaml_file import load

    shown = from_here(path)
    return parse(load(path, shown_as=shown), identity=_identity(path, stack_of(shown)))


def _promoted(source: Path, target: Stack) -> Stack:
    """Return the stack of a file under the names of another stack."""
    from slipway.authoring.stack.stack import parse, with_config
    from slipway.authoring.stack.yaml_file import load

    document = load(source, shown_as=from_here(source))
    place = with_config({"gcp:project": target.project, "gcp:region": target.region}, document)
    declared = parse(place, stack=target.name, identity=_identity(source, target.name))
    names = {name: getattr(target.workspace, name) for name in ("catalog_bucket", "work_bucket", "trainer")}
    return replace(declared, workspace=declared.workspace.model_copy(update=names))


def _planned(stack: Stack, path: Path, now: datetime) -> Deployment:
    """Return the deployment that a preview would plan if nothing were known of the cloud."""
    from slipway.deploying.deployment.deployment import build_packages, plan_deployment, prove_stack
    from slipway.deploying.deployment.plan import plan
    from slipway.google.snapshot import skipped
    from slipway.model.labels import UNKNOWN_COMMIT, Revision

    root = _root(path)
    live = skipped(_WITHOUT_CLOUD)
    proven, packages = build_packages(prove_stack(stack, root / "templates"), root)
    planned = plan(stack.clusters, live, stack=stack.name, project=stack.project, region=stack.region, now=now)
    revision = Revision(UNKNOWN_COMMIT, dirty=False)
    return plan_deployment(proven, packages, revision, live, planned, preview=True, now=now)
