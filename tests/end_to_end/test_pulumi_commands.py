"""Pulumi's own commands for single resources, plans and states: each works, or is rejected with the way on."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.checkouts.checkout import PROJECT, VERTEX, Checkout
from tests.checkouts.shell import Done, wait_for
from tests.end_to_end.test_own_program import job_on, write

pytestmark = pytest.mark.journey

PROGRAM = """
import pulumi
import components as slipway

config = pulumi.Config("team")
name = config.get("workspace") or "ml"
ground = slipway.Workspace(name, slipway.WorkspaceArgs(submitters=[config.require("people")]))
cpu = slipway.PersistentResource(
    "cpu",
    slipway.PersistentResourceArgs(
        pools={"workers": slipway.PoolArgs(machine="n1-standard-4", replicas=1)},
        custom_service_account=False,  # the test's jobs name none
        generation=config.get_int("generation"),
    ),
)
quota = slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(clusters=[cpu]))
catalog = slipway.Catalog(name, slipway.CatalogArgs(workspace=ground, quota=quota))
pulumi.export("cluster", cpu.cluster_id)
"""
AS_A_RESOURCE = """
from pulumi_gcp import vertex

machine = vertex.AiPersistentResourceResourcePoolMachineSpecArgs(machine_type="n1-standard-4")
pool = vertex.AiPersistentResourceResourcePoolArgs(machine_spec=machine)
vertex.AiPersistentResource("mine", name="{}", location="us-central1", resource_pools=[pool])
"""
PEOPLE, OTHERS = "group:ml-engineers@company.example", "group:others@company.example"


def declare(checkout: Checkout, people: str = PEOPLE, generation: int = 1) -> None:
    settings: dict[str, Any] = {"team:people": people, "team:generation": generation}
    write(checkout, PROGRAM, **settings)


def urn_of(checkout: Checkout, end: str) -> str:
    (urn,) = (each["urn"] for each in checkout.resources() if each["urn"].endswith(end))
    return str(urn)


def urns_of(checkout: Checkout) -> list[str]:
    return sorted(each["urn"] for each in checkout.resources() if ":pulumi:providers:" not in each["urn"])


def roles(checkout: Checkout) -> list[str]:
    policy = checkout.cloud.rest("POST", f"/v1/projects/{PROJECT}:getIamPolicy", {})
    return [binding["role"] for binding in policy["bindings"] if PEOPLE in binding["members"]]


def published(checkout: Checkout) -> Any:
    return checkout.cloud.rest("GET", f"/storage/v1/b/{PROJECT}-slipway--trial--ml-catalog/o/catalog.json?alt=media")


def objects(checkout: Checkout) -> list[str]:
    listed = checkout.cloud.every(f"/storage/v1/b/{PROJECT}-slipway--trial--ml-catalog/o", "items")
    return sorted(each["name"] for each in listed)


def state(checkout: Checkout, *arguments: str) -> Done:
    return checkout.run("pulumi", "state", *arguments, "--yes", "--non-interactive", role="deployer")


def unchanged(checkout: Checkout) -> None:
    done = checkout.pulumi("up", "--expect-no-changes")
    assert done.code == 0, done.said


def test_a_saved_plan_works_but_for_clusters_that_do_not_exist_yet(checkout: Checkout) -> None:
    def by_plan() -> Done:
        plan = str(checkout.state / "plan.json")
        saved = checkout.pulumi("preview", "--save-plan", plan)
        assert saved.code == 0, saved.said
        return checkout.pulumi("up", "--plan", plan)

    declare(checkout)
    rejected = by_plan()
    assert rejected.code != 0 and "a saved plan can't create clusters" in rejected.said, rejected.said
    assert "run `pulumi up` without --plan" in rejected.said and checkout.clusters() == {}
    checkout.up()
    for people in (PEOPLE, OTHERS):
        declare(checkout, people)
        done = by_plan()
        assert done.code == 0, done.said
    unchanged(checkout)
    made = every_cluster(checkout)
    declare(checkout, OTHERS, generation=2)
    rejected = by_plan()
    assert rejected.code != 0 and "a saved plan can't create clusters" in rejected.said, rejected.said
    assert every_cluster(checkout) == made


def every_cluster(checkout: Checkout) -> list[str]:
    return [each["name"] for each in checkout.cloud.every(f"{VERTEX}/persistentResources", "persistentResources")]


def test_no_replacement_by_pulumi_takes_a_cluster_a_catalog_or_a_role(checkout: Checkout) -> None:
    declare(checkout)
    checkout.up()
    id_, before = checkout.outputs()["cluster"], published(checkout)
    job = checkout.cloud.rest("POST", f"{VERTEX}/customJobs", job_on(id_))["name"]
    wait_for(lambda: checkout.job_state(job) == "JOB_STATE_RUNNING", "it runs")
    cluster = urn_of(checkout, f":AiPersistentResource::{id_}")
    asks: tuple[Callable[[], Done], ...] = (
        lambda: checkout.pulumi("preview", "--replace", cluster),
        lambda: checkout.pulumi("up", "--replace", cluster),
        lambda: checkout.pulumi("up", "--target-replace", cluster),
    )
    (checkout.folder / "__main__.py").write_text(PROGRAM + AS_A_RESOURCE.format(id_))
    done = checkout.pulumi("up")
    assert done.code != 0 and f"resource mine is cluster {id_}" in done.said, done.said
    assert checkout.job_state(job) == "JOB_STATE_RUNNING"
    declare(checkout)
    for busy in (True, False):
        for ask in asks:
            rejected(ask(), cluster)
        assert state(checkout, "taint", "--stack", "trial", cluster).code == 0
        rejected(checkout.pulumi("preview"), cluster)
        rejected(checkout.pulumi("up"), cluster)
        assert state(checkout, "untaint", "--stack", "trial", cluster).code == 0
        unchanged(checkout)
        assert published(checkout) == before
        if busy:
            assert checkout.job_state(job) == "JOB_STATE_RUNNING"
            checkout.cloud.cancel(job)
            wait_for(lambda: checkout.job_state(job) == "JOB_STATE_CANCELLED", "it has ended")
    assert every_cluster(checkout) == [each for each in every_cluster(checkout) if each.endswith(id_)]

    # What else a replacement would delete together with its successor.
    for end in (":BucketObject::ml-catalog", ":Bucket::ml-work", ":Account::ml-trainer"):
        done = checkout.pulumi("up", "--replace", urn_of(checkout, end))
        assert done.code != 0 and "can't be replaced by Pulumi" in done.said, done.said
    assert published(checkout) == before
    granted = roles(checkout)
    done = checkout.pulumi("up", "--replace", urn_of(checkout, f"::ml-submit-{PEOPLE}"))
    assert done.code == 0 and granted and sorted(roles(checkout)) == sorted(granted), done.said
    creation = urn_of(checkout, ":BucketObject::ml-creation")
    assert state(checkout, "taint", "--stack", "trial", creation).code == 0
    for options in ((), ("--replace", creation), ("--target-replace", creation)):
        done = checkout.pulumi("up", *options)
        assert done.code == 0 and objects(checkout) == ["catalog.json", "clusters/asked-for.json"], done.said

    # A part of an edit publishes no cluster that does not exist.
    declare(checkout, generation=2)
    done = checkout.pulumi("up", "--target", cluster)
    assert done.code == 0 and published(checkout) == before, done.said
    assert every_cluster(checkout) == [each for each in every_cluster(checkout) if each.endswith(id_)]
    done = checkout.pulumi("up", "--target", urn_of(checkout, ":BucketObject::ml-catalog"))
    assert done.code != 0 and published(checkout) == before, done.said
    done = checkout.pulumi("up", "--exclude", urn_of(checkout, ":BucketObject::ml-catalog"))
    assert done.code == 0 and len(every_cluster(checkout)) == 2, done.said
    checkout.up()
    assert published(checkout)["clusters"]["cpu"]["id"] == checkout.outputs()["cluster"] != id_
    assert len(every_cluster(checkout)) == 1


def rejected(done: Done, cluster: str) -> None:
    assert done.code != 0 and "can't be replaced by Pulumi" in done.said, done.said
    assert "raise `generation`" in done.said and "remove the `import`" not in done.said, done.said
    assert f"pulumi state untaint --stack trial '{cluster}'" in done.said


def second_stack(checkout: Checkout) -> Checkout:
    """Deploy the program a second time, as stack `other` with workspace `reg`."""
    made = checkout.run("pulumi", "stack", "init", "other", "--non-interactive", role="deployer")
    assert made.code == 0, made.said
    other = replace(checkout, stack="other")
    salt = other.file.read_text()
    shutil.copy(checkout.file, other.file)
    config = [line for line in other.file.read_text().splitlines() if line.startswith(("config", " "))]
    other.file.write_text("\n".join([*config, "  team:workspace: reg", salt]))
    other.up()
    return other


def test_what_was_moved_to_the_state_of_another_stack_is_not_deleted_there(checkout: Checkout) -> None:
    declare(checkout)
    checkout.up()
    id_, before = checkout.outputs()["cluster"], published(checkout)
    other = second_stack(checkout)
    moved = state(
        checkout,
        "move",
        "--source",
        "trial",
        "--dest",
        "other",
        urn_of(checkout, f"index:Generation::{id_}"),
    )
    assert moved.code == 0, moved.said
    for verb, purpose in (("up", ""), ("destroy", ""), ("destroy", "destroy")):
        done = other.pulumi(verb, SLIPWAY_PURPOSE=purpose)
        assert (
            done.code != 0
            and f"cluster {id_} belongs to stack trial of Pulumi project slipway, workspace ml" in done.said
        ), done.said
    stray = urn_of(other, f"index:Generation::{id_}")
    forget = f"pulumi state delete --stack other --target-dependents '{stray}'"
    assert forget in done.said, done.said
    done = state(other, "delete", "--stack", "other", "--target-dependents", stray)
    assert done.code == 0, done.said
    checkout.up()
    unchanged(other)

    granted = sorted(roles(checkout))
    ends = (":Account::ml-trainer", ":BucketObject::ml-creation", f"::ml-logs-{PEOPLE}", "::ml-trainer-writes-work")
    urns = [urn_of(checkout, end) for end in ends]
    moved = state(checkout, "move", "--source", "trial", "--dest", "other", *urns)
    assert moved.code == 0, moved.said
    strays = [urn_of(other, end) for end in ends]
    for verb, purpose in (("up", ""), ("destroy", ""), ("destroy", "destroy")):
        done = other.pulumi(verb, SLIPWAY_PURPOSE=purpose)
        assert done.code != 0 and "belong to stack trial of Pulumi project slipway, workspace ml" in done.said
        assert all(f"'{urn}'" in done.said for urn in strays), done.said
    assert len(every_cluster(checkout)) == 2
    assert sorted(roles(checkout)) == granted
    for urn in re.findall(r"pulumi state delete --stack other --target-dependents '(.+)'", done.said):
        removed = state(other, "delete", "--stack", "other", "--target-dependents", urn)
        assert removed.code == 0, removed.said
    unchanged(other)
    checkout.up()
    assert sorted(roles(checkout)) == granted
    unchanged(checkout)
    assert published(checkout) == before and any(each.endswith(id_) for each in every_cluster(checkout))


def imports(stack: Checkout, type_: str, id_: str, *options: str) -> str:
    """Import a resource as `theirs`, and return its URN."""
    flags = ("--stack", stack.stack, "--yes", "--skip-preview", "--non-interactive", "--generate-code=false", *options)
    done = stack.run("pulumi", "import", type_, "theirs", id_, *flags, role="deployer")
    assert done.code == 0, done.said
    return urn_of(stack, f"{type_}::theirs")


def rejects_and_forgets(stack: Checkout, urn: str, *words: str, effect: str = "so nothing was changed") -> None:
    """See each command rejected before it changes anything; run the command that the error names."""
    before = urns_of(stack)
    for verb, purpose in (("preview", ""), ("up", ""), ("destroy", ""), ("destroy", "destroy")):
        done = stack.pulumi(verb, SLIPWAY_PURPOSE=purpose)
        assert done.code != 0 and all(word in done.said for word in words), done.said
        assert f"pulumi state delete --stack other --target-dependents '{urn}' --force" in done.said, done.said
        assert effect in done.said and "unprotect" not in done.said, done.said
    assert urns_of(stack) == before
    done = state(stack, "delete", "--stack", "other", "--target-dependents", urn, "--force")
    assert done.code == 0, done.said


def test_what_was_imported_from_another_deployment_is_not_deleted(checkout: Checkout) -> None:
    declare(checkout)
    checkout.up()
    id_ = checkout.outputs()["cluster"]
    job = checkout.cloud.rest("POST", f"{VERTEX}/customJobs", job_on(id_))["name"]
    wait_for(lambda: checkout.job_state(job) == "JOB_STATE_RUNNING", "it runs")
    other = second_stack(checkout)
    place, cluster = VERTEX.removeprefix("/v1/"), "gcp:vertex/aiPersistentResource:AiPersistentResource"
    owner = "stack trial of Pulumi project slipway, workspace ml"
    for protect in ("--protect=true", "--protect=false"):
        urn = imports(other, cluster, f"{place}/persistentResources/{id_}", protect)
        rejects_and_forgets(other, urn, f"cluster {id_} belongs to {owner}", "the state of slipway/other")
    work = f"{PROJECT}-slipway--trial--ml-work"
    urn = imports(other, "gcp:storage/bucket:Bucket", work, "--protect=false")
    rejects_and_forgets(other, urn, f"bucket gs://{work} belongs to {owner}")

    # Nothing tells of a cluster without a label but its job.
    at = f"{VERTEX}/persistentResources"
    pools = {"resourcePools": [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}]}
    checkout.cloud.rest("POST", f"{at}?persistentResourceId=plain", pools)
    wait_for(lambda: checkout.cloud.rest("GET", f"{at}/plain")["state"] == "RUNNING", "it runs")
    second = checkout.cloud.rest("POST", f"{VERTEX}/customJobs", job_on("plain"))["name"]
    wait_for(lambda: checkout.job_state(second) == "JOB_STATE_RUNNING", "it runs")
    urn = imports(other, cluster, f"{place}/persistentResources/plain")
    rejects_and_forgets(other, urn, "cluster plain", "1 job has not ended")

    # A cluster that was moved without its component.
    moved = urn_of(checkout, f":AiPersistentResource::{id_}")
    assert state(checkout, "move", "--source", "trial", "--dest", "other", moved).code == 0
    rejects_and_forgets(other, urn_of(other, f":AiPersistentResource::{id_}"), f"cluster {id_} belongs to {owner}")
    checkout.up()
    unchanged(checkout)
    unchanged(other)
    assert [checkout.job_state(each) for each in (job, second)] == ["JOB_STATE_RUNNING"] * 2
    assert len(every_cluster(checkout)) == 3


def test_an_entry_that_was_renamed_takes_nothing_with_it(checkout: Checkout) -> None:
    declare(checkout)
    checkout.up()
    granted, before, id_ = sorted(roles(checkout)), published(checkout), checkout.outputs()["cluster"]
    ends = {
        f"::ml-submit-{PEOPLE}": f"ml-submit-{PEOPLE}",
        ":BucketIAMMember::ml-trainer-writes-work": "'ml-trainer-writes-work'",
        ":Bucket::ml-catalog": "ml-catalog",
        ":BucketObject::ml-catalog": "ml-catalog",
        f":AiPersistentResource::{id_}": id_,
    }
    for end, former in ends.items():
        urn = urn_of(checkout, end)
        done = state(checkout, "rename", "--stack", "trial", urn, "zz")
        assert done.code == 0, done.said
        renamed = f"{urn.rpartition('::')[0]}::zz"
        for verb in ("preview", "up"):
            done = checkout.pulumi(verb)
            assert done.code != 0 and "under the name zz, so nothing was changed" in done.said, done.said
            assert f"pulumi state rename --stack trial '{renamed}' " in done.said and former in done.said, done.said
        done = state(checkout, "rename", "--stack", "trial", renamed, urn.rpartition("::")[2])
        assert done.code == 0, done.said
    unchanged(checkout)
    assert (sorted(roles(checkout)), published(checkout)) == (granted, before)


def test_a_destruction_of_nothing_leaves_a_stack_that_can_be_removed(checkout: Checkout) -> None:
    declare(checkout)
    checkout.up()
    for _ in range(2):
        done = checkout.destroy()
        assert done.code == 0, done.said
        assert checkout.resources() == []
    assert "nothing to destroy" in done.said, done.said
    # A lost state is something else.
    checkout.up()
    kept = checkout.resources()
    checkout.keep_resources([])
    done = checkout.destroy()
    assert done.code != 0 and "SLIPWAY_RECOVER=slipway/trial" in done.said, done.said
    checkout.keep_resources(kept)
    assert checkout.destroy().code == 0 and checkout.destroy().code == 0
    done = checkout.run("pulumi", "stack", "rm", checkout.stack, "--yes", "--non-interactive", role="deployer")
    assert done.code == 0, done.said


OWN = """
import pulumi_gcp as gcp
from components.namesakes import watch

watch()  # as by the import, which the tests' own server of Python has done before
gcp.storage.Bucket("data", name="acme-data", location="US", force_destroy=True)
gcp.serviceaccount.Account("reader", account_id="data-reader", display_name="Reader")
"""
RESULTS = """
import pulumi_gcp as gcp
from components.namesakes import watch

watch()  # as by the import, which the tests' own server of Python has done before
results = gcp.storage.Bucket("results", location="US-CENTRAL1", force_destroy=True)
"""
WITH_RESULTS = RESULTS + PROGRAM.replace("WorkspaceArgs(", "WorkspaceArgs(work_bucket=results, ")


def test_a_recovery_says_which_resources_of_the_program_are_imported_first(checkout: Checkout) -> None:
    settings: dict[str, Any] = {"team:people": PEOPLE, "team:generation": 1}
    write(checkout, PROGRAM + OWN, **settings)
    checkout.up()
    checkout.keep_resources([])
    # In `up`, Pulumi may fail to create the program's own resources before the program is rejected.
    done = checkout.pulumi("preview")
    assert done.code != 0 and "SLIPWAY_RECOVER=slipway/trial" in done.said, done.said
    account = f"projects/{PROJECT}/serviceAccounts/data-reader@{PROJECT}.iam.gserviceaccount.com"
    commands = (
        "pulumi import --stack trial gcp:storage/bucket:Bucket data acme-data --generate-code=false",
        f"pulumi import --stack trial gcp:serviceaccount/account:Account reader {account} --generate-code=false",
    )
    preview = checkout.pulumi("preview", SLIPWAY_RECOVER="slipway/trial")
    for command in commands:
        assert command in done.said and command in preview.said, (done.said, preview.said)
        ran = checkout.run(*command.split(), "--yes", "--non-interactive", role="deployer")
        assert ran.code == 0, ran.said
    write(checkout, PROGRAM + OWN.replace("data-reader", "data-other"), **settings)
    for verb in ("preview", "up"):
        done = checkout.pulumi(verb, SLIPWAY_RECOVER="slipway/trial")
        assert done.code and "account:Account reader can't be replaced in a recovery" in done.said, done.said
    write(checkout, PROGRAM + OWN, **settings)
    recovered = checkout.pulumi("up", SLIPWAY_RECOVER="slipway/trial")
    assert recovered.code == 0 and "before you recover it" not in recovered.said, recovered.said
    unchanged(checkout)
    forgotten = state(checkout, "delete", "--stack", "trial", "--target-dependents", urn_of(checkout, ":Bucket::data"))
    assert forgotten.code == 0, forgotten.said
    for verb in ("preview", "up"):
        done = checkout.pulumi(verb)
        assert done.code and commands[0] in done.said, done.said


def test_a_bucket_that_left_the_state_with_its_dependents_is_imported_first(checkout: Checkout) -> None:
    settings: dict[str, Any] = {"team:people": PEOPLE, "team:generation": 1}
    write(checkout, WITH_RESULTS.replace('("results", ', '("results", name="acme-results", '), **settings)
    checkout.up()
    own = urn_of(checkout, ":Bucket::results")
    forgotten = state(checkout, "delete", "--stack", "trial", "--target-dependents", own, "--force")
    assert forgotten.code == 0, forgotten.said
    command = "pulumi import --stack trial gcp:storage/bucket:Bucket results acme-results --generate-code=false"
    for verb in ("preview", "up"):
        done = checkout.pulumi(verb)
        assert done.code and command in done.said, done.said
    ran = checkout.run(*command.split(), "--yes", "--non-interactive", role="deployer")
    assert ran.code == 0, ran.said
    done = checkout.pulumi("up")
    assert done.code == 0, done.said


THEIRS = """
import pulumi_gcp as gcp
from components.namesakes import watch

watch()  # as by the import, which the tests' own server of Python has done before
gcp.{}
"""


def test_what_another_deployment_made_can_neither_be_declared_nor_imported(checkout: Checkout) -> None:
    declare(checkout)
    checkout.up()
    other = second_stack(checkout)
    email = published(checkout)["trainer"]
    work = f"{PROJECT}-slipway--trial--ml-work"
    theirs = {
        "gcp:storage/bucket:Bucket": (f'storage.Bucket("theirs", name="{work}", location="US-CENTRAL1")', work),
        "gcp:serviceaccount/account:Account": (
            f'serviceaccount.Account("theirs", account_id="{email.partition("@")[0]}")',
            f"projects/{PROJECT}/serviceAccounts/{email}",
        ),
    }
    for type_, (declaration, id_) in theirs.items():
        (checkout.folder / "__main__.py").write_text(THEIRS.format(declaration) + PROGRAM)
        owner = "belongs to stack trial of Pulumi project slipway, workspace ml"
        for verb in ("preview", "up"):
            done = other.pulumi(verb)
            assert done.code and owner in done.said and "pulumi import" not in done.said, done.said
        urn = imports(other, type_, id_, "--protect=false")
        rejects_and_forgets(other, urn, owner, effect="so the resource is rejected")
    (checkout.folder / "__main__.py").write_text(PROGRAM)
    unchanged(other)
    unchanged(checkout)


def test_a_recovery_keeps_a_work_bucket_that_pulumi_named(checkout: Checkout) -> None:
    settings: dict[str, Any] = {"team:people": PEOPLE, "team:generation": 1}
    write(checkout, WITH_RESULTS, **settings)
    checkout.up()
    name = published(checkout)["storage"]["work"]
    own = urn_of(checkout, ":Bucket::results")
    for verb in ("preview", "up"):
        done = checkout.pulumi(verb, "--replace", own)
        assert done.code != 0 and f"bucket gs://{name} can't be replaced by Pulumi" in done.said, done.said
    assert state(checkout, "taint", "--stack", "trial", own).code == 0
    done = checkout.pulumi("up")
    assert done.code != 0 and f"pulumi state untaint --stack trial '{own}'" in done.said, done.said
    assert state(checkout, "untaint", "--stack", "trial", own).code == 0
    assert not [each for each in checkout.resources() if each.get("delete")]
    unchanged(checkout)
    checkout.keep_resources([])
    preview = checkout.pulumi("preview")
    assert 'write `name="…"`, the name that exists, into the program for results:' in preview.said, preview.said
    command = "pulumi import --stack trial gcp:storage/bucket:Bucket results ID --generate-code=false"
    assert command in preview.said, preview.said
    ran = checkout.run(*command.replace("ID", name).split(), "--yes", "--non-interactive", role="deployer")
    assert ran.code == 0, ran.said
    for verb in ("preview", "up"):
        done = checkout.pulumi(verb, SLIPWAY_RECOVER="slipway/trial")
        assert done.code and "bucket results has no name in the program" in done.said, done.said
    write(checkout, WITH_RESULTS.replace('("results", ', f'("results", name="{name}", '), **settings)
    recovered = checkout.pulumi("up", SLIPWAY_RECOVER="slipway/trial")
    assert recovered.code == 0 and published(checkout)["storage"]["work"] == name, recovered.said
    unchanged(checkout)
