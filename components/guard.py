"""The guard: the last defence of running jobs. It refuses to delete a cluster with jobs, and the account or bucket that
a job needs, also when that can't be told; and to take a role that another stack of the project needs by now.

The state keeps the hook's name with every cluster: a program that does not register it can't delete them. So it is
registered always, first of all, and its name never changes; a new behaviour under a new name keeps this one as well.

A job that was just accepted is in no list yet: a cluster is deleted when some time has passed since it was last on
offer, and all questions are asked again at the end of that time. The cloud refuses to delete a cluster in deletion, as
after a killed run, and one that reboots: the guard waits for those. To the provider, a cluster that is gone by then
counts as deleted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pulumi

from slipway.base.errors import PolicyError
from slipway.base.formatting import span
from slipway.deploying.deployment.deletion_guard import GuardSubject, StackGuard, state_of_cluster
from slipway.deploying.deployment.destruction import must_be_decided, must_keep_roles, must_leave_none
from slipway.deploying.deployment.own_resources import must_keep_own
from slipway.deploying.deployment.removal import LOOK_EVERY_S, WITHIN_S, let_time_pass
from slipway.google.live import InUse, Unknown
from slipway.google.unfinished_jobs import must_be_idle
from slipway.model.labels import STACK_LABEL
from slipway.model.origin import Origin
from slipway.model.state import ACCOUNT, BUCKET, CLUSTER, OBJECT, State, StateGrant, grant_of
from slipway.model.state_refusals import belongs_elsewhere

from .engine import beside, in_thread

NAME = "slipway-guard-v1"
# The resources that every stack keeps: its catalog, in a bucket, and its account. And the output that identifies each.
_KEPT = {OBJECT: "bucket", BUCKET: "name", ACCOUNT: "email"}

UseOf = Callable[[GuardSubject], InUse | Unknown]


def guard(
    stacks: Callable[[], Sequence[StackGuard]],
    state: State | Unknown,
    registered_as: Callable[[str], str] = lambda _: "",
    granted: Callable[[StateGrant], bool | None] = lambda _: None,
) -> pulumi.ResourceHookBinding:
    """Register the hook and bind it to `before_delete`: for clusters, for accounts, for buckets, for grants, and for
    the catalog, which goes before them all. The engine shows the message of any error that the hook raises.

    `stacks`: all of the program. `state`: the engine's, for the accounts that jobs run as, whose grants jobs need;
    where it is unknown, it may be any account. `registered_as`: returns the URN by which the program has registered a
    cluster, by its id; empty if it has not. `granted`: tells whether the engine has answered the declaration of a
    grant; None where there is none. Where the catalog, its bucket or the account goes without a replacement, which
    happens only in a destruction, that may not leave or harm anything.
    """
    hook = pulumi.ResourceHook(NAME, Guard(stacks, state, registered_as, granted).before_delete)
    return pulumi.ResourceHookBinding(before_delete=[hook])


class Guard:
    """The hook of a program: it knows the program's stacks, and the messages that it has printed."""

    def __init__(
        self,
        stacks: Callable[[], Sequence[StackGuard]],
        state: State | Unknown,
        registered_as: Callable[[str], str],
        granted: Callable[[StateGrant], bool | None],
    ) -> None:
        """Take the same as `guard`."""
        self._stacks = stacks
        self._registered_as = registered_as
        self._granted = granted
        #: The addresses of the accounts that jobs run as; None if unknown.
        self._accounts = None if isinstance(state, Unknown) else {account.name for account in state.accounts}
        self._printed: set[str] = set()

    async def before_delete(self, args: pulumi.ResourceHookArgs) -> None:
        """Return when the deletion may begin. Raises SlipwayError if it may not."""
        known = args.old_outputs or {}
        is_end = ends_stack(args.type, known, self._is_replaced)
        if is_end:
            await in_thread(self._end_stacks)
        grant = grant_of(args.urn, args.type, known)
        if grant is not None:
            await self._let_go(grant)
            if not self._is_needed_by_jobs(grant):
                return
        if args.type == OBJECT and not is_end:  # A catalog that moves to another bucket takes nothing from jobs.
            return
        await self._hold(subject_of(args.type, args.id, known), known, args.urn)
        if is_end:
            for stack in self._stacks():
                stack.ended = True

    async def _hold(self, subject: GuardSubject, known: Mapping[str, Any], urn: str) -> None:
        """Return when no job needs the subject, and its grace period is over."""
        if subject.cluster:
            must_be_own(await stack_of(known), self._stacks(), urn)
            self._refuse_declared(subject, urn)
            is_registered = self._registered_as(subject.names[0]) == urn
            if is_registered and any(stack.ends_with_cluster(subject.names[0]) for stack in self._stacks()):
                await in_thread(self._end_stacks)
        await in_thread(lambda: hold(subject, self._use, self._left, self._print_once))
        if subject.cluster:  # Not awaited: it looks on while the provider deletes.
            states = partial(state_of_cluster, os.environ)
            beside(lambda: tell_of_deletion(subject, states, pulumi.log.info))

    def _refuse_declared(self, subject: GuardSubject, urn: str) -> None:
        """Raise PolicyError for a cluster that the program declares."""
        for stack in self._stacks():
            stack.must_be_undeclared(subject.cluster, urn, self._registered_as(subject.names[0]))

    def _end_stacks(self) -> None:
        """Raise SlipwayError if the destruction of the program's stacks leaves or harms anything."""
        for stack in self._stacks():
            stack.together = [other.stack for other in self._stacks()]
        with_workspaces = [stack for stack in self._stacks() if stack.has_workspace]
        for stack in with_workspaces or self._stacks():
            if not stack.taken_down:
                must_be_decided(stack)
                must_leave_none(stack)
                must_keep_own(stack)
                must_keep_roles(stack)

    async def _let_go(self, grant: StateGrant) -> None:
        """Return when a grant may go. The engine answers a declaration before it deletes in a destruction, and after
        that in a replacement, which grants the same again."""
        granted = self._granted(grant)
        if granted is False:
            return
        if granted and any(stack.ends_with(grant) for stack in self._stacks()):
            await in_thread(self._end_stacks)
        try:
            await in_thread(lambda: self._release(grant))
        except PolicyError as refusal:
            stack = next(iter(self._stacks()))
            if granted and not stack.taken_down:
                refusal.fix = declared_goes(stack.origin)
            raise

    def _release(self, grant: StateGrant) -> None:
        for stack in self._stacks():
            stack.let_go(grant)

    def _is_needed_by_jobs(self, grant: StateGrant) -> bool:
        """Return whether a grant may be one of an account that jobs run as."""
        kind, _, address = grant.member.partition(":")
        if kind != "serviceAccount":
            return False
        return self._accounts is None or address in self._accounts

    def _is_replaced(self, name: str) -> bool:
        # Each of several workspaces keeps a bucket and accounts of its own, which the others lack.
        return all(stack.grace.replaced(name) for stack in self._stacks())

    def _use(self, subject: GuardSubject) -> InUse | Unknown:
        """Return the first use that prevents a deletion; the first of all where none does."""
        uses = [stack.use(subject) for stack in self._stacks()]
        for use in uses:
            if isinstance(use, Unknown):
                return use
        for use in uses:
            if isinstance(use, InUse) and (use.jobs or use.busy_without_job):
                return use
        return uses[0]

    def _left(self, name: str) -> float:
        """Return the seconds of the grace period that are left."""
        return max(stack.grace.left(name) for stack in self._stacks())

    def _print_once(self, text: str) -> None:
        if text not in self._printed:
            self._printed.add(text)
            pulumi.log.info(text)


async def stack_of(known: Mapping[str, Any]) -> str:
    """Return the stack in the label of a cluster, by its outputs, of which the provider keeps some secret; empty for
    none."""
    for key in ("effectiveLabels", "labels"):
        labels = await pulumi.Output.from_input(known.get(key)).future()
        if labels:
            return str(labels.get(STACK_LABEL, ""))
    return ""


def must_be_own(owner: str, stacks: Sequence[StackGuard], urn: str) -> None:
    """Raise ConfigError where a cluster is another stack's, which may offer it: `pulumi state move` moves states, and
    no cluster. `owner`: the stack in its label. A program that has decided nothing does not know its stacks."""
    if not owner or any(stack.undecided or stack.stack == owner for stack in stacks):
        return
    origin = next(iter(stacks)).origin
    raise belongs_elsewhere(f"cluster {urn.rpartition('::')[2]}", owner, origin, [urn])


def declared_goes(origin: Origin) -> str:
    """Return the ways out where a declared grant would go without a replacement: the same command fails again."""
    return f"leave out --target; {origin.command('destroy')} takes all down, and leaves what others need"


def ends_stack(type_: str, known: Mapping[str, Any], replaced: Callable[[str], bool]) -> bool:
    """Tell whether the catalog, its bucket or the account goes without being `replaced`, by its name."""
    key = _KEPT.get(type_)
    return key is not None and not replaced(str(known.get(key)))


def subject_of(type_: str, id_: str, known: Mapping[str, Any]) -> GuardSubject:
    """Return the resource that a deletion would take; a grant counts as its account, on its bucket."""
    if type_ == CLUSTER:
        return GuardSubject(cluster=id_)
    if type_ == BUCKET:
        return GuardSubject(bucket=str(known.get("name") or id_))
    if type_ == ACCOUNT:
        return GuardSubject(account=str(known.get("email") or id_.rsplit("/", 1)[-1]))
    if "member" in known:
        on = str(known.get("bucket") or "").removeprefix("b/")
        return GuardSubject(account=str(known["member"]).removeprefix("serviceAccount:"), bucket=on)
    return GuardSubject()


def hold(
    subject: GuardSubject,
    use_of: UseOf,
    left: Callable[[str], float],
    say: Callable[[str], None],
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Return when the deletion may begin, its grace being `left`, in seconds. Raises the error of `check` at once."""
    use, state, waited = check(subject, use_of), "", 0.0
    while subject.names and use.unready and waited < WITHIN_S:
        (state,) = use.unready.values()
        going = f"{subject} is being deleted already: waiting until it is gone"
        say(going if state == "STOPPING" else f"{subject} is being rebooted: waiting until it can be deleted")
        pause(LOOK_EVERY_S)
        waited += LOOK_EVERY_S
        use = check(subject, use_of)
    if state == "STOPPING":  # Its deletion began before: nothing is left to hold.
        return
    let_time_pass(
        f"{subject} is deleted",
        lambda: min(map(left, subject.names), default=0.0),
        lambda: check(subject, use_of),
        say,
        pause,
    )


def check(subject: GuardSubject, use_of: UseOf) -> InUse:
    """Return the use of the subject, when no job needs it. Raises SlipwayError when one does, or nobody can tell."""
    losses, use = "", use_of(subject)
    if isinstance(use, InUse) and subject.names and not subject.cluster:
        losses = f"{', '.join(job.display_name for job in use.jobs)}: deleting it would take away what they need"
    return must_be_idle(use, f"{subject} is not deleted", losses=losses)


def tell_of_deletion(
    subject: GuardSubject,
    state_of: Callable[[str], str | Unknown],
    say: Callable[[str], None],
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Say each minute that a cluster's deletion has not begun, until it has: the provider asks again without a word."""
    for spent in range(60, int(WITHIN_S), 60):
        pause(60)
        state = state_of(subject.cluster)
        if state in ("", "STOPPING"):
            return
        why = f"its state can't be read: {state.why}" if isinstance(state, Unknown) else f"it is still {state.lower()}"
        say(
            f"the deletion of {subject} has not begun after {span(spent)} ({why}): the provider asks again while the "
            "service answers that it is busy (429, 500, 502, 503)"
        )
