"""Programs of one's own whose state was lost. # D1 # N33"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pulumi
import pulumi_gcp as gcp
import pytest

import components as slipway
from components import lent as module
from components.namesakes import watch
from components.world import CURRENT
from slipway.base.errors import PolicyError
from slipway.google.catalog.document import as_published
from slipway.model.catalog.model import Catalog
from slipway.model.identity import Identity
from slipway.model.origin import Program
from slipway.model.state import State
from tests.components.conftest import PROJECT, REGION, awaited, declared, every, failed

from .test_own_program import BUCKET, CATALOG, knowing, own_account, own_bucket, refused, workspace

NETWORK = "gcp:compute/network:Network"
OURS = Identity("slipway", "dev", "ml")
PUBLISHED = Catalog(
    "dev", PROJECT, REGION, "3f9c2e1", False, "acme-results", f"own-runner@{PROJECT}.iam.gserviceaccount.com",
    {}, (), {}, pulumi_project="slipway", program=Program("dev", "ml"), catalog_bucket=CATALOG,
)  # fmt: skip


class lost(knowing):  # noqa: N801 - as above
    """Let the state be lost, but for `left`, and a published catalog be there."""

    def __init__(self, left: State, catalog: Catalog | None = PUBLISHED) -> None:
        super().__init__(left)
        self.catalog = catalog

    def __enter__(self) -> None:
        super().__enter__()
        world = CURRENT.get()
        published = replace(as_published(self.catalog), age=timedelta(hours=2)) if self.catalog else None
        CURRENT.set(replace(world, live=replace(world.live, catalog=published)))


def with_own_resources() -> None:
    watch()  # as by the import
    gcp.compute.Network("vpc", name="tide-vpc")
    gcp.compute.Network("spare")
    gcp.compute.GlobalAddress("range", name="tide-range", project="acme-net")
    ground = workspace(work_bucket=own_bucket(), trainer=own_account())
    slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground))


@pytest.mark.parametrize("preview", [True, False])
def test_a_lost_state_is_refused_with_the_imports_of_what_it_lacks(preview: bool) -> None:
    pulumi.runtime.set_all_config({"gcp:project": PROJECT, "gcp:region": REGION})
    left = State(names=frozenset({(BUCKET, "results")}))
    with lost(left), pytest.raises(pulumi.RunError, match="has nothing of it, so Slipway changed nothing") as error:
        declared(with_own_resources, preview=preview)
    said = str(error.value)
    account = f"projects/{PROJECT}/serviceAccounts/own-runner@{PROJECT}.iam.gserviceaccount.com"
    for imported in (
        f"gcp:compute/network:Network vpc projects/{PROJECT}/global/networks/tide-vpc",
        "gcp:compute/network:Network spare ID",
        "gcp:compute/globalAddress:GlobalAddress range projects/acme-net/global/addresses/tide-range",
        f"gcp:serviceaccount/account:Account runner {account}",
    ):
        assert f"pulumi import --stack dev {imported} --generate-code=false" in said, said
    assert "storage/bucket:Bucket results" not in said
    assert 'write `name="…"`, the name that exists, into the program for spare:' in said
    assert ("Pulumi may have created resources of the program's own already" in said) is not preview


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize(
    ("given", "left", "catalog", "said"),
    [
        (
            {"work_bucket": "own"},
            {},
            {"work_bucket": "former-results"},
            "gs://former-results can't become bucket gs://",
        ),
        (
            {"work_bucket": "acme-results"},
            {},
            {"work_bucket": "former-results"},
            "put work_bucket='former-results' back",
        ),
        ({"trainer": "own"}, {}, {}, ""),
        ({"trainer": "other-runner"}, {}, {}, r"account own-runner@\S+ can't become account other-runner@"),
        (
            {"work_bucket": "own"},
            {"former-results": "results"},
            None,
            "the name former-results of the program's resource",
        ),
        (
            {"catalog_bucket": "own"},
            {"former-results": "results"},
            None,
            "gs://former-results can't become bucket gs://",
        ),
        ({"work_bucket": "own"}, {"acme-results": "results"}, None, ""),
        ({"work_bucket": "own"}, {}, None, ""),
    ],
)
def test_a_recovery_never_changes_a_bucket_or_an_account(
    monkeypatch: pytest.MonkeyPatch,
    preview: bool,
    given: dict[str, str],
    left: dict[str, str],
    catalog: dict[str, str] | None,
    said: str,
) -> None:
    """Pulumi names a bucket anew that the program gives no name, and the jobs' results stay in the old one."""
    monkeypatch.setenv("SLIPWAY_RECOVER", OURS.address)
    own: dict[str, Callable[[], Any]] = {"trainer": own_account}
    published = None if catalog is None else replace(PUBLISHED, **cast(Any, catalog))

    def program() -> None:
        usual = {} if published is None else {"work_bucket": published.work_bucket, "trainer": "own-runner"}
        args = {key: own.get(key, own_bucket)() if name == "own" else name for key, name in given.items()}
        ground = workspace(**{**usual, **args})
        slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground))

    with lost(State(others=left), published):
        if said:
            refused(program, f"(?s){said}", preview=preview)
        else:
            declared(program, preview=preview)


@pytest.mark.parametrize("preview", [True, False])
def test_a_recovery_is_refused_before_pulumi_names_a_bucket_anew(
    monkeypatch: pytest.MonkeyPatch, preview: bool
) -> None:
    def program() -> None:
        watch()
        gcp.storage.Bucket("results", location="US-CENTRAL1")

    declared(program, preview=preview)
    monkeypatch.setenv("SLIPWAY_RECOVER", OURS.address)
    asked, said = failed(program, preview=preview)
    assert not asked and "bucket results has no name in the program" in said


@pytest.mark.parametrize(("recovered", "is_deployed"), [(OURS.address, False), (OURS.address, True), ("", False)])
def test_a_recovery_replaces_nothing_that_was_imported(
    monkeypatch: pytest.MonkeyPatch, recovered: str, is_deployed: bool
) -> None:
    monkeypatch.setenv("SLIPWAY_RECOVER", recovered)
    hooks: list[Any] = []
    make = pulumi.ResourceHook

    def noted(name: str, callback: Any, options: Any = None) -> pulumi.ResourceHook:
        hooks.append(callback)
        return make(name, callback, options)

    def program() -> None:
        watch()
        monkeypatch.setattr(pulumi, "ResourceHook", noted)
        gcp.compute.Network("vpc", name="tide-vpc")
        gcp.compute.Network("new", name="tide-new")

    state = State(names=frozenset({(NETWORK, "vpc")}), catalog_bucket=CATALOG if is_deployed else "")
    with knowing(state):
        asked = every(declared(program), NETWORK)
    is_kept = bool(recovered) and not is_deployed
    assert list(asked["vpc"].request.hooks.before_create) == ([module.NAME] if is_kept else [])
    assert not asked["new"].request.hooks.before_create
    for before_create in hooks:
        args = pulumi.ResourceHookArgs(urn="urn:vpc", id="", name="vpc", type=NETWORK)
        with pytest.raises(PolicyError, match="network:Network vpc can't be replaced in a recovery"):
            awaited(before_create(args))
