"""The start of every command, and of every call from Python: environment, folder, catalog and clients."""

from __future__ import annotations

import getpass
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from slipway.base.errors import SlipwayError
from slipway.base.formatting import join, seconds
from slipway.google.catalog.lookup import SelectedCatalog, fetch, select_catalog
from slipway.google.connection import Connection, connect
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.session import HttpPolicy
from slipway.google.vertex import Vertex
from slipway.model.agents import AGENT
from slipway.model.catalog.model import Catalog
from slipway.model.prices import crossing_price

Found = TypeVar("Found")

HURRIED = HttpPolicy(connect=5.0, read=15.0, attempts=2, longest_wait=2.0, whole=60.0)
"""The policy for optional parts of a verdict: a submission must not wait long for them."""

BRIEF = HttpPolicy(connect=5.0, read=5.0, attempts=2, longest_wait=1.0, whole=20.0)
"""The policy for additions to a display, which must not wait for them."""


@dataclass(frozen=True)
class Clock:
    """Time, replaceable in tests."""

    #: Returns an aware time in UTC.
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True)
class Context:
    """The process's environment, read once; tests give their own."""

    #: The catalog's address, None where none was given.
    address: str | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    folder: Path = field(default_factory=Path.cwd)
    clock: Clock = field(default_factory=Clock)
    policy: HttpPolicy | None = None
    #: Take clusters whose season has ended since out of the catalog, as a submission needs it.
    in_season: bool = False

    def __reduce__(self) -> tuple[Callable[..., Context], tuple[str | None]]:
        """Leave out credentials: an unpickling process has an environment of its own."""
        return partial(Context, folder=self.folder, in_season=self.in_season), (self.address,)

    @cached_property
    def selected(self) -> SelectedCatalog:
        return select_catalog(self.address, self.environ, self.folder)

    @cached_property
    def connection(self) -> Connection:
        return connect(self.environ, self.policy)

    @cached_property
    def catalog(self) -> Catalog:
        return self._fetched(self.connection)

    def _fetched(self, connection: Connection) -> Catalog:
        """Use the time of the answer that has the catalog, where this machine's clock is wrong."""
        catalog = fetch(connection.storage, self.selected)
        if self.agent:  # It is asked about any cost, and answers within its allowance.
            catalog = replace(catalog, confirm_above=0.0)
        if not self.in_season or not any(cluster.season.ends for cluster in catalog.clusters.values()):
            return catalog
        from slipway.base.clock import right_time
        from slipway.model.catalog.withdrawal import in_season

        return in_season(catalog, right_time(self.now, connection.session.time))

    def anew(self) -> Context:
        """Return the same with the catalog as published now, in one round trip. Raises the errors of `fetch`."""
        renewed = replace(self)
        # The checkout may remember another catalog by now, and a session keeps its connections.
        known = {"selected": self.selected, "connection": self.connection}
        renewed.__dict__.update(known, catalog=self._fetched(self.hurried))
        return renewed

    @cached_property
    def vertex(self) -> Vertex:
        return self.vertex_by(self.connection)

    def vertex_by(self, connection: Connection) -> Vertex:
        """Return a client of the stack's own region, and for lists of all regions where its jobs may be."""
        return connection.vertex(self.catalog.project, self.catalog.region, self.catalog.regions_ever)

    @property
    def vertex_of_clusters(self) -> Vertex:
        """The client of the stack's own region, and for lists of the others with clusters on offer."""
        catalog, spared = self.catalog, self.catalog.regions_without_clusters
        regions = [region for region in catalog.regions_ever if region not in spared]
        return self.connection.vertex(catalog.project, catalog.region, regions)

    def looked_up(self, read: Callable[[Vertex], Found], say: Callable[[str], None]) -> Found:
        """Read all regions for a display; where that fails, those with clusters on offer, which `say` is told. Raises
        CloudError where these fail too."""
        catalog, spared = self.catalog, self.catalog.regions_without_clusters
        if not spared:
            return read(self.vertex)
        try:
            return read(self.vertex_by(self.hurried))
        except CloudError as error:
            result = read(self.vertex_of_clusters)
            say(f"not looked at {join(spared)}, where stack {catalog.stack} offers no cluster: {error.why}")
            return result

    def with_policy(self, policy: HttpPolicy) -> Context:
        """Return the same with clients that wait for answers as long as `policy` says."""
        other = replace(self)
        connection = self.connection.with_policy(policy)
        other.__dict__.update(selected=self.selected, catalog=self.catalog, connection=connection)
        return other

    @property
    def hurried(self) -> Connection:
        return self.connection.with_policy(HURRIED)

    @property
    def brief(self) -> Connection:
        return self.connection.with_policy(BRIEF)

    @property
    def now(self) -> datetime:
        """The time: that of the services where this machine's clock is wrong, once one of them has answered."""
        now = self.clock.now()
        if "connection" not in self.__dict__:
            return now
        from slipway.base.clock import right_time

        return right_time(now, self.connection.session.time_now)

    @property
    def right_clock(self) -> Clock:
        """The clock whose time is `now`, for ages of what services have made."""
        return replace(self.clock, now=lambda: self.now)

    @property
    def user(self) -> str:
        """The submitter, for the job's label: SLIPWAY_USER, the CI's actor, or the login name."""
        name = self.environ.get("SLIPWAY_USER", "").strip() or self.environ.get("GITHUB_ACTOR", "").strip()
        if name:
            return name
        try:
            return getpass.getuser()
        except (KeyError, OSError):  # A container's user may have no name.
            return ""

    @property
    def team(self) -> str:
        """The team of the submitter, where they may choose: SLIPWAY_TEAM."""
        return self.environ.get("SLIPWAY_TEAM", "").strip()

    @property
    def agent(self) -> str:
        """The agent that types in a person's place, as it tells by SLIPWAY_AGENT; empty for a person."""
        return self.environ.get(AGENT, "").strip()

    @property
    def look_for(self) -> float:
        """The seconds to look for a job whose answer was lost, from SLIPWAY_LOOK_FOR. Raises ConfigError."""
        return seconds(self.environ.get("SLIPWAY_LOOK_FOR", "").strip() or "60s")

    @property
    def no_contact(self) -> float:
        """The seconds without contact until waiting is given up, from SLIPWAY_NO_CONTACT. Raises ConfigError."""
        return seconds(self.environ.get("SLIPWAY_NO_CONTACT", "").strip() or "1h")

    def console_link(self, job: VertexJob) -> str:
        """Return the job's page, or empty where the endpoint is not Google's and has none."""
        if "vertex" in self.connection.endpoints.overrides:
            return ""
        page = f"locations/{job.region}/training/{job.id}?project={self.catalog.project}"
        return f"https://console.cloud.google.com/agent-platform/{page}"

    def elsewhere(self, region: str) -> str:
        """Return ` in us-east4` for another region than the stack's own; else empty."""
        return "" if region == self.catalog.region else f" in {region}"

    def crossing(self, region: str) -> str:
        """Return the part that the price of a job there omits, reading from the stack's region; empty at home."""
        home = self.catalog.region
        return f"what it reads from {home} crosses regions, {crossing_price(home, [region])}" if region != home else ""

    def cluster_name(self, cluster_id: str) -> str:
        """Return a cluster's display name; a retiring generation has its id."""
        cluster = self.catalog.cluster_named(cluster_id)
        return cluster.name if cluster else cluster_id


def context_of(address: str | None) -> Context:
    """Return the context of a submission from Python. Raises SlipwayError where the process's own folder is gone."""
    try:
        return Context(address, in_season=True)
    except FileNotFoundError as problem:
        raise SlipwayError("this folder is gone", fix="change to one that exists") from problem
