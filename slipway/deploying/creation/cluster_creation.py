"""The creation of a cluster, with messages until it runs. Refused requests are repeated for a while.

Where there are no machines, or no quota for them, the alternatives of the stack file are tried in their order, and all
of them again after a pause. The id is Slipway's, so a repeated request never makes a second cluster: a lost answer is
looked up, not feared. A failed cluster is cleared away: in ERROR it holds its name and no machines, and no job ever
runs on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from itertools import chain, count
from math import inf

from slipway.base.clock import poll
from slipway.base.errors import PolicyError, ResourceError, SlipwayError, WaitTimeout
from slipway.base.formatting import join, span
from slipway.deploying.creation.creation_context import KNOWN_BY, CreationContext, CreationPolicy
from slipway.google.clusters import RUNNING_STATES, Operation, PersistentResource
from slipway.google.failures import CloudError, Conflict, NoAnswer, NotFound, Unreachable
from slipway.google.vertex import Vertex
from slipway.model.cluster import CurrentCluster
from slipway.model.season import moment_in_words

_AGAIN = frozenset({408, 429, 500, 502, 503, 504})
# gRPC codes of a failed creation that no second try can correct: a wrong field, a missing key, role or condition.
_HOPELESS = frozenset({3, 5, 7, 9, 12, 16})
_MOST_DOUBLED = 20  # The pause is long enough by then, and an unbounded power would exceed any number of seconds.
# A wait for a created cluster is reported after these seconds, and then every so many; each of the first tries is, too.
_REPORT_AFTER_S, _REPORT_EVERY_S, _REPORTED_TRIES = (60, 120, 300), 600, 3
_FAILED = "ended in ERROR"
_NEXT_RUN = (
    "deploy again: it finds the cluster by its name and labels, waits for it (up to two hours), and takes it as it is"
)


class AgainError(Exception):
    """A failed try that another try may mend.

    `what`: what happened to the cluster, as a clause that follows its id.
    `why`: the reason in the service's words.
    """

    def __init__(self, what: str, why: str, error: CloudError | None = None) -> None:
        super().__init__(what)
        self.what, self.why, self.error = what, why, error

    @property
    def exhausted(self) -> bool:
        return self.error is not None and self.error.status == 429

    @property
    def alternatives_may_do(self) -> bool:
        """Tell whether nothing exists and nothing is coming, for want of machines or of quota: alternatives may do."""
        return self.what == _FAILED or self.exhausted


class ClusterCreation:
    """The creation of a cluster.

    `failed`: full names of clusters that are cleared away before.
    `meanwhile`: a sentence about the clusters that submitters have until this one is made.
    """

    def __init__(
        self,
        first: CurrentCluster,
        cloud: CreationContext,
        policy: CreationPolicy,
        failed: Iterable[str] = (),
        meanwhile: str = "",
    ) -> None:
        self.options, self.place = (first, *first.alternatives), 0
        self.cloud, self.policy, self.failed, self.meanwhile = cloud, policy, failed, meanwhile
        self.patience = policy.patience(first.spec)
        self.began = cloud.now()
        self.tries = self.pauses = 0
        self.troubles: dict[int, AgainError] = {}  # the last trouble of each option
        self.warned = ""  # the reason of the last warning
        self.reported_at = -inf  # when the last message about the wait was written
        self.leftovers: dict[str, str] = {}  # failed clusters that stay, as sentences by name, for the error
        self.accepted: set[str] = set()  # the ids whose acceptance was reported
        self.doubt = False  # whether the last request may have been carried out, unseen

    @property
    def cluster(self) -> CurrentCluster:
        return self.options[self.place]

    @property
    def vertex(self) -> Vertex:
        region = self.cluster.spec.region
        return self.cloud.vertex.at(region) if region else self.cloud.vertex

    def run(self) -> str:
        """Make the cluster; return the id of the one that runs in the end.

        Raises SlipwayError, with what is left behind and what to type.
        """
        for failed in self.failed:
            self._clear(failed)
        while True:
            self.tries += 1
            try:
                self._watch(self._send())
                return self.cluster.id
            except AgainError as trouble:
                self._go_on(trouble)

    def _go_on(self, trouble: AgainError) -> None:
        """Continue with the next alternative, or with the first after a pause. Raises when the time is over."""
        self.troubles[self.place] = trouble
        spent = self.cloud.now() - self.began
        remaining_s = self._bound(trouble) - spent
        following = self.place + 1
        if (
            trouble.alternatives_may_do
            and following < len(self.options)
            and (remaining_s > 0 or following not in self.troubles)
        ):
            if following not in self.troubles:
                other = self.options[following]
                instead = f"{_machines(other)} may do, as {_called(other)}"
                self.cloud.warn(f"cluster {self.cluster.id} {trouble.what}: {trouble.why}; {instead}")
            self.place = following
            return
        if remaining_s <= 0:
            raise self._given_up(trouble, spent) from trouble.error
        if trouble.why != self.warned:
            self.warned = trouble.why
            until = span(self.patience)
            self.cloud.warn(f"cluster {self.cluster.id} {trouble.what}: {trouble.why}; trying again, for up to {until}")
        wait = min(self.policy.first * 2 ** min(self.pauses, _MOST_DOUBLED), self.policy.again, remaining_s)
        self.pauses += 1
        self._tell(wait, remaining_s)
        self.cloud.pause(wait)
        if trouble.alternatives_may_do:
            self.place = 0

    def _tell(self, wait: float, remaining_s: float) -> None:
        """Report what is waited for and until when: at the first tries, and then once in a while."""
        now = self.cloud.now()
        if self.pauses > _REPORTED_TRIES and now - self.reported_at < _REPORT_EVERY_S:
            return
        self.reported_at = now
        last = moment_in_words(self.cloud.clock() + timedelta(seconds=remaining_s))
        self.cloud.say(
            f"cluster {self.options[0].id} waits for {join(map(_machines, self.options), 'or')}: try {self.tries} was "
            f"in vain, the next one in {span(wait)}, the last one by {last}"
        )

    def _bound(self, trouble: AgainError) -> float:
        return min(self.policy.unreachable, self.patience) if isinstance(trouble.error, Unreachable) else self.patience

    def _send(self) -> Operation | None:
        """Return the creation's operation; None where the cluster was found to exist already."""
        id_ = self.cluster.id
        try:
            operation = self.vertex.create_persistent_resource(id_, self.cluster.request(self.cloud.stack))
            self.doubt = False
            return operation
        except CloudError as error:
            self.doubt = not error.not_accepted
            # 409: after a request whose answer was lost, another `up`, or somebody else's. Labels tell.
            if isinstance(error, Conflict) or not error.not_accepted:
                living = self._look()
                if living is not None:
                    if not self.cloud.is_ours(living, self.cluster):
                        raise ResourceError(
                            f"cluster {id_} is there already, and somebody else made it",
                            why=f"it lacks the labels of this stack ({', '.join(KNOWN_BY)}); {error.message}",
                            fix="delete it by hand once no job uses it, or raise `generation` of the cluster; "
                            "then deploy again",
                        ) from error
                    self.doubt = False
                    self.cloud.say(f"cluster {id_} was made although the answer did not come: going on with it")
                    return None
                self.doubt = isinstance(error, NoAnswer)  # a server that answered has ended its work on it
            if isinstance(error, (Conflict, NoAnswer, Unreachable)) or error.status in _AGAIN:
                raise AgainError("is refused" if error.status else "gets no answer", error.message, error) from error
            if 400 <= error.status < 500:
                raise
            raise AgainError("is not made", error.message, error) from error

    def _look(self) -> PersistentResource | None:
        """Return the cluster, or None where there is none; a failure to read is retried later."""
        try:
            return self.vertex.persistent_resource(self.cluster.id)
        except NotFound:
            return None
        except CloudError as error:
            raise AgainError("can't be read", error.message, error) from error

    def _watch(self, operation: Operation | None) -> None:
        """Wait until it runs. A failed cluster is cleared away."""
        id_, policy, began = self.cluster.id, self.policy, self.cloud.now()
        if id_ not in self.accepted:
            self.cloud.say(f"cluster {_called(self.cluster)} is accepted and being made")
        self.accepted.add(id_)
        seen = began
        reports = chain(_REPORT_AFTER_S, count(_REPORT_EVERY_S, _REPORT_EVERY_S))
        due = next(reports)
        for spent in poll(self.cloud.pause, policy.first, policy.look, within=policy.made, now=self.cloud.now):
            try:
                living = self._look()
                state, seen = living.state if living else "gone", self.cloud.now()
            except AgainError as trouble:
                self._may_go_on(trouble, self.cloud.now() - seen)
                living, state = None, f"can't be read: {trouble.why}"
            if state in RUNNING_STATES:
                self.cloud.say(f"cluster {id_} runs{f' after {span(spent)}' if spent >= 1 else ''}")
                return
            if living and state == "ERROR":
                raise self._failed(living)
            if state in ("gone", "STOPPING"):
                self._gone(operation, state)
            if spent >= due:
                due = next(reports)
                self.cloud.say(f"cluster {id_} is still being made after {span(spent)} ({state.lower()})")
        raise WaitTimeout(
            f"cluster {id_} is still being made after {span(policy.made)}",
            why="machines that are scarce take their time; it goes on without this command",
            fix=_NEXT_RUN,
        )

    def _may_go_on(self, trouble: AgainError, silent: float) -> None:
        """Raise for a denial, which no later request mends, and for a service that is busy or silent for too long."""
        denied = trouble.error and 400 <= trouble.error.status < 500 and trouble.error.status not in _AGAIN
        if trouble.error and (denied or silent >= self._bound(trouble)):
            raise ResourceError(
                f"cluster {self.cluster.id} was accepted and is being made, and can't be watched",
                why=trouble.error.why,
                fix=f"{trouble.error.fix}; then {_NEXT_RUN}",
            ) from trouble.error

    def _gone(self, operation: Operation | None, state: str) -> None:
        """Raise for a cluster that is missing although it was accepted: the operation tells why, where there is one."""
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
                f"cluster {self.cluster.id} could not be made", why=why, fix="correct that, then deploy again"
            )
        raise AgainError(f"is {state.lower()}", why)

    def _failed(self, living: PersistentResource) -> SlipwayError | AgainError:
        why = living.error or "the service gives no reason"
        self._clear(living.name)
        if living.error_code in _HOPELESS:
            return ResourceError(
                f"cluster {living.id} could not be made",
                why=why,
                fix=f"correct that, then deploy again; {self._rest()}",
            )
        return AgainError(_FAILED, why)

    def _clear(self, name: str) -> None:
        self.leftovers[name] = self.cloud.clear(name, self.cluster, self.policy.cleared)

    def _given_up(self, trouble: AgainError, spent: float) -> SlipwayError:
        """Return the last error, with the last trouble of each option."""
        last, first = self.cluster, self.options[0]
        times = f"{self.tries} tries in {span(spent)}" if self.tries > 1 else "one try"
        if self.doubt:
            return ResourceError(
                f"cluster {last.id} may have been made: the request was sent, and no answer told ({times})",
                why=trouble.why,
                fix=f"slipway pools shows whether it is there (it is billed from its start); {_NEXT_RUN}",
            )
        time = f"`{self.cloud.origin.argument('createWithin')}`"
        exhausted = all(failure.exhausted for failure in self.troubles.values())
        more = "" if first.spec.name in self.policy.hopeless else f"more time ({time}), or "
        ask = "slipway quota shows limits and use; then " if exhausted else ""
        what, why = f"cluster {last.id} could not be made: it {trouble.what}", trouble.why
        if len(self.troubles) > 1:
            others = len(self.troubles) - 1
            how = "nor could its alternative" if others == 1 else f"nor could any of its {others} alternatives"
            tried = [(self.options[place], failure) for place, failure in sorted(self.troubles.items())]
            what = f"cluster {first.id} could not be made, {how}"
            why = "\n".join(
                f"{_called(option)}, {_machines(option)}: it {failure.what}: {failure.why}" for option, failure in tried
            )
        return (PolicyError if exhausted else ResourceError)(
            f"{what} ({times})",
            why=why,
            fix=f"{ask}deploy again, which tries again; or give it {more}other machines or another region "
            "(`alternatives`, or in the place of these); " + "\n".join(filter(None, (self._rest(), self.meanwhile))),
        )

    def _rest(self) -> str:
        return "; ".join(filter(None, self.leftovers.values())) or "nothing of it is left behind or billed"


def _machines(cluster: CurrentCluster) -> str:
    where = f" in {cluster.spec.region}" if cluster.spec.region else ""
    return join(f"{pool.replicas} {pool.machine}" for pool in cluster.spec.pools) + where


def _called(cluster: CurrentCluster) -> str:
    return f"{cluster.id} (alternative {cluster.spec.alternative})" if cluster.spec.alternative else cluster.id
