"""The one place that turns an environment into clients. Clients that a submission does not need are imported on use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from slipway.google.credentials import authorised
from slipway.google.endpoints import Endpoints
from slipway.google.session import HttpPolicy, Session
from slipway.google.storage import Storage
from slipway.google.vertex import Vertex

if TYPE_CHECKING:
    from slipway.google.logging import Logging
    from slipway.google.metadata import Metadata
    from slipway.google.monitoring import Monitoring
    from slipway.google.permissions import Permissions
    from slipway.google.quotas import Quotas


class Connection:
    """Credentials and endpoints of one environment, and a client for each API. May be shared by threads."""

    def __init__(self, session: Session, endpoints: Endpoints) -> None:
        self.session, self.endpoints = session, endpoints

    def with_policy(self, policy: HttpPolicy) -> Connection:
        return Connection(self.session.with_policy(policy), self.endpoints)

    @property
    def storage(self) -> Storage:
        return Storage(self.session, self.endpoints)

    def vertex(self, project: str, region: str, others: Iterable[str] = ()) -> Vertex:
        """Return the client of a region, whose lists include those of `others`."""
        return Vertex(self.session, self.endpoints, project, region, others)

    def quotas(self, project: str, ids: Mapping[str, str] | None = None) -> Quotas:
        from slipway.google.quotas import Quotas

        return Quotas(self.session, self.endpoints, project, ids)

    def permissions(self, project: str) -> Permissions:
        from slipway.google.permissions import Permissions

        return Permissions(self.session, self.endpoints, project)

    def logging(self, project: str) -> Logging:
        from slipway.google.logging import Logging

        return Logging(self.session, self.endpoints, project)

    def metadata(self, region: str) -> Metadata:
        from slipway.google.metadata import Metadata

        return Metadata(self.session, self.endpoints, region)

    def monitoring(self, project: str) -> Monitoring:
        from slipway.google.monitoring import Monitoring

        return Monitoring(self.session, self.endpoints, project)


def connect(environ: Mapping[str, str], policy: HttpPolicy | None = None) -> Connection:
    """Return the connection of an environment. Raises AuthError without credentials and ConfigError for a bad endpoint
    override. Sends nothing."""
    return Connection(Session(authorised(environ), policy), Endpoints.from_environment(environ))
