"""Makes a cluster and waits until it runs, saying what happens. What the service refuses is tried again for a while.

Where there are no machines, or no quota for them, the alternatives of the stack file are tried in their order, and all
of them again after a pause. The id is ours, so sending the request again never makes a second cluster: a lost answer is
looked up, not feared. A cluster that failed is cleared away: one in ERROR holds its name and no machines, and no job
ever runs on it.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import chain, count
from math import inf

from slipway.clock import poll
from slipway.cloud.clusters import Operation, PersistentResource
from slipway.cloud.failures import CloudError, Conflict, NoAnswer, NotFound, Unreachable
from slipway.cloud.vertex import Vertex
from slipway.creation.creation_context import (
    FAILED,
    NEXT_RUN,
    AgainError,
    CreationContext,
    CreationPolicy,
    NewCluster,
    given_up,
)
from slipway.errors import ResourceError, SlipwayError, Timeout
from slipway.formatting import join, span
from slipway.season import moment_in_words

_AGAIN = frozenset({408, 429, 500, 502, 503, 504})
_READY = frozenset({"RUNNING", "UPDATING"})
# gRPC codes of a failed creation that no second try can correct: a wrong field, a missing key, role or condition.
_HOPELESS = frozenset({3, 5, 7, 9, 12, 16})
_MOST_DOUBLED = 20  # A pause is long enough by then, and a number of any size is not one of seconds.
_SAID_AFTER_S, _SAID_EVERY_S, _TOLD_TRIES = (60, 120, 300), 600, 3


class ClusterCreation:
    """`cluster` is what is being made: the one that was asked for first, or one of its alternatives."""

    def __init__(self, cluster: NewCluster, cloud: CreationContext, policy: CreationPolicy) -> None:
        self.options, self.place = (cluster, *cluster.alternatives), 0
        self.cloud, self.policy = cloud, policy
        self.patience = policy.refused if cluster.within is None else cluster.within
        self.began = cloud.now()
        self.tries = self.pauses = 0
        self.troubles: dict[int, AgainError] = {}  # the last of each option
        self.warned, self.told_at = "", -inf
        self.left: dict[str, str] = {}  # what stays behind, for the last words
        self.accepted: set[str] = set()  # those of whom that was said
        self.doubt = False  # whether the last request may have been carried out, unseen

    @property
    def cluster(self) -> NewCluster:
        return self.options[self.place]

    @property
    def vertex(self) -> Vertex:
        """The service in the cluster's region."""
        return self.cloud.vertex.at(self.cluster.region) if self.cluster.region else self.cloud.vertex

    def run(self) -> str:
        """The id of the one that runs in the end.

        Raises SlipwayError, with what is left behind and what to type.
        """
        for failed in self.cluster.failed:
            self._clear(failed)
        while True:
            self.tries += 1
            try:
                self._watch(self._send())
                return self.cluster.id
            except AgainError as trouble:
                self._go_on(trouble)

    def _go_on(self, trouble: AgainError) -> None:
        """Go on with the next alternative at once, or with the first option after a pause. Raises when the time is
        over."""
        self.troubles[self.place] = trouble
        spent = self.cloud.now() - self.began
        left, following = self._bound(trouble) - spent, self.place + 1
        if trouble.settled and following < len(self.options) and (left > 0 or following not in self.troubles):
            if following not in self.troubles:
                other = self.options[following]
                instead = f"{other.machines} may do, as {other.called}"
                self.cloud.warn(f"cluster {self.cluster.id} {trouble.what}: {trouble.why}; {instead}")
            self.place = following
            return
        if left <= 0:
            tried = {self.options[place]: one for place, one in sorted(self.troubles.items())}
            raise given_up(self.cluster, tried, self.doubt, self._times(spent), self._rest()) from trouble.error
        if trouble.why != self.warned:
            self.warned = trouble.why
            until = span(self.patience)
            self.cloud.warn(f"cluster {self.cluster.id} {trouble.what}: {trouble.why}; trying again, for up to {until}")
        wait = min(self.policy.first * 2 ** min(self.pauses, _MOST_DOUBLED), self.policy.again, left)
        self.pauses += 1
        self._tell(wait, left)
        self.cloud.pause(wait)
        if trouble.settled:
            self.place = 0

    def _tell(self, wait: float, left: float) -> None:
        """That it waits, what for and until when: of the first tries, and then once in a while."""
        now = self.cloud.now()
        if self.pauses > _TOLD_TRIES and now - self.told_at < _SAID_EVERY_S:
            return
        self.told_at = now
        last = moment_in_words(self.cloud.clock() + timedelta(seconds=left))
        needs = join((one.machines for one in self.options if one.machines), "or")
        waits = f"waits for {needs}" if needs else "is waited for"
        self.cloud.say(
            f"cluster {self.options[0].id} {waits}: try {self.tries} was in vain, the next one in {span(wait)}, "
            f"the last one by {last}"
        )

    def _bound(self, trouble: AgainError) -> float:
        return min(self.policy.unreachable, self.patience) if isinstance(trouble.error, Unreachable) else self.patience

    def _send(self) -> Operation | None:
        """The creation's operation; None where the cluster was found to be there already."""
        id_ = self.cluster.id
        try:
            operation = self.vertex.create_persistent_resource(id_, self.cluster.body)
            self.doubt = False
            return operation
        except CloudError as error:
            self.doubt = not error.not_accepted
            # 409: by the request whose answer was lost, by another `up`, or by somebody else. Labels tell.
            if isinstance(error, Conflict) or not error.not_accepted:
                found = self._look()
                if found is not None:
                    self._must_be_ours(found, error)
                    self.doubt = False
                    self.cloud.say(f"cluster {id_} was made although the answer did not come: going on with it")
                    return None
                self.doubt = isinstance(error, NoAnswer)  # a server that answered has ended its work on it
            if isinstance(error, (Conflict, NoAnswer, Unreachable)) or error.status in _AGAIN:
                raise AgainError("is refused" if error.status else "gets no answer", error.message, error) from error
            if 400 <= error.status < 500:
                raise
            raise AgainError("is not made", error.message, error) from error

    def _must_be_ours(self, found: PersistentResource, error: CloudError) -> None:
        if all(found.labels.get(key) == value for key, value in self.cluster.known_by.items()):
            return
        raise ResourceError(
            f"cluster {found.id} is there already, and somebody else made it",
            why=f"it lacks the labels of this stack ({', '.join(self.cluster.known_by)}); {error.message}",
            fix="delete it by hand if nobody needs it, or raise `generation` of the cluster; then pulumi up again",
        ) from error

    def _look(self) -> PersistentResource | None:
        """The cluster, or None where there is none; what can't be read is tried again later."""
        try:
            return self.vertex.persistent_resource(self.cluster.id)
        except NotFound:
            return None
        except CloudError as error:
            raise AgainError("can't be read", error.message, error) from error

    def _watch(self, operation: Operation | None) -> None:
        """Until it runs. A failed one is cleared away."""
        id_, policy, began = self.cluster.id, self.policy, self.cloud.now()
        if id_ not in self.accepted:
            self.cloud.say(f"cluster {self.cluster.called} is accepted and being made")
        self.accepted.add(id_)
        seen, to_tell = began, chain(_SAID_AFTER_S, count(_SAID_EVERY_S, _SAID_EVERY_S))
        due = next(to_tell)
        for spent in poll(self.cloud.pause, policy.first, policy.look, within=policy.made, now=self.cloud.now):
            try:
                found = self._look()
                state, seen = found.state if found else "gone", self.cloud.now()
            except AgainError as trouble:
                self._may_go_on(trouble, self.cloud.now() - seen)
                found, state = None, f"can't be read: {trouble.why}"
            if state in _READY:
                self.cloud.say(f"cluster {id_} runs{f' after {span(spent)}' if spent >= 1 else ''}")
                return
            if found and state == "ERROR":
                raise self._failed(found)
            if state in ("gone", "STOPPING"):
                self._gone(operation, state)
            if spent >= due:
                due = next(to_tell)
                self.cloud.say(f"cluster {id_} is still being made after {span(spent)} ({state.lower()})")
        raise Timeout(
            f"cluster {id_} is still being made after {span(policy.made)}",
            why="machines that are scarce take their time; it goes on without this command",
            fix=NEXT_RUN,
        )

    def _may_go_on(self, trouble: AgainError, silent: float) -> None:
        """Busy or silent for a while, it is asked again; denied, it will not answer later either."""
        denied = trouble.error and 400 <= trouble.error.status < 500 and trouble.error.status not in _AGAIN
        if trouble.error and (denied or silent >= self._bound(trouble)):
            raise ResourceError(
                f"cluster {self.cluster.id} was accepted and is being made, and can't be watched",
                why=trouble.error.why,
                fix=f"{trouble.error.fix or 'correct that'}; then {NEXT_RUN}",
            ) from trouble.error

    def _gone(self, operation: Operation | None, state: str) -> None:
        """Not there although it was accepted: the operation tells why, where there is one."""
        if operation is not None:
            try:
                operation = self.vertex.operation(operation.name)
            except CloudError:
                return
            if not operation.done:
                return
        why = (operation.error if operation else "") or "somebody deleted it while it was being made"
        if operation and operation.error_code in _HOPELESS:
            raise ResourceError(
                f"cluster {self.cluster.id} could not be made", why=why, fix="correct that, then pulumi up"
            )
        raise AgainError(f"is {state.lower()}", why)

    def _failed(self, found: PersistentResource) -> SlipwayError | AgainError:
        why = found.error or "the service gives no reason"
        self._clear(found.name)
        if found.error_code in _HOPELESS:
            return ResourceError(
                f"cluster {found.id} could not be made",
                why=why,
                fix=f"correct that, then pulumi up again; {self._rest()}",
            )
        return AgainError(FAILED, why)

    def _clear(self, name: str) -> None:
        self.left[name] = self.cloud.clear(name, self.cluster.known_by, self.policy.cleared)

    def _times(self, spent: float) -> str:
        return f"{self.tries} tries in {span(spent)}" if self.tries > 1 else "one try"

    def _rest(self) -> str:
        return "; ".join(filter(None, self.left.values())) or "nothing of it is left behind or billed"
