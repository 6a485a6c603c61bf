"""Deletions outside of Pulumi: what a deployment restores, and what needs a refresh of the state. # N33"""

import re
from dataclasses import replace
from typing import Any

import pytest

from slipway.deploying.deployment.restoration import Restoration, restoration
from slipway.google.catalog.document import PublishedCatalog, as_published
from slipway.google.live import Live, Unknown
from slipway.google.permissions import Bound
from slipway.model.origin import Origin, Program
from slipway.model.state import State, StateGrant, StateResource
from tests.builders.catalogs import catalog

BUCKET, WORK, TRAINER = "acme-catalog", "acme-work", "trainer@acme-dev.iam.gserviceaccount.com"
WANTED = (BUCKET, WORK, TRAINER)
PACKAGE = "packages/nap-1.tar.gz"
KNOWN = State(
    catalog_bucket=BUCKET,
    catalogs=(BUCKET,),
    buckets=tuple(StateResource(role, name, "acme-dev") for role, name in (("catalog", BUCKET), ("work", WORK))),
    accounts=(StateResource("trainer", TRAINER, "acme-dev"),),
    digests={BUCKET: "as published"},
    packages=frozenset({f"gs://{BUCKET}/{PACKAGE}"}),
)
WHOLE = Live(
    clusters=(),
    jobs=(),
    limits={},
    catalog=PublishedCatalog(digest="as published"),
    buckets=frozenset({BUCKET, WORK}),
    service_accounts={TRAINER: "Slipway trainer (dev)"},
    packages=frozenset({PACKAGE, "packages/former-2.tar.gz"}),
)
UNREAD = Unknown("denied", "storage", "a role")


def found(live: Live = WHOLE, known: State | Unknown = KNOWN, **changed: Any) -> Restoration:
    return restoration(known, replace(live, **changed), WANTED, [PACKAGE, "packages/new-3.tar.gz"])


def test_nothing_is_restored_while_all_of_it_exists_and_the_number_is_kept() -> None:
    """A package that is new in this deployment is Pulumi's to create."""
    assert found() == Restoration(BUCKET)
    again = replace(KNOWN, restored={BUCKET: 2})
    assert found(known=again) == Restoration(BUCKET, times=2)
    assert list(found(known=again).warnings(Origin("dev"))) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"catalog": None}, "gs://acme-catalog/catalog.json was deleted.*this deployment restores the catalog"),
        ({"catalog": PublishedCatalog(digest="another")}, "is not the catalog that the last.*replaces the catalog"),
        (
            {"catalog": replace(as_published(replace(catalog(), commit="3f9c2e1")), digest="another")},
            "(?s)published it, of commit 3f9c2e1: another backend may have a newer state.*PULUMI_BACKEND_URL",
        ),
        ({"packages": frozenset()}, "packages in gs://acme-catalog.*this deployment restores packages/nap-1.tar.gz"),
        ({"buckets": frozenset({BUCKET})}, "bucket gs://acme-work\n.*pulumi up --refresh --stack dev"),
        ({"buckets": frozenset({WORK}), "catalog": None, "packages": frozenset()}, "bucket gs://acme-catalog\n"),
        ({"service_accounts": {}}, f"account {TRAINER}\n.*pulumi up --refresh --stack dev"),
    ],
    ids=[
        "catalog deleted",
        "catalog changed",
        "catalog of another backend",
        "package",
        "work bucket",
        "catalog bucket",
        "account",
    ],
)
def test_what_is_missing_raises_the_number_and_is_reported_once(changed: dict[str, Any], said: str) -> None:
    for before, after in ((None, 1), (1, 2)):
        known = KNOWN if before is None else replace(KNOWN, restored={BUCKET: before})
        result = found(known=known, **changed)
        assert result.times == after
        warnings = list(result.warnings(Program("dev", "ml")))
        assert len(warnings) == 1 and re.search(said, warnings[0], re.DOTALL), warnings


@pytest.mark.parametrize(
    ("known", "changed"),
    [
        (UNREAD, {"catalog": None}),
        (State(), {"catalog": None}),
        (KNOWN, {"catalog": None, "packages": None}),
        (KNOWN, {"catalog": UNREAD, "packages": UNREAD, "buckets": UNREAD, "service_accounts": UNREAD}),
        (replace(KNOWN, digests={}), {"catalog": PublishedCatalog(digest="another")}),
    ],
    ids=["state unread", "first deployment", "no catalog declared", "unread", "no digest"],
)
def test_nothing_is_restored_where_that_is_not_known(known: State | Unknown, changed: dict[str, Any]) -> None:
    result = found(known=known, **changed)
    assert result.times is None
    warnings = list(result.warnings(Origin("dev")))
    assert all(warning.startswith("can't check whether the packages still exist") for warning in warnings)
    assert bool(warnings) is (changed.get("packages") is UNREAD)


def test_a_revoked_grant_is_reported_with_the_command_and_restores_nothing() -> None:
    ada, bob = "user:Ada@acme.example", "user:bob@acme.example"
    submits = [StateGrant(f"submit-{member}", "roles/aiplatform.user", member) for member in (ada, bob)]
    reads = StateGrant(f"reads-catalog-{ada}", "roles/storage.objectViewer", ada, f"gs://{BUCKET}")
    known = replace(KNOWN, grants=(*submits, reads))
    asked = [("roles/aiplatform.user", ada.lower(), "")]  # Bob is no longer a submitter

    def revoked(granted: dict[str, frozenset[Bound]]) -> Restoration:
        return restoration(known, replace(WHOLE, granted=granted), WANTED, [PACKAGE], asked)

    held = {"": frozenset({Bound("roles/aiplatform.user", ada.lower())})}
    assert revoked({}) == revoked(held) == Restoration(BUCKET)
    conditional = {"": frozenset({Bound("roles/aiplatform.user", ada.lower(), "night")})}
    assert revoked(conditional).grants == (submits[0],)
    result = revoked({"": frozenset(), f"gs://{BUCKET}": frozenset()})
    assert set(result.grants) == {reads, submits[0]} and result.times is None
    (warning,) = result.warnings(Program("dev", "ml"))
    assert f"roles/aiplatform.user of {ada} on the project" in warning
    assert "pulumi up --refresh --stack dev" in warning
    assert not list(result.warnings(Origin("dev"))), "a stack file's project refreshes the state itself"


def test_the_catalog_of_a_deployment_that_was_killed_is_replaced_without_a_word() -> None:
    whole = catalog(under_way="3f9c2e1")
    result = found(catalog=PublishedCatalog(digest="another", whole=whole))
    assert result.times == 1 and not list(result.warnings(Origin("dev")))
