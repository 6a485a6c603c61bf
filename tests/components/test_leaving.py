"""What a destruction prints about roles that other stacks need."""

import pulumi
import pytest

from components.leaving import Leaving
from slipway.deploying.deployment.workspace_plan import SharedGrant
from slipway.model.state import State, StateGrant


def test_the_roles_of_a_member_are_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    for level in ("info", "warn"):
        monkeypatch.setattr(pulumi.log, level, said.append)
    grants = [StateGrant(name, f"roles/{name}", "group:ml@acme.example") for name in ("submit", "quota", "logs")]
    staying = [SharedGrant(grant, stacks=("prod",)) for grant in grants]
    guard = Leaving({}, "p--dev", ("acme-dev", "us-central1"), State())
    monkeypatch.setattr(guard, "has", lambda grant: True)
    monkeypatch.setattr(guard, "need", lambda grants: staying[:1])
    guard.foretell()
    monkeypatch.setattr(guard, "release_in_time", lambda grant, say: staying[grants.index(grant)])
    for grant in grants:
        guard.let_go(grant)
    assert said == ["the roles of group:ml@acme.example stay, as stack prod needs them"]
