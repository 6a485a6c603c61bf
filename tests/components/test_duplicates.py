"""Two components of one kind and name: rejected with both places, before Pulumi registers one of them. # N33 # N34"""

from collections.abc import Callable
from typing import Any

import pulumi
import pytest

import components as slipway
from components import testing
from tests.components.conftest import Asked, declared
from tests.components.test_own_program import POOLS, cluster, refused, workspace


class Vision(pulumi.ComponentResource):
    """A library of a platform team above the components: what each team gets."""

    def __init__(self, team: str, make: Callable[[pulumi.ResourceOptions], object], parent: Any = None) -> None:
        super().__init__(f"acme:ml:{type(self).__name__}", team, {}, pulumi.ResourceOptions(parent=parent))
        make(pulumi.ResourceOptions(parent=self))


class Speech(Vision):
    pass


Make = Callable[[pulumi.ResourceOptions], object]


def a_cluster(opts: pulumi.ResourceOptions) -> object:
    return slipway.PersistentResource("cpu", slipway.PersistentResourceArgs(pools=POOLS), opts)


def a_template(opts: pulumi.ResourceOptions) -> object:
    return slipway.JobTemplate("nap", opts=opts)


def a_workspace(opts: pulumi.ResourceOptions) -> object:
    return slipway.Workspace("ml", slipway.WorkspaceArgs(project="acme-dev", region="us-central1"), opts)


MAKERS: dict[str, Make] = {
    "PersistentResource cpu": a_cluster,
    "JobTemplate nap": a_template,
    "Workspace ml": a_workspace,
}


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize("second", [Vision, Speech], ids=["parents of one type", "parents of two types"])
@pytest.mark.parametrize("what", MAKERS)
def test_a_name_below_two_parents_is_rejected_with_both_places(what: str, second: type[Vision], preview: bool) -> None:

    def program() -> None:
        if what != "Workspace ml":
            workspace()
        Vision("vision", MAKERS[what])
        second("speech", MAKERS[what])

    kind, _, name = what.partition(" ")
    words = (
        rf"(?s){what} is declared twice, so nothing was changed"
        rf".*{what} below acme:ml:Vision vision, test_duplicates.py:\d+"
        rf".*{what} below acme:ml:{second.__name__} speech, test_duplicates.py:\d+"
        rf'.*put the team into the name: {kind}\("speech-{name}", …\)'
    )
    refused(program, words, preview=preview)


def two_checks() -> None:
    workspace()
    made = cluster()

    def check(opts: pulumi.ResourceOptions) -> object:
        return slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(clusters=[made]), opts)

    Vision("vision", check)
    Speech("speech", check)


def two_catalogs() -> None:
    ground = workspace()
    for name in ("vision", "speech"):
        slipway.Catalog(name, slipway.CatalogArgs(workspace=ground))


def two_catalogs_of_a_name() -> None:
    ground = workspace()
    for team in (Vision, Speech):
        team("team", lambda opts: slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground), opts))


def a_former_name() -> None:
    workspace()
    cluster("cpu")
    renamed = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="cpu")])
    slipway.PersistentResource("gpu", slipway.PersistentResourceArgs(pools=POOLS), renamed)


def two_files_of_a_name() -> None:
    workspace()
    for name in ("vision", "speech"):
        slipway.JobTemplate(name, slipway.JobTemplateArgs(template="templates/nap.py"))


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (two_checks, "QuotaCheck quota is declared twice.*put the team into the name"),
        (two_catalogs, "a workspace has two Catalogs: vision and speech.*in one Catalog"),
        (two_catalogs_of_a_name, "Catalog ml is declared twice"),
        (a_former_name, "PersistentResource cpu is declared twice.*PersistentResource gpu"),
        (two_files_of_a_name, "JobTemplate nap is declared twice.*a file of another name"),
    ],
)
def test_so_is_each_other_name_that_a_workspace_has_once(program: Callable[[], None], words: str) -> None:
    refused(program, f"(?s){words}")


def test_two_workspaces_have_clusters_of_one_name_below_parents_of_two_types_only() -> None:
    def program(second: type[Vision]) -> list[Asked]:
        def team(name: str) -> Make:
            def make(opts: pulumi.ResourceOptions) -> None:
                ground = workspace(name)
                args = slipway.PersistentResourceArgs(pools=POOLS, workspace=ground)
                slipway.PersistentResource("cpu", args, opts)

            return make

        def both() -> None:
            Vision("vision", team("vision"))
            second("speech", team("speech"))

        return declared(both)

    with testing.living():
        assert len([each for each in program(Speech) if each.type == "slipway:index:PersistentResource"]) == 2
        with pytest.raises(pulumi.RunError, match=r"(?s)PersistentResource cpu is declared twice"):
            program(Vision)


def test_a_name_in_two_workspaces_is_rejected_as_pulumis_and_named_after_the_workspace() -> None:
    def program() -> None:
        for name in ("us", "eu"):
            ground = workspace(name)
            cluster(workspace=ground)

    words = (
        r"(?s)PersistentResource research is declared twice.*Pulumi identifies a component by its type, its name and"
        r'.*put the workspace into the name: PersistentResource\("eu-research", …\)'
    )
    refused(program, words)
