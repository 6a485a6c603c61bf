"""A submission as far as it is known without a call, from what a person asks and the catalog. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial

from slipway.base.errors import ConfigError
from slipway.google.catalog.lookup import find_kind, find_template, standing
from slipway.model.capacity import WAIT_BY_THEMSELVES
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import names
from slipway.model.catalog.template import Offer, Template
from slipway.model.cluster import PoolSpec
from slipway.model.kinds import PIPELINE_JOB, JobKind
from slipway.model.labels import NAME_LABEL, own_labels
from slipway.model.secret import NOTIFY
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.order import in_order
from slipway.using.submission.own_labels import require_free
from slipway.using.submission.own_settings import require_free_name, require_no_secret, require_settings
from slipway.using.submission.parameters import resolve
from slipway.using.submission.raced import in_regions
from slipway.using.submission.replicas import on_replicas
from slipway.using.submission.request import Request, RequestOverrides, fill, tells
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.team import barred, nameable, team_of_submission


@dataclass(frozen=True)
class PreparedSubmission:
    """A submission as far as it is known without a call."""

    catalog: Catalog
    template: Template
    kind: JobKind
    values: Mapping[str, Value]
    #: In order of preference, each with the seconds until the next one is taken.
    offers: tuple[tuple[Offer, float | None], ...]
    user: str
    asked: SubmissionRequest
    request_id: str = "request"
    #: The team that it counts for, empty where none is known.
    team: str = ""
    #: The bucket of its claim, when it was sent before; the catalog's work bucket when empty.
    bucket: str = ""
    #: The time of the submission; None where none is sent.
    sent: datetime | None = None

    @property
    def overrides(self) -> RequestOverrides:
        return self.asked.overrides

    @property
    def races(self) -> bool:
        """Tell whether it is sent by all of its candidates at once."""
        return self.asked.race is not None

    @property
    def moves(self) -> bool:
        """Tell whether one candidate may be given up for the next, or all others for one."""
        return self.races or any(wait is not None for _, wait in self.offers[:-1])

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(
                offer=offer,
                kind=self.kind,
                make=partial(self._request, offer, wait),
                wait=wait,
                roles=offer.roles or self.template.roles,
                region=self.catalog.region_of_offer(offer),
                edit=self.catalog.dormant[offer.dormant].edit if offer.dormant in self.catalog.dormant else "",
                taken=self._taken(offer),
                barred=barred(self.catalog, offer.cluster or offer.dormant, self.team, offer),
                teams=nameable(self.catalog, offer, offer.cluster or offer.dormant, self.user),
            )
            for offer, wait in self.offers
        )

    def _taken(self, offer: Offer) -> tuple[PoolSpec, ...]:
        if not (offer.cluster and self.kind is PIPELINE_JOB):
            return ()
        return tuple(filter(None, map(self.catalog.clusters[offer.cluster].pool, offer.pools)))

    def without_effect(self, offer: Offer) -> tuple[str, ...]:
        """Return the parameters that were given and that the machines of one of several shapes leave out."""
        if not offer.shape:
            return ()
        read = {*names(json.dumps(offer.request)), *(name for each in self.template.offers for name in each.when)}
        declared = (parameter.name for parameter in self.template.parameters)
        return tuple(name for name in declared if name in self.asked.params and name not in read)

    def under(self, request_id: str, bucket: str = "") -> PreparedSubmission:
        """Return the same submission with this request id, whose claim is in this bucket, and candidates of its own."""
        return replace(self, request_id=request_id, bucket=bucket)

    def _request(self, offer: Offer, wait: float | None) -> Request:
        by_service = offer.capacity_type in WAIT_BY_THEMSELVES and wait is not None
        body = fill(
            self.catalog,
            self.template,
            offer,
            self.values,
            request_id=self.request_id,
            user=self.user,
            team=self.team,
            overrides=replace(self.overrides, max_wait=wait) if by_service else self.overrides,
            sent=self.sent,
            race=[each.region for each, _ in self.offers] if self.races else (),
        )
        request = Request(
            id=self.request_id,
            stack=self.catalog.identity.label,
            template=self.template.name,
            body=body,
            kind=self.kind,
            region=self.catalog.region_of_offer(offer),
            bucket=self.catalog.work_bucket,
            others=partial(self._of_other_shapes, offer.shape),
            leg=self.races,
        )
        return request.claimed_in(self.bucket)

    def _of_other_shapes(self, shape: str) -> tuple[Request, ...]:
        """Return the request of each shape but one."""
        others = {offer.shape: (offer, wait) for offer, wait in self.offers if offer.shape != shape}
        return tuple(self._request(*each) for each in others.values())


def prepare(
    catalog: Catalog,
    asked: SubmissionRequest,
    user: str,
    team: str = "",
    now: datetime | None = None,
    counts_for: str | None = None,
    *,
    elsewhere: bool = True,
) -> PreparedSubmission:
    """Prepare a submission. `team`: the one that it counts for where nothing else decides, as SLIPWAY_TEAM names it.
    `now`: the time where it is to be sent. `counts_for`: the team that it was sent for before, whatever is asked.
    `elsewhere`: the template's other regions count.

    Raises ConfigError with all mistakes in the parameters, or with the one argument that does not fit.
    """
    template = find_template(catalog, asked.template)
    _check_folder(template, asked)
    values = resolve(template, asked.params, asked.arguments)
    kind = find_kind(template, asked.kind)
    usual = standing(template, kind, values)
    own = team_of_submission(catalog, template, usual[0], asked.team, team) if counts_for is None else counts_for
    replicas = asked.overrides.settings.replicas
    offers = on_replicas(catalog, template, standing(template, kind, values, own), replicas)
    if elsewhere and asked.race is None:
        offers = in_regions(catalog, template, offers)
    _check_experiment(template, offers, asked.overrides)
    _check_shell(catalog, asked.overrides)
    require_free_name(catalog, asked.overrides.labels.get(NAME_LABEL, ""))
    require_settings(template, offers, asked.overrides.settings)
    require_no_secret({**values, "note": asked.overrides.note})
    require_free(template, offers, own_labels(asked.overrides.labels))
    if asked.overrides.notify and not all(map(tells, offers)):
        raise ConfigError(
            f"a {kind.words} of {template.name} can't tell anybody how it goes",
            why="the launcher does that, of custom jobs alone, and an image may start without it",
            fix=f"leave notify out, and wait for it with {NOTIFY} in your environment, which tells of the end as well",
        )
    theirs = barred(catalog, asked.pool.partition("/")[0], own, usual[0])
    return PreparedSubmission(
        catalog=catalog,
        template=template,
        kind=kind,
        values=values,
        offers=tuple(in_order(catalog, template, offers, asked, theirs)),
        user=user,
        asked=asked,
        team=own,
        sent=now,
    )


def _check_folder(template: Template, asked: SubmissionRequest) -> None:
    if "command" not in asked.params or asked.overrides.package:
        return
    from slipway.authoring.packages.packing import needs_folder, runs_any_folder

    if runs_any_folder(template) and needs_folder(str(asked.params["command"])):
        raise ConfigError(
            f"{template.name} is given a command, and no folder to run it in",
            why="without one it runs the example that was reviewed with it, not your code",
            fix=("add ", {"code": "."}),
        )


def _check_shell(catalog: Catalog, overrides: RequestOverrides) -> None:
    if overrides.shell and not catalog.shell:
        raise ConfigError(
            f"stack {catalog.stack} allows no shell in its jobs",
            why="whoever opens one acts as the job's account, so the stack says whether they may",
            fix=f"ask its owners for {catalog.origin.setting('slipway:workspace', 'shell', True)}",
        )


def _check_experiment(template: Template, offers: tuple[Offer, ...], overrides: RequestOverrides) -> None:
    if not (overrides.experiment or overrides.experiment_run):
        return
    if not all("experiment" in offer.spec for offer in offers):
        raise ConfigError(
            f"{template.name} belongs to no experiment",
            fix=f"experiment=… in templates/{template.name.replace('-', '_')}.py",
        )
