"""Makes a cluster and waits until it runs, saying what happens. What the service refuses is tried again for a while.

The id is ours, so sending the request again never makes a second cluster: a lost answer is looked up, not feared. A
cluster that failed is cleared away: one in ERROR holds its name and no machines, and no job ever runs on it.
"""

from __future__ import annotations

from itertools import chain, count

from slipway.cloud.clusters import Operation, PersistentResource
from slipway.cloud.failures import CloudError, Conflict, NoAnswer, NotFound, Unreachable
from slipway.deployment.creation_context import CreationContext, CreationPolicy, NewCluster, clear_failed
from slipway.errors import PolicyError, ResourceError, SlipwayError, Timeout
from slipway.formatting import span

_AGAIN = frozenset({408, 429, 500, 502, 503, 504})
_READY = frozenset({"RUNNING", "UPDATING"})
# gRPC codes of a failed creation that no second try can correct: a wrong field, a missing key, role or condition.
_HOPELESS = frozenset({3, 5, 7, 9, 12, 16})
_SAID_AFTER_S, _SAID_EVERY_S = (60, 120, 300), 600
_NEXT_RUN = (
    "run pulumi up again: it finds the cluster by its name and labels, waits for it (up to two hours), "
    "and takes it as it is"
)


class _AgainError(Exception):
    """Not made this time; another try may do. `what` happened, `why` in the service's words."""

    def __init__(self, what: str, why: str, error: CloudError | None = None) -> None:
        super().__init__(what)
        self.what, self.why, self.error = what, why, error


class ClusterCreation:
    def __init__(self, cluster: NewCluster, cloud: CreationContext, policy: CreationPolicy) -> None:
        self.cluster, self.cloud, self.policy = cluster, cloud, policy
        self.began = cloud.now()
        self.left = ""  # what stays behind, for the last words
        self.accepted = False  # whether that was said
        self.doubt = False  # whether the last request may have been carried out, unseen

    def run(self) -> None:
        """Returns when the cluster runs. Raises SlipwayError, with what is left behind and what to type."""
        for failed in self.cluster.failed:
            self._clear(failed)
        tries, said = 0, ""
        while True:
            tries += 1
            try:
                self._watch(self._send())
                return
            except _AgainError as trouble:
                wait = min(self.policy.first * 2 ** (tries - 1), self.policy.again)
                spent = self.cloud.now() - self.began
                left = self._bound(trouble) - spent
                if left <= 0:
                    raise self._given_up(trouble, spent, tries) from trouble.error
                if trouble.why != said:
                    said = trouble.why
                    until = span(self.policy.refused)
                    self.cloud.warn(
                        f"cluster {self.cluster.id} {trouble.what}: {said}; trying again, for up to {until}"
                    )
                self._pause(min(wait, left))

    def _bound(self, trouble: _AgainError) -> float:
        unreachable = isinstance(trouble.error, Unreachable)
        return min(self.policy.unreachable, self.policy.refused) if unreachable else self.policy.refused

    def _send(self) -> Operation | None:
        """The creation's operation; None where the cluster was found to be there already."""
        id_ = self.cluster.id
        try:
            return self.cloud.vertex.create_persistent_resource(id_, self.cluster.body)
        except CloudError as error:
            self.doubt = not error.not_accepted
            # 409: by the request whose answer was lost, by another `up`, or by somebody else. Labels tell.
            if isinstance(error, Conflict) or not error.not_accepted:
                found = self._look()
                if found is not None:
                    self._must_be_ours(found, error)
                    self.cloud.say(f"cluster {id_} was made although the answer did not come: going on with it")
                    return None
                self.doubt = isinstance(error, NoAnswer)  # a server that answered has ended its work on it
            if isinstance(error, (Conflict, NoAnswer, Unreachable)) or error.status in _AGAIN:
                raise _AgainError("is refused" if error.status else "is not made", error.message, error) from error
            if 400 <= error.status < 500:
                raise
            raise _AgainError("is not made", error.message, error) from error

    def _must_be_ours(self, found: PersistentResource, error: CloudError) -> None:
        if all(found.labels.get(key) == value for key, value in self.cluster.known_by.items()):
            return
        raise ResourceError(
            f"cluster {found.id} is there already, and somebody else made it",
            why=f"it lacks the labels of this stack ({', '.join(self.cluster.known_by)}); {error.message}",
            fix="delete it by hand if nobody needs it, or raise `generation` of the cluster; then pulumi up again",
        ) from error

    def _look(self) -> PersistentResource | None:
        """None where there is no such cluster; what can't be read is tried again later."""
        try:
            return self.cloud.vertex.persistent_resource(self.cluster.id)
        except NotFound:
            return None
        except CloudError as error:
            raise _AgainError("can't be read", error.message, error) from error

    def _watch(self, operation: Operation | None) -> None:
        """Until it runs. A failed one is cleared away."""
        id_, began, wait = self.cluster.id, self.cloud.now(), self.policy.first
        if not self.accepted:
            self.cloud.say(f"cluster {id_} is accepted and being made")
        self.accepted = True
        seen, to_tell = began, chain(_SAID_AFTER_S, count(_SAID_EVERY_S, _SAID_EVERY_S))
        due = next(to_tell)
        while True:
            try:
                found = self._look()
                state, seen = found.state if found else "gone", self.cloud.now()
            except _AgainError as trouble:
                self._may_go_on(trouble, self.cloud.now() - seen)
                found, state = None, f"can't be read: {trouble.why}"
            spent = self.cloud.now() - began
            if state in _READY:
                self.cloud.say(f"cluster {id_} runs{f' after {span(spent)}' if spent >= 1 else ''}")
                return
            if found and state == "ERROR":
                raise self._failed(found)
            if state in ("gone", "STOPPING"):
                self._gone(operation, state)
            if spent >= self.policy.made:
                raise Timeout(
                    f"cluster {id_} is still being made after {span(spent)}",
                    why="machines that are scarce take their time; it goes on without this command",
                    fix=_NEXT_RUN,
                )
            if spent >= due:
                due = next(to_tell)
                self.cloud.say(f"cluster {id_} is still being made after {span(spent)} ({state.lower()})")
            self._pause(wait)
            wait = min(wait * 2, self.policy.look)

    def _may_go_on(self, trouble: _AgainError, silent: float) -> None:
        """Busy or silent for a while, it is asked again; denied, it will not answer later either."""
        denied = trouble.error and 400 <= trouble.error.status < 500 and trouble.error.status not in _AGAIN
        if trouble.error and (denied or silent >= self._bound(trouble)):
            raise ResourceError(
                f"cluster {self.cluster.id} was accepted and is being made, and can't be watched",
                why=trouble.error.why,
                fix=f"{trouble.error.fix or 'correct that'}; then {_NEXT_RUN}",
            ) from trouble.error

    def _gone(self, operation: Operation | None, state: str) -> None:
        """Not there although it was accepted: the operation tells why, where there is one."""
        if operation is not None:
            try:
                operation = self.cloud.vertex.operation(operation.name)
            except CloudError:
                return
            if not operation.done:
                return
        why = (operation.error if operation else "") or "somebody deleted it while it was being made"
        if operation and operation.error_code in _HOPELESS:
            raise ResourceError(
                f"cluster {self.cluster.id} could not be made", why=why, fix="correct that, then pulumi up"
            )
        raise _AgainError(f"is {state.lower()}", why)

    def _failed(self, found: PersistentResource) -> SlipwayError | _AgainError:
        why = found.error or "the service gives no reason"
        self._clear(found.id)
        if found.error_code in _HOPELESS:
            return ResourceError(
                f"cluster {found.id} could not be made",
                why=why,
                fix=f"correct that, then pulumi up again; {self._rest()}",
            )
        return _AgainError("ended in ERROR", why)

    def _clear(self, id_: str) -> None:
        self.left = clear_failed(
            id_, self.cluster.known_by, self.cloud, lambda: self._pause(self.policy.first), self.policy.cleared
        )

    def _given_up(self, trouble: _AgainError, spent: float, tries: int) -> SlipwayError:
        times = f"{tries} tries in {span(spent)}" if tries > 1 else "one try"
        if self.doubt:
            return ResourceError(
                f"cluster {self.cluster.id} may have been made: the request was sent, and no answer told ({times})",
                why=trouble.why,
                fix=f"slipway pools shows whether it is there (it is billed from its start); {_NEXT_RUN}",
            )
        exhausted = trouble.error is not None and trouble.error.status == 429
        kind = PolicyError if exhausted else ResourceError
        ask = "slipway quota shows limits and use; then " if exhausted else ""
        return kind(
            f"cluster {self.cluster.id} could not be made: it {trouble.what} ({times})",
            why=trouble.why,
            fix=f"{ask}run pulumi up again, which tries again, or ask for other machines or another region in the "
            f"stack file; {self._rest()}",
        )

    def _rest(self) -> str:
        return self.left or "nothing of it is left behind or billed"

    def _pause(self, seconds: float) -> None:
        self.cloud.pause(self.cloud.stop, seconds)
        if self.cloud.stop.is_set():
            raise Timeout(
                f"cluster {self.cluster.id} is not waited for any longer",
                why="another cluster of this deployment could not be made",
                fix=f"once that is corrected, {_NEXT_RUN}",
            )
