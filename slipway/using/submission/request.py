"""A request: its id, the catalog's body with its `${…}` placeholders filled, and its claim. Pure, but for new ids."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

from slipway.base.errors import ConfigError, Fix
from slipway.base.formatting import quoted
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location
from slipway.model.catalog import placeholders
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Typed, Value
from slipway.model.catalog.placeholders import (
    DOLLAR,
    EXPERIMENT_RUN,
    JOB,
    OUTPUT,
    PACKAGE,
    REQUEST,
    SWEEP,
    with_numbers,
)
from slipway.model.catalog.template import Offer, Template
from slipway.model.kinds import CUSTOM_JOB, KINDS, JobKind
from slipway.model.labels import (
    GPU_MEMORY,
    GPUS,
    MARK,
    NOTE_VARIABLE,
    NOTIFICATION,
    RACE,
    REPLICAS,
    REQUEST_LABEL,
    ROLES_LABEL,
    RUN_LABEL,
    RUNS_LABEL,
    SHAPE,
    SWEEP_LABEL,
    TEAM_LABEL,
    URGENT_LABEL,
    USER_LABEL,
    YIELD,
    escaped,
    label_value,
    record,
    record_in,
    recorded,
    roles_of,
    roles_value,
)
from slipway.model.machines.spec import MachineSpec
from slipway.model.own_settings import OwnSettings
from slipway.model.secret import secret_version
from slipway.using.jobs.claim import claim_of, mark_in
from slipway.using.submission.parameters import texts as parameter_texts

_EXAMPLE: Fix = ({"request_id": "nightly-2026-11-20"}, ", for example, or leave it out")
_REQUEST_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_TASKS, _EXPANDED = ("containerSpec", "pythonPackageSpec"), ("args", "command", "env")
# An author's `$` that a value would make the beginning of `$(…)`; `$$` before it stands for one `$`.
_BEFORE_A_VALUE = re.compile(rf"(?<!\$)((?:\$\$)*)\$(?=\$\{{)(?!{re.escape(placeholders.placeholder(DOLLAR))})")


def new_request_id() -> str:
    """Make an id of eighty random bits: enough that no two ids are ever equal."""
    return _base32(secrets.token_bytes(10))


def derived_request_id(*parts: str | int) -> str:
    """Return an id derived from the parts: equal for equal parts."""
    return _base32(hashlib.sha256("\0".join(str(part) for part in parts).encode()).digest()[:10])


def attempt_id(request_id: str, number: int) -> str:
    """Return the request id of the n-th attempt of a submission; the first has the submission's own."""
    return request_id if number == 0 else derived_request_id("sending", request_id, number)


def leg_entry(request_id: str, region: str) -> str:
    """Return the id of the journal entry of a race's leg in a region."""
    return derived_request_id("leg", request_id, region)


def checked_request_id(text: str, noun: str = "request", fix: Fix = _EXAMPLE) -> str:
    """Return the id unchanged. Raises ConfigError for an id that could not be a label's value."""
    if not _REQUEST_ID.fullmatch(text):
        raise ConfigError(
            f"invalid {noun} id {quoted(text)}",
            why="it becomes a label: lower-case letters, digits, - and _, at most 63, beginning with a letter or digit",
            fix=fix,
        )
    return text


def job_name(template: str, request_id: str) -> str:
    """Return a job's name: `dask-digits-7k2p3f9a`; the same for the same request, so no repetition can hide."""
    return f"{template}-{_base32(hashlib.sha256(request_id.encode()).digest())[:8]}"


def _base32(raw: bytes) -> str:
    return base64.b32encode(raw).decode().rstrip("=").lower()


@dataclass(frozen=True)
class Request:
    """A job to send, with a request id."""

    id: str
    stack: str
    template: str
    body: Mapping[str, Any]
    kind: JobKind = CUSTOM_JOB
    #: Empty for the stack's own.
    region: str = ""
    bucket: str = ""
    #: Makes the requests that would be sent in its place on other shapes of its template.
    others: Callable[[], tuple[Request, ...]] = field(default=tuple, compare=False, repr=False)
    #: It is one of several of the same id at once, each in a region of its own.
    leg: bool = False

    @cached_property
    def job(self) -> VertexJob:
        """The job that is asked for."""
        return VertexJob.read(self.body, self.kind)

    @property
    def entry(self) -> str:
        """The id of its entry in the journal."""
        return leg_entry(self.id, self.region) if self.leg else self.id

    @property
    def claim(self) -> str:
        """The object that the launchers of this request race for. Empty where no worker pool has one."""
        return claim_of(self.job) if any(pool.launched for pool in self.job.worker_pools) else ""

    @property
    def runs_once(self) -> bool:
        """Tell whether only one job of this request runs: of two with an id of ours the service takes one, and of
        others the claim lets one run. The trials of a tuning job have claims by their numbers, and an image without a
        launcher takes none."""
        once = self.kind.id_parameter or (self.claim and self.job.starts_once)
        return bool(once) and not self.kind.has_trials

    @property
    def when_twice(self) -> str:
        """The clause that tells what two jobs of this request would do, should two be made."""
        if self.runs_once:
            return "of two jobs only one runs"
        trials = self.claim and self.kind.has_trials
        return "two tuning jobs share the trials out, which spoils both" if trials else "two jobs both run"

    @property
    def mark(self) -> str:
        """The object that gives an attempt up: its claim, which without a launcher its sender takes."""
        return self.claim or mark_in(self.bucket, self.id)

    @property
    def sender(self) -> str:
        """The text of a claim that its sender takes: `pipelineJobs/ID`."""
        name = self.kind.job_id(self.body) if self.kind.id_parameter else self.body.get("displayName", self.id)
        return f"{self.kind.collection}/{name}"

    def claimed_in(self, bucket: str) -> Request:
        """Return the request with its claim in the bucket where it was sent with first, whatever the catalog has now:
        an earlier job may start at any moment."""
        if bucket in ("", self.bucket):
            return self
        claim = self.claim
        there = str(Location(bucket, Location.parse(claim).name)) if claim else ""
        return replace(self, body=self._claiming(there) if claim else self.body, bucket=bucket)

    def behind(self, request_id: str, after: str, sent: datetime) -> Request:
        """Return the request for the job that goes on `after` this one has made room, with an id and a claim of its
        own: all else is the same, its name and its output too."""
        body = deepcopy(self._claiming(mark_in(self.bucket, request_id)))
        body["labels"] = {**body["labels"], REQUEST_LABEL: request_id}
        spec = self.kind.spec_of(body)
        record(spec, recorded({"after": after}), YIELD)
        told = record_in(self.job.worker_pools[0].env, NOTIFICATION)
        if isinstance(told, dict):
            record(spec, recorded({**told, "sent": int(sent.timestamp())}), NOTIFICATION)
        return replace(self, id=request_id, body=body)

    def _claiming(self, claim: str) -> dict[str, Any]:
        """Return the body whose launchers race for another claim."""
        spec = self.kind.spec_of(self.body)
        pools = [_with_argument(pool, self.claim, claim) for pool in spec.get("workerPoolSpecs", ())]
        return {**self.body, self.kind.spec: {**spec, "workerPoolSpecs": pools}}


def _with_argument(pool: Mapping[str, Any], argument: str, other: str) -> Mapping[str, Any]:
    tasks = {
        key: {**pool[key], "args": [other if given == argument else given for given in pool[key].get("args", ())]}
        for key in _TASKS
        if pool.get(key)
    }
    return {**pool, **tasks}


@dataclass(frozen=True)
class RequestOverrides:
    """The additions of one submission to its template's request."""

    #: The gs:// URI of a package in place of the template's.
    package: str = ""
    #: The digest of the code in `package`, without the files that Slipway packs beside it.
    code: str = ""
    #: It is a folder's: a sweep's name does not say which, as a folder changes.
    of_folder: bool = False
    #: The folder's requirements.
    requirements: tuple[str, ...] = ()
    sweep: str = ""
    #: In place of the template's.
    experiment: str = ""
    #: In place of the job's name.
    experiment_run: str = ""
    #: Seconds that the service is to wait for machines, 0 forever.
    max_wait: float | None = None
    #: Added to the template's.
    labels: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    #: Whether it asks for shells in the job's machines.
    shell: bool = False
    #: Running jobs of others are to make room for it.
    urgent: bool = False
    #: The name of the secret with the address that is told how the job goes, in place of the stack's.
    notify: str = ""
    settings: OwnSettings = field(default_factory=OwnSettings)


def fill(
    catalog: Catalog,
    template: Template,
    offer: Offer,
    values: Mapping[str, Value],
    *,
    request_id: str,
    user: str,
    team: str = "",
    overrides: RequestOverrides | None = None,
    sent: datetime | None = None,
    race: Sequence[str] = (),
) -> dict[str, Any]:
    """Make the job to post. `race`: the regions where it waits at once. Raises ConfigError when the catalog names an
    unknown placeholder.

    A value can't smuggle in another placeholder, nor one of the service's own `$(NAME)` expansions, nor a part of one.
    """
    overrides = overrides or RequestOverrides()
    job = job_name(template.name, request_id)
    texts: dict[str, Typed] = {
        name: tuple(item.replace("$", MARK) for item in text) if isinstance(text, tuple) else text.replace("$", MARK)
        for name, text in parameter_texts(template, values).items()
    }
    texts |= {
        JOB: job,
        REQUEST: request_id,
        OUTPUT: f"gs://{catalog.work_bucket_in(catalog.region_of_offer(offer))}/jobs/{job}",
        PACKAGE: overrides.package or template.package,
        SWEEP: overrides.sweep,
        EXPERIMENT_RUN: overrides.experiment_run or job,
        DOLLAR: "$",
    }
    body: dict[str, Any] = placeholders.rewritten(offer.request, texts, partial(_text, template.name))
    kind = KINDS[offer.kind]
    spec, roles = kind.spec_of(body), roles_value(offer.roles or template.roles)
    kind.record(body, values)
    for flag in ("note", "shell"):
        if kind.id_parameter and (asked := getattr(overrides, flag)):
            raise ConfigError(f"a {kind.words} has no place for a {flag}", fix=("leave out ", {flag: asked}))
    if overrides.note:
        record(spec, recorded(overrides.note), NOTE_VARIABLE)
    if race:
        record(spec, recorded(" ".join(race)), RACE)
    overrides.settings.put_on(spec, catalog.project)
    if overrides.shell:
        spec["enableWebAccess"] = True
    secret = overrides.notify or catalog.notify or ""
    if secret and (sent or overrides.sweep) and tells(offer):
        told: dict[str, Any] = {
            "job": job,
            "stack": catalog.stack,
            "template": template.name,
            "user": label_value(user),
            "secret": secret_version(secret, catalog.project),
            "roles": list(roles_of(roles)),
        }
        if overrides.sweep:
            run, runs = (overrides.labels.get(label, "") for label in (RUN_LABEL, RUNS_LABEL))
            told |= {"sweep": overrides.sweep, "run": run, "runs": runs}
        if spec.get("scheduling", {}).get("disableRetries"):
            told["retries"] = 0
        record(spec, recorded({**told, "sent": int(sent.timestamp())} if sent else told), NOTIFICATION)
    if template.yields and tells(offer):
        record(spec, recorded({}), YIELD)
    if offer.shape:
        _record_shape(spec, offer.shape)
    if overrides.max_wait is not None:
        spec["scheduling"] = {**spec.get("scheduling", {}), "maxWaitDuration": f"{overrides.max_wait:.0f}s"}
    if overrides.experiment:
        own = spec["experiment"]  # A run's context has its experiment's name in front.
        spec["experiment"] = f"{own.rpartition('/')[0]}/{overrides.experiment}"
        spec["experimentRun"] = spec["experiment"] + spec["experimentRun"].removeprefix(own)
    labels = {
        **body.get("labels", {}),
        USER_LABEL: label_value(user),
        TEAM_LABEL: team,
        ROLES_LABEL: roles,
        SWEEP_LABEL: overrides.sweep,
        URGENT_LABEL: "true" if overrides.urgent else "",
        **overrides.labels,
    }
    body["labels"] = {key: value for key, value in labels.items() if value}
    return body


def _record_shape(spec: Mapping[str, Any], shape: str) -> None:
    """Tell each worker pool what the job's code must know of the machines that it has."""
    pools = [pool for pool in spec["workerPoolSpecs"] if pool]
    record(spec, shape, SHAPE)
    record(spec, str(sum(int(pool["replicaCount"]) for pool in pools)), REPLICAS)
    for pool in pools:
        machine, only = MachineSpec.read(pool), {"workerPoolSpecs": [pool]}
        record(only, str(machine.gpus), GPUS)
        record(only, str(machine.gpu_memory_gb), GPU_MEMORY)


def tells(offer: Offer) -> bool:
    """Tell whether a launcher can say how the job goes: that of a custom job's package, whose end is the job's."""
    kind = KINDS[offer.kind]
    return (
        kind.runs_itself and not kind.has_trials and bool(claim_of(VertexJob.read(with_numbers(offer.request), kind)))
    )


def _text(template: str, value: str, keys: tuple[str, ...], texts: Mapping[str, Typed]) -> str | int:
    if "$" not in value:
        return value
    for name in placeholders.names(value):
        if name not in texts:
            raise _inconsistent(template, f"{placeholders.placeholder(name)} is none of its parameters")
    expanded = any(task in _TASKS and field in _EXPANDED for task, field in pairwise(keys))
    written = _BEFORE_A_VALUE.sub(rf"\1{MARK}", value) if expanded else value
    text = escaped(placeholders.fill(written, texts), expanded=expanded)
    if keys[-1] not in placeholders.NUMERIC or placeholders.whole(value) is None:
        return text
    try:
        return int(text)
    except ValueError:
        raise _inconsistent(template, f"{value} stands for a number, {keys[-1]}, and is {text!r}") from None


def _inconsistent(template: str, what: str) -> ConfigError:
    return ConfigError(
        f"template {template!r} can't be filled: {what}",
        why="the catalog is not consistent with itself",
        fix="deploy the stack, which publishes it again",
    )
