"""A running job that makes room for one that waits, and goes on behind it: the same submission, in a job of its own.

The job behind is sent first, and only then is the running one asked, so that nothing is lost whatever is killed in
between. One object decides between the two: the running job's launcher creates it before it ends its code, or that of
the job behind, which then ends before any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from slipway.authoring.packages.slipway_round import KEPT, Asked
from slipway.base.errors import AnswerUnknown, ConfigError, PolicyError, ResourceError
from slipway.base.formatting import counted, join, last_part, quoted
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location
from slipway.model.agents import AGENT
from slipway.model.catalog.model import Catalog
from slipway.model.labels import SESSION_LABEL, STACK_LABEL, SWEEP_LABEL, label_value
from slipway.using.context import Context
from slipway.using.jobs.claim import CANCELLED, claim_of, take_claim
from slipway.using.jobs.demand import Demand, by_pool, machines_on
from slipway.using.jobs.room import round_of
from slipway.using.submission.cancelling import of_others
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.request import Request, derived_request_id
from slipway.using.submission.sender import Sender
from slipway.using.submission.submitter import journal_of

WITHIN_S = 600.0
"""The seconds for which a job that makes room may go on to its next checkpoint, unless somebody names others."""


@dataclass(frozen=True)
class Yielded:
    """A job that was asked to make room."""

    asked: Asked
    behind: VertexJob


def require_yields(job: VertexJob) -> None:
    """Raise ConfigError or ResourceError for a job that can't make room, or whose room nobody could take. Pure."""
    if job.ended or job.start_time is None or job.waits:
        raise ResourceError(
            f"{job.called} holds no machines: it {'has ended' if job.ended else 'waits itself'}",
            fix=f"slipway jobs show {job.typed}",
        )
    if not job.persistent_resource_id:
        why = f"it runs on machines of its own ({job.capacity_type}), which go when it ends, and to nobody else"
        raise ConfigError(f"{job.called} is on no pool", why=why, fix="name a job that runs on the pool: slipway pools")
    if SESSION_LABEL in job.labels:
        raise ConfigError(
            f"{job.called} is a session, which can't go on in another job",
            fix=f"slipway session stop {job.typed}",
        )
    if SWEEP_LABEL in job.labels:
        raise ConfigError(
            f"{job.called} is a run of a sweep, and does not make room",
            why="its sweep counts each run by the job that it sent",
            fix=f"cancel it, and send it again later: slipway jobs cancel {job.typed}, then the sweep's command with "
            "--retry-cancelled",
        )
    if not job.yields:
        raise ConfigError(
            f"{job.called} can't go on in another job",
            why="what it has computed would be lost: its template does not say checkpoints=True, was deployed by an "
            "earlier slipway, or is an image without a launcher",
            fix=f"slipway jobs cancel {job.typed}, if that may be lost",
        )


def rival_of(job: VertexJob, text: str, others: Iterable[VertexJob]) -> VertexJob:
    """Return the job that waits for the cluster of `job` and is called so, or is the first of the person called so.
    Raises ResourceError. Pure."""
    waiting = [
        other
        for other in others
        if other.waits and other.persistent_resource_id == job.persistent_resource_id and other.region == job.region
    ]
    waiting.sort(key=lambda other: (other.create_time is None, other.create_time))
    for other in waiting:
        if text in (other.display_name, other.id, other.name, other.chosen_name, other.request_id):
            return other
    theirs = [other for other in waiting if other.user and other.user == label_value(text)]
    if not theirs:
        who = join(f"{other.called} ({other.user or 'nobody by name'})" for other in waiting[:3])
        raise ResourceError(
            f"nothing that is called {quoted(text)} waits for the machines of {job.called}",
            why=f"there waits {who}" if waiting else "no job waits for its cluster",
            fix=f"slipway jobs show {text}",
        )
    return theirs[0]


def before(rival: VertexJob, others: Iterable[VertexJob]) -> list[VertexJob]:
    """Return the jobs that wait for a cluster before `rival`, and get what becomes free there. Pure."""
    return [
        other
        for other in others
        if other.waits and other.region == rival.region and other.persistent_resource_id == rival.persistent_resource_id
        if other.create_time and rival.create_time and other.create_time < rival.create_time
    ]


def lacking(job: VertexJob, rival: VertexJob, cluster: PersistentResource) -> str:
    """Return the machines that `rival` lacks even when `job` has made room; empty where that is enough. Pure."""
    pools = {pool.id: pool for pool in cluster.pools}
    short = []
    for pool, needs in by_pool(Demand.of(rival), cluster).items():
        free = pools[pool].ceiling - pools[pool].used + machines_on(job, pool, cluster)
        if free < needs:
            short.append(f"{counted(needs - free, 'machine')} of {pool}")
    return join(short)


def make_room(
    context: Context, job: VertexJob, rival: VertexJob, within: float, *, tell: Callable[[str], None], again: str
) -> Yielded:
    """Send the job behind, and ask `job` to make room for `rival`; however often, and by however many, it is one job
    behind. `again` is how to ask once more.

    Raises ResourceError for a job that has made room, or was asked to make room for another one, AnswerUnknown, and
    CloudError.
    """
    storage = context.connection.storage
    round_ = round_of(storage, job)
    if round_.made:
        raise ResourceError(f"{job.called} has made room already", fix=f"slipway jobs wait {job.typed}")
    id_ = derived_request_id("yield", job.request_id, round_.number)
    request = Request(
        id=job.request_id,
        stack=job.labels.get(STACK_LABEL, ""),
        template=job.template,
        body=context.vertex.body(job.name),
        region=job.region,
        bucket=Location.parse(round_.claim).bucket,
    ).behind(id_, round_.name, context.now)
    journal = journal_of(context)
    policy = RetryPolicy(look_for=context.look_for, no_contact=context.no_contact)
    sender = Sender(context, journal, tell, policy)
    try:
        with journal.held(id_):
            behind = sender.begin(request, repeated=True) or sender.send(request)
    except AnswerUnknown as problem:
        problem.to_go_on(again)
        raise
    claims = [claim for claim in (claim_of(rival), request.claim) if claim]
    asked = Asked(
        by=label_value(context.user) or "somebody",
        whom=f"{rival.called} ({rival.user or 'nobody by name'})",
        within=within,
        behind=id_,
        needless=tuple(map(last_part, claims)),
    )
    first = storage.create(round_.asks, asked.packed(), "application/json", again=True)
    if behind.job.ended:  # Somebody ended it elsewhere. Nobody would go on in this round.
        take_claim(storage, request.claim, CANCELLED)
        storage.create(round_.ends, KEPT, again=True)
        return make_room(context, job, rival, within, tell=tell, again=again)
    if not first:
        there = Asked.read(storage.read(round_.asks))
        if there.whom != asked.whom:
            raise ResourceError(
                f"{job.called} makes room for {there.whom} already, as {there.by} asked",
                fix=f"slipway jobs wait {job.typed}",
            )
        asked = there
    return Yielded(asked, behind.job)


def require_own(context: Context, job: VertexJob, rival: VertexJob) -> None:
    """Raise PolicyError for somebody else's job, unless the room is for a job of one's own and the stack lets one have
    others make room. It is by its label, as the service does not tell who made one."""
    if not of_others([job], context):
        return
    whose = f"{job.called} ({job.owner_and_age(context.now)})"
    if context.agent:
        raise PolicyError(
            f"{whose} was not sent by agent {label_value(context.agent)}",
            why="an agent has those jobs make room that it has sent",
            fix=f"have a person type it, without {AGENT}",
        )
    if rival.user == label_value(context.user) and may_urge(context.catalog, rival.user, rival.team):
        return
    raise PolicyError(
        f"{whose} is not yours",
        why="who has submitted a job may have it make room",
        fix=f"ask {job.user or 'its owner'} for slipway jobs yield {job.typed} --to "
        f"{label_value(context.user) or 'NAME'}",
    )


def may_urge(catalog: Catalog, user: str, team: str) -> bool:
    """Tell whether the stack lets somebody have others' jobs make room. A group counts for submissions of the team that
    it is called like: the service does not tell who is in it. Pure."""
    for member in catalog.urgent or ():
        kind, _, name = member.partition(":")
        called = label_value(name.partition("@")[0])
        if called and called == label_value(team if kind == "group" else user.partition("@")[0]):
            return True
    return False


def require_urgent(catalog: Catalog, user: str, team: str, agent: str = "") -> None:
    """Raise PolicyError for who may not submit urgent jobs, and for any `agent`. Pure."""
    if agent:
        raise PolicyError(
            f"agent {label_value(agent)} may not submit urgent jobs",
            why="others' jobs make room for one, and an agent ends only what it has sent",
            fix=f"leave --urgent out, or have a person type it, without {AGENT}",
        )
    if may_urge(catalog, user, team):
        return
    raise PolicyError(
        f"you may not submit urgent jobs to stack {catalog.stack}",
        why=f"{join(catalog.urgent or ()) or 'nobody'} may, and you are {user or 'nobody by name'}"
        f"{f' of team {team}' if team else ''}",
        fix=f"ask its owners for {catalog.origin.setting('slipway:workspace', 'urgent', '[user:ADDRESS]')}; or have "
        "somebody make room: slipway jobs yield JOB --to NAME",
    )
