"""The whole program: what the stack file asks for, beside what lives, becomes resources. The rules are in `slipway`."""

import atexit
import gc
import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi

from components.engine import configured, give_advice, known, left, place
from components.guard import guard, refusal_of_destruction
from components.trouble import explain_errors
from slipway.clock import right_time
from slipway.cloud.foreign_words import ON_ERROR
from slipway.deployment.deletion_guard import guarded_use
from slipway.deployment.grace_period import GracePeriod
from slipway.deployment.live_plan import read_and_plan
from slipway.errors import SlipwayError
from slipway.live import Unknown
from slipway.state import State, refuse_move, stack_locations

if TYPE_CHECKING:
    from slipway.deployment.deployment import Deployment
    from slipway.deployment.orphan_cleanup import OrphanCleanup
    from slipway.deployment.plan import Plan
    from slipway.stack.stack import Stack

CHECKOUT = Path(__file__).resolve().parent
PACKAGES = Path(".slipway/packages")  # relative: the state keeps the path, and checkouts differ
ADVICE = f"on an error that does not say what to do: {ON_ERROR}"
SAID = 32  # the exit code by which Pulumi's language host knows that the person has been told why


def main() -> None:
    """What is asked for, what lives, the plan, the words for it, the resources: from the first of those on, nothing is
    refused any more."""
    # Else the interpreter looks through all that pulumi brings for garbage, as it imports the rest and as it ends: a
    # quarter of the program's time.
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)
    explain_errors(os.environ)
    if os.environ.get("SLIPWAY_PURPOSE") == "destroy":
        take_down()
        return
    log, preview, now = pulumi.log, pulumi.runtime.is_dry_run(), datetime.now(UTC)
    name, (project, region) = pulumi.get_stack(), place()
    with ThreadPoolExecutor(1) as background:  # Python imports while the engine looks up the state
        background.submit(import_module, "slipway.deployment.deployment")
        state = known()

    def where() -> tuple[tuple[str, str], ...]:
        return stack_locations(None if isinstance(state, Unknown) else state, project, region, stack.other_regions)

    grace, use = GracePeriod.of(os.environ), guarded_use(os.environ, where, name, state)
    hooks = guard(use, grace.left, grace.replaced, lambda: orphan_cleanup(state, stack).must_leave_none())

    stack = configured(CHECKOUT)
    if isinstance(state, Unknown):
        log.warn(f"can't tell what the stack has already, from {state.api}: {state.why}")
    else:
        refuse_move(state, stack=name, project=project, region=region, others=stack.other_regions)
        if not (preview or state.catalog_bucket):  # Later it is the output `onError` that says so.
            log.info(ADVICE)
            give_advice()
    from slipway.deployment.deployment import prove_stack

    proven = prove_stack(stack, CHECKOUT / "templates")
    with ThreadPoolExecutor(1) as background:  # the cloud answers while Python imports
        deciding = background.submit(
            copy_context().run,
            read_and_plan,
            stack,
            os.environ,
            preview,
            now,
            log.info,
            log.warn,
            proven.metrics,
            state,
        )
        from components.deployment import declare
        from slipway.catalog.document import PublishedCatalog
        from slipway.creation.parallel_creation import creator
        from slipway.deployment.alternatives import as_made, told
        from slipway.deployment.checkout import checkout_revision
        from slipway.deployment.deployment import build_packages, plan_deployment
        from slipway.deployment.interim import interim
        from slipway.deployment.interim_catalog import Offers
        from slipway.generations.dormant import brought_by_season
        from slipway.review.preview_text import preview_text

        revision, packages = checkout_revision(CHECKOUT, os.environ), build_packages(proven, CHECKOUT)
        live, plan = deciding.result()
        now = right_time(now, live.time)

    def planned(plan: "Plan") -> "Deployment":
        return plan_deployment(proven, packages, revision, live, plan, preview=preview, now=now, known=state)

    seasons = frozenset(one.id for one in plan.current if brought_by_season(one, live.catalog))

    def become(made: Mapping[str, str]) -> "Deployment":
        after = as_made(plan, made, seasons)
        for line in told(plan, after, proven.templates.values(), region):
            log.warn(line)
        return planned(after)

    deployment = planned(plan)
    catalog = deployment.catalog
    grace.began_with(live.catalog, catalog.catalog_bucket, catalog.trainer, *catalog.trainers.values())
    for message in preview_text(deployment, state, now, preview=preview):
        log.info(message)
    for warning in deployment.warnings:
        log.warn(warning)
    if isinstance(state, State) and state.catalog_bucket and not preview and (plan.creates or plan.deleted):
        log.info(ADVICE)  # A program that is killed amid clusters leaves the engine's words alone.
    declare(
        deployment,
        create=creator(
            plan,
            os.environ,
            (name, project, region),
            use,
            log.info,
            log.warn,
            deployment.report.awaited,
            Offers(
                live.catalog.whole if isinstance(live.catalog, PublishedCatalog) else None,
                interim(plan, live, lambda plan: planned(plan).catalog),
                lambda made: planned(as_made(plan, made, seasons)).catalog,
                (isinstance(state, State) and state.catalog_bucket) or catalog.catalog_bucket,
                tuple(one for built in packages.values() for one in built.values()),
                revision,
                now,
            ),
            grace,
            seasons,
        ),
        become=become,
        created_before=isinstance(state, State) and state.creation,
        hooks=hooks,
        packages=PACKAGES,
        now=now,
        preview=preview,
    )


def take_down() -> None:
    """The engine deletes all that it knows, as nothing is declared. What it does not know is deleted here, before."""
    pulumi.log.warn("SLIPWAY_PURPOSE=destroy: nothing is declared, so `pulumi up` would delete the stack too")
    from slipway.deployment.summary import outliving

    try:
        file = configured(CHECKOUT)
    except SlipwayError:
        file = None  # A mistake in the stack file must not prevent a destruction.
    state, preview = left(CHECKOUT, os.environ), pulumi.runtime.is_dry_run()
    if not preview:  # It takes the stack's outputs with it, and a killed program says nothing any more.
        pulumi.log.info(ADVICE)
    cleanup = orphan_cleanup(state, file)
    spared = cleanup.run(preview=preview)
    grace = GracePeriod.of(os.environ)
    use = guarded_use(os.environ, lambda: cleanup.where, pulumi.get_stack(), state, spared)
    guard(use, grace.left, grace.replaced)
    if preview and (refusal := refusal_of_destruction(use)):
        pulumi.log.warn(refusal)
    if not isinstance(state, Unknown) and (stays := outliving(state)):
        pulumi.log.info(stays)


def orphan_cleanup(state: "State | Unknown", file: "Stack | None") -> "OrphanCleanup":
    """For clusters that the stack made and the engine does not know."""
    from slipway.deployment.orphan_cleanup import OrphanCleanup

    (project, region), log = place(), pulumi.log
    return OrphanCleanup(
        os.environ,
        state,
        stack=pulumi.get_stack(),
        project=project,
        region=region,
        file=file,
        say=log.info,
        warn=log.warn,
    )


try:
    main()
except SlipwayError as error:
    pulumi.log.error(str(error))
    sys.exit(SAID)
