"""Buckets and accounts of the program in a destruction: those that another deployment needs are not deleted. # N1"""

from typing import Any

import pytest

from slipway.base.errors import PolicyError, ResourceError
from slipway.deploying.deployment import own_resources as module
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.own_resources import must_keep_own
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Unknown
from slipway.model.identity import Identity
from slipway.model.state import ACCOUNT, BUCKET, State, read
from tests.slipway.deploying.deployment.test_undeclared import CATALOG_BUCKET, GROUP, PROJECT_GRANT, PUBLISHED

RUNNER = "runner@acme.iam.gserviceaccount.com"
OWN = State(others={"acme-results": "results", RUNNER: "runner", "acme-data": "data"})
NEEDING = PublishedCatalog(needs=frozenset({"acme-results", RUNNER}), identity=Identity("speech", "dev", "ml"))


def check(monkeypatch: pytest.MonkeyPatch, catalogs: Any, known: State | Unknown = OWN, **given: Any) -> None:
    monkeypatch.setattr(module, "neighbours", lambda reader: catalogs)
    monkeypatch.setattr(StackGuard, "reader", lambda guard, place: None)
    guard = StackGuard({}, "images--dev--ml", ("acme", "us-central1"), known)
    for name, value in given.items():
        setattr(guard, name, value)
    must_keep_own(guard)


def test_what_another_deployment_needs_is_named_with_both_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    unread = Unknown("denied", "storage.googleapis.com", "")
    with pytest.raises(PolicyError) as error:
        check(monkeypatch, {"speech-catalog": NEEDING, "other-catalog": unread})
    assert f"bucket gs://acme-results and account {RUNNER} would be deleted" in error.value.what
    assert "acme-data" not in str(error.value)
    assert "take down stack dev of Pulumi project speech, workspace ml first" in error.value.fix
    assert "give results and runner `opts=pulumi.ResourceOptions(retain_on_delete=True)`" in error.value.fix


@pytest.mark.parametrize(
    ("catalogs", "known", "given"),
    [
        ({"speech-catalog": NEEDING}, OWN, {"retained": {(BUCKET, "results"), (ACCOUNT, "runner")}}),
        ({"speech-catalog": NEEDING}, OWN, {"together": ["speech--dev--ml"]}),
        ({"speech-catalog": NEEDING}, OWN, {"stack": "speech--dev--ml"}),
        ({"speech-catalog": NEEDING}, State(others={"acme-data": "data"}), {}),
        ({"speech-catalog": NEEDING}, Unknown("denied", "", ""), {}),
        (Unknown("denied", "", ""), State(), {}),
    ],
    ids=["retained", "goes too", "its own", "needs others", "no state", "nothing of its own"],
)
def test_nothing_else_is_kept(
    monkeypatch: pytest.MonkeyPatch, catalogs: Any, known: State | Unknown, given: dict[str, Any]
) -> None:
    check(monkeypatch, catalogs, known, **given)


def test_roles_of_the_program_that_another_deployment_needs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    urn = f"urn:pulumi:dev::vision::{PROJECT_GRANT}::submits"
    role = {"role": "roles/logging.viewer", "member": GROUP, "project": "acme"}
    known = read({urn: {"type": PROJECT_GRANT, "outputs": role}})
    with pytest.raises(PolicyError, match=f"roles/logging.viewer of {GROUP} would be deleted"):
        check(monkeypatch, {CATALOG_BUCKET: PUBLISHED}, known)
    other = read({urn: {"type": PROJECT_GRANT, "outputs": {**role, "role": "roles/owner"}}})
    check(monkeypatch, {CATALOG_BUCKET: PUBLISHED}, other)


def test_nothing_is_deleted_while_the_catalogs_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ResourceError, match="can't tell whether another deployment needs"):
        check(monkeypatch, Unknown("denied", "storage.googleapis.com", ""))
