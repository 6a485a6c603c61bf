"""The guard: the last defence of running jobs. It refuses to delete a cluster that has jobs, the account that one runs
as or a bucket that one needs, or when it can't tell.

The state keeps the hook's name with every cluster: a program that does not register it can't delete them. So it is
registered always, first of all, and its name never changes; a new behaviour under a new name keeps this one as well.

What was just accepted is in no list yet: a cluster is deleted when some time has passed since it was offered last, and
all questions are asked again at the end of it. The cloud refuses to delete what it deletes already, as a killed run
asked for, and what it reboots: that is waited for. What is gone then is as good as deleted to the provider.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pulumi

from slipway.deployment.deletion_guard import GuardSubject
from slipway.deployment.removal import LOOK_EVERY_S, WITHIN_S, let_time_pass
from slipway.errors import SlipwayError
from slipway.live import Unknown, Use
from slipway.unfinished_jobs import losses_of_cluster, losses_of_stack, must_be_idle

from .engine import in_thread

NAME = "slipway-guard-v1"
_CLUSTER = "gcp:vertex/aiPersistentResource:AiPersistentResource"
_OBJECT = "gcp:storage/bucketObject:BucketObject"
_BUCKET = "gcp:storage/bucket:Bucket"
_ACCOUNT = "gcp:serviceaccount/account:Account"
# What every stack has and keeps: its catalog, in a bucket, and its account. And the output that tells which one it is.
_KEPT = {_OBJECT: "bucket", _BUCKET: "name", _ACCOUNT: "email"}

UseOf = Callable[[GuardSubject], Use | Unknown]
"""`slipway.deployment.deletion_guard.guarded_use`"""

Left = Callable[[str], float]
"""How many more seconds a cluster, an account or a bucket, by its bare name, must stay unoffered before it may be
deleted."""

Moved = Callable[[str], bool]
"""Tell whether this deployment has another bucket to publish in, or another account, than the one of this name."""


def guard(
    use_of: UseOf, left: Left, moved: Moved, ends: Callable[[], None] = lambda: None
) -> pulumi.ResourceHookBinding:
    """Registers the hook and binds it to `before_delete`: for clusters, for accounts with their grants, for buckets,
    and for the catalog, which goes before them all.

    `ends` is called where the catalog, its bucket or the account goes and none takes its place, which nothing but a
    destruction wants: it raises what forbids that.
    """
    said: set[str] = set()

    def once(text: str) -> None:
        if text not in said:
            said.add(text)
            pulumi.log.info(text)

    async def before_delete(args: pulumi.ResourceHookArgs) -> None:
        known = args.old_outputs or {}
        last = ends_stack(args.type, known, moved)
        if last:
            await in_thread(ends)
        if args.type != _OBJECT or last:
            subject = subject_of(args.type, args.id, known)
            await in_thread(lambda: hold(subject, use_of, left, once))

    return pulumi.ResourceHookBinding(before_delete=[pulumi.ResourceHook(NAME, before_delete)])


def ends_stack(type_: str, known: Mapping[str, Any], moved: Moved) -> bool:
    """Tell whether the catalog, its bucket or the account goes, and none takes its place."""
    key = _KEPT.get(type_)
    return key is not None and not moved(str(known.get(key)))


def subject_of(type_: str, id_: str, known: Mapping[str, Any]) -> GuardSubject:
    """The thing that would be taken from jobs. A grant is as good as the account that has it, on the bucket that it is
    for."""
    if type_ == _CLUSTER:
        return GuardSubject(cluster=id_)
    if type_ == _BUCKET:
        return GuardSubject(bucket=str(known.get("name") or id_))
    if type_ == _ACCOUNT:
        return GuardSubject(account=str(known.get("email") or id_.rsplit("/", 1)[-1]))
    if "member" in known:
        on = str(known.get("bucket") or "").removeprefix("b/")
        return GuardSubject(account=str(known["member"]).removeprefix("serviceAccount:"), bucket=on)
    return GuardSubject()


def hold(
    subject: GuardSubject,
    use_of: UseOf,
    left: Left,
    say: Callable[[str], None],
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Return when the deletion may begin. Raises what `check` raises, as soon as it does."""
    use, state, waited = check(subject, use_of), "", 0.0
    while subject.names and use.unready and waited < WITHIN_S:
        (state,) = use.unready.values()
        going = f"{subject} is being deleted already: waiting until it is gone"
        say(going if state == "STOPPING" else f"{subject} is being rebooted: waiting until it can be deleted")
        pause(LOOK_EVERY_S)
        waited += LOOK_EVERY_S
        use = check(subject, use_of)
    if state == "STOPPING":
        return
    let_time_pass(
        f"{subject} is deleted",
        lambda: min(map(left, subject.names), default=0.0),
        lambda: check(subject, use_of),
        say,
        pause,
    )


def check(subject: GuardSubject, use_of: UseOf) -> Use:
    """The use of the subject, when no job needs it. Raises RuntimeError, whose message the engine shows, when one
    does or when that can't be told."""

    def losses(use: Use) -> str:
        if subject.cluster:
            return losses_of_cluster(use)
        if subject.names:
            return f"{', '.join(job.display_name for job in use.jobs)}: deleting it would take away what they need"
        return losses_of_stack(use)

    try:
        return must_be_idle(use_of(subject), f"{subject} is not deleted", losses)
    except SlipwayError as refusal:
        raise RuntimeError(str(refusal)) from refusal
