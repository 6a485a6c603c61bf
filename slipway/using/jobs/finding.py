"""A job from the text that a person types: its name, number, full resource name, template, or the id of its request.
And the listed jobs of a person."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from itertools import islice

from slipway.base.errors import Cancelled, ConfigError, ResourceError, SlipwayError
from slipway.base.formatting import join, nearest, quoted, short
from slipway.google.answers import region_of
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.vertex import Vertex
from slipway.model.kinds import KINDS, PIPELINE_JOB
from slipway.model.labels import NAME_LABEL, REQUEST_LABEL, STACK_LABEL, USER_LABEL, label_filter, label_value
from slipway.using.context import Context
from slipway.using.jobs.claimant import JobGoneError, OtherJobError, original
from slipway.using.jobs.earlier_jobs import earlier_filter

_RECENT = 100


def find_job(context: Context, text: str, *, of_template: bool = True, tell: Callable[[str], None]) -> VertexJob:
    """Return the job of this name, number, resource name, request id or, with `of_template`, a template's newest; among
    several the one that has the submission's claim. `tell` is told which was taken. Raises ResourceError."""
    catalog = context.catalog
    try:
        newest, *namesakes = find_jobs(
            context.vertex, text, stack=catalog.identity.label, of_template=of_template, user=context.user
        )
    except ResourceError as problem:
        if text not in catalog.templates:
            raise
        why = "it is a template, of which there are no jobs yet" if of_template else "it is a template, and no job"
        fix = f"slipway submit {text}" if of_template else f"slipway jobs list --template {text}"
        raise ResourceError(problem.what, why=why, fix=fix) from None
    if newest.display_name != text:
        state = "a race" if newest.race else newest.outcome  # One leg's is not that of the race.
        owner_and_state = ", ".join(word for word in (newest.user, state) if word)
        if newest.template and newest.template == label_value(text):
            whose = "your" if newest.labels.get(USER_LABEL) == label_value(context.user) else "its"
            tell(f"{text} is a template; this is {whose} newest job, {newest.display_name} ({owner_and_state})")
        elif newest.chosen_name == text:
            tell(f"{text} is the name of {newest.display_name} ({owner_and_state})")
        elif newest.request_id == text:
            tell(f"{text} is a request; this is its job, {newest.display_name} ({owner_and_state})")
    if newest.race and text not in (newest.id, newest.name):
        from slipway.using.jobs.race import read_race  # Most jobs do without its import.

        with contextlib.suppress(CloudError, JobGoneError):
            race = read_race(context, newest)
            tell(f"{text} is a race: {race.words}; this is its job in {race.stands.region}")
            return race.stands
    if not namesakes:
        # Lists do not have a pipeline's tasks.
        return context.vertex.job(newest.name) if newest.kind is PIPELINE_JOB else newest
    if newest.after and (before := next((job for job in reversed(namesakes) if not job.ended), None)):
        tell(f"{text} makes room, and goes on as {newest.id}; this is {before.id}, until then")
        return before
    ran = None
    with contextlib.suppress(JobGoneError, OtherJobError, Cancelled):
        ran = original(context.vertex, context.connection.storage, newest)
    which = f"{ran.id}, which runs the submission" if ran else f"the newest, {newest.id}"
    tell(f"{len(namesakes) + 1} jobs are called {text}; this is {which}")
    return ran or newest


def find_jobs(
    vertex: Vertex, text: str, *, stack: str = "", of_template: bool = True, user: str = ""
) -> list[VertexJob]:
    """Return the jobs of this name, the newest first where several have it. With a `stack`, and where no job has that
    name, return the newest job of that stack's template of this name (with `of_template`), of `user` where they have
    one; or the newest job for which that name was chosen; or the jobs of the request with this id.

    One region that has it is enough where another does not answer: it has the id of the request, and a job that costs
    money can be cancelled. Raises ResourceError with a suggestion when there is no such job, ConfigError for the name
    of a job outside the regions, and CloudError.
    """
    try:
        return _found(vertex, text, stack, user if of_template else None)
    except CloudError:
        each_was_asked = text.isdigit() or "/" in text or len(vertex.regions) == 1
        for region in () if each_was_asked else vertex.regions:
            with contextlib.suppress(SlipwayError):
                return _found(vertex.at(region), text, stack, None)  # Another region may have a template's newest.
        raise


def _found(vertex: Vertex, text: str, stack: str, user: str | None) -> list[VertexJob]:
    """Return the jobs of this name, of a template where there is a `user`, or of a request."""
    names = []
    if "/" in text:
        names = [_own(vertex, text)]
    elif text.isdigit():
        places = [f"projects/{vertex.project}/locations/{region}" for region in vertex.regions]
        numbered = [kind.collection for kind in KINDS.values() if not kind.id_parameter]
        names = [f"{place}/{collection}/{text}" for place in places for collection in numbered]
    if names and (job := _first(vertex, names)):
        return [job]
    if names or '"' in text or "\\" in text:
        raise _unknown(vertex, text)
    jobs = list(vertex.jobs_of_every_kind(f'display_name="{text}"'))
    if not jobs and stack and user is not None and label_value(text):
        of_all, who = earlier_filter(stack, text), label_value(user)
        jobs = _newest(vertex, f'{of_all} AND labels.{USER_LABEL}="{who}"') if who else []
        jobs = jobs or _newest(vertex, of_all)
    if not jobs and stack and label_value(text) == text:
        jobs = _newest(vertex, label_filter({STACK_LABEL: stack, NAME_LABEL: text}))
    if not jobs and stack and label_value(text) == text:
        jobs = list(vertex.jobs_of_every_kind(label_filter({STACK_LABEL: stack, REQUEST_LABEL: text})))
    if not jobs:
        raise _unknown(vertex, text)
    return jobs


def _newest(vertex: Vertex, wanted: str) -> list[VertexJob]:
    return list(islice(vertex.jobs_of_every_kind(wanted, page_size=1), 1))


def _first(vertex: Vertex, names: list[str]) -> VertexJob | None:
    """Return the first job found; each region is asked once. Raises CloudError where not all regions answered."""
    failed: dict[str, CloudError] = {}
    for name in names:
        region = region_of(name)
        if region in failed:
            continue
        try:
            if job := vertex.found(name):
                return job
        except CloudError as problem:
            failed[region] = problem
    if failed:
        raise next(iter(failed.values()))
    return None


def _own(vertex: Vertex, name: str) -> str:
    """Check a full resource name, which must be in one of the regions. The project may be given by its number."""
    parts = name.strip("/").split("/")
    collections = [kind.collection for kind in KINDS.values()]
    if len(parts) != 6 or parts[0:4:2] != ["projects", "locations"] or parts[4] not in collections:
        raise ConfigError(
            f"invalid job name {quoted(name)}",
            fix=f"projects/PROJECT/locations/REGION/{collections[0]}/NUMBER, or with {' or '.join(collections[1:])}",
        )
    project = vertex.project if parts[1].isdigit() else parts[1]
    for noun, theirs, ours in (("", parts[3], vertex.regions), ("project ", project, (vertex.project,))):
        if theirs not in ours:
            raise ConfigError(
                f"{short(name, 200)} is in {noun}{short(theirs)}, the catalog's stack in {join(ours)}",
                fix=("choose the catalog of that stack: ", {"catalog": "gs://BUCKET"}),
            )
    return "/".join(parts)


def _unknown(vertex: Vertex, text: str) -> ResourceError:
    recent: list[str] = []
    with contextlib.suppress(CloudError):
        recent = [job.display_name for job in islice(vertex.jobs_of_every_kind(), _RECENT)]
    near = nearest(text, recent, cutoff=0.9)  # Jobs of one template differ in eight random letters alone.
    by_list = not text.isdigit() and "/" not in text
    hidden = "; a list may hide a job for a minute after its submission" if by_list else ""
    return ResourceError(
        f"no job {quoted(text)} in {vertex.project}, {join(vertex.regions, 'or')}",
        why=f"none of that name or number is listed there{hidden}",
        fix=f"{near}, if that was meant; else slipway jobs list" if near else "slipway jobs list",
    )
