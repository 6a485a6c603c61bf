"""A program's own bucket and account that a workspace uses: no command and no other program deletes them. # N33 # N1"""

import re
from dataclasses import replace
from typing import Any

import pytest
from vertex_local.testing.bodies import job_body, worker

from tests.checkouts.checkout import PROJECT, VERTEX, Checkout
from tests.checkouts.shell import Done, wait_for
from tests.end_to_end.test_own_program import write
from tests.end_to_end.test_pulumi_commands import (
    PEOPLE,
    PROGRAM,
    imports,
    second_stack,
    state,
    unchanged,
    urn_of,
    urns_of,
)

pytestmark = pytest.mark.journey

OWN = """
import pulumi
import pulumi_gcp as gcp
from components.namesakes import watch

watch()  # as by the import, which the tests' own server of Python has done before
results = gcp.storage.Bucket("results", name="acme-results", location="US-CENTRAL1", force_destroy=True)
trainer = gcp.serviceaccount.Account("runner", account_id="own-runner")
"""
LENT = OWN + PROGRAM.replace("WorkspaceArgs(", "WorkspaceArgs(work_bucket=results, trainer=trainer, ")
SETTINGS: dict[str, Any] = {"team:people": PEOPLE, "team:generation": 1}
EMAIL = f"own-runner@{PROJECT}.iam.gserviceaccount.com"
ACCOUNT_ID = f"projects/{PROJECT}/serviceAccounts/{EMAIL}"
BUCKET, ACCOUNT = "gcp:storage/bucket:Bucket", "gcp:serviceaccount/account:Account"


def existing(checkout: Checkout) -> set[str]:
    listed = checkout.cloud.every(f"/storage/v1/b?project={PROJECT}", "items")
    accounts = checkout.cloud.every(f"/v1/projects/{PROJECT}/serviceAccounts", "accounts")
    return {each["name"] for each in listed} | {each["email"] for each in accounts}


def rejected(checkout: Checkout, *words: str) -> Done:
    """See each command rejected, and both resources exist after it."""
    for verb in ("preview", "up"):
        done = checkout.pulumi(verb)
        assert done.code != 0 and all(word in done.said for word in words), done.said
        assert {"acme-results", EMAIL} <= existing(checkout)
    return done


def test_a_rename_without_an_alias_and_a_second_entry_delete_nothing(checkout: Checkout) -> None:
    write(checkout, LENT, **SETTINGS)
    checkout.up()
    bucket, account = urn_of(checkout, ":Bucket::results"), urn_of(checkout, ":Account::runner")

    write(checkout, LENT.replace('Bucket("results"', 'Bucket("second"'), **SETTINGS)
    done = rejected(checkout, "bucket gs://acme-results is in the state under the name results")
    assert f"pulumi state rename --stack trial '{bucket}' second" in done.said and "pulumi import" not in done.said
    imported = 'Account("second", opts=pulumi.ResourceOptions(import_="' + ACCOUNT_ID + '"), '
    write(checkout, LENT.replace('Account("runner", ', imported), **SETTINGS)
    rejected(checkout, f"account {EMAIL} is in the state under the name runner")

    # Both commands that the error names, and an alias.
    write(checkout, LENT.replace('Bucket("results"', 'Bucket("second"'), **SETTINGS)
    assert state(checkout, "rename", "--stack", "trial", bucket, "second").code == 0
    unchanged(checkout)
    write(checkout, LENT, **SETTINGS)
    renamed = urn_of(checkout, ":Bucket::second")
    done = rejected(checkout, f"pulumi state rename --stack trial '{renamed}' results")
    alias = 'Bucket("results", opts=pulumi.ResourceOptions(aliases=[pulumi.Alias(name="second")])'
    write(checkout, LENT.replace('Bucket("results"', alias), **SETTINGS)
    checkout.up()
    unchanged(checkout)

    # An entry that the program does not declare, and one that it does not declare any more.
    second = imports(checkout, ACCOUNT, ACCOUNT_ID, "--protect=false")
    done = rejected(checkout, f"account {EMAIL} is in the state a second time")
    forget = f"pulumi state delete --stack trial '{second}' --force"
    assert forget in done.said and done.said.index(forget) < done.said.index(f"'{account}'"), done.said
    write(checkout, LENT.replace('Account("runner"', 'Account("theirs"'), **SETTINGS)
    done = rejected(checkout, f"account {EMAIL} is in the state a second time")
    assert forgets(checkout, done) == [(account, False), (second, True)], "the former one has dependents"
    done = rejected(checkout, f"account {EMAIL} is in the state under the name runner")
    assert state(checkout, "rename", "--stack", "trial", account, "theirs").code == 0
    checkout.up()
    unchanged(checkout)
    assert {"acme-results", EMAIL} <= existing(checkout)


def forgets(checkout: Checkout, rejection: Done) -> list[tuple[str, bool]]:
    """Type the commands that an error names until one works; return their URNs, with whether each did."""
    ran: list[tuple[str, bool]] = []
    for urn in dict.fromkeys(re.findall(r"pulumi state delete --stack trial '(.+)' --force", rejection.said)):
        ran.append((urn, state(checkout, "delete", "--stack", "trial", urn, "--force").code == 0))
        if ran[-1][1]:
            break
    return ran


GROUND = """
ground_of_mine = pulumi.ComponentResource("acme:ml:Ground", "ground")
"""


def test_a_resource_that_has_another_parent_or_an_alias_is_not_deleted_by_its_former_entry(checkout: Checkout) -> None:
    """Each time `up` succeeded, and the bucket or the account was gone."""
    write(checkout, LENT, **SETTINGS)
    checkout.up()
    account, bucket = urn_of(checkout, ":Account::runner"), urn_of(checkout, ":Bucket::results")
    second = imports(checkout, ACCOUNT, ACCOUNT_ID, "--protect=false")
    alias = 'Account("theirs", opts=pulumi.ResourceOptions(aliases=[pulumi.Alias(name="runner")])'
    write(checkout, LENT.replace('Account("runner"', alias), **SETTINGS)
    done = rejected(checkout, f"account {EMAIL} is in the state a second time")
    assert forgets(checkout, done) == [(account, False), (second, True)]
    checkout.up()
    unchanged(checkout)

    own = OWN.replace("results =", f"{GROUND}results =")
    moved = 'Bucket("results", opts=pulumi.ResourceOptions(parent=ground_of_mine{})'
    program = LENT.replace(OWN, own).replace('Account("runner"', alias)
    write(checkout, program.replace('Bucket("results"', moved.format("")), **SETTINGS)
    rejected(checkout, "bucket gs://acme-results is in the state outside of any component", f"aliases=['{bucket}']")
    aliased = moved.format(f", aliases=['{bucket}']")
    write(checkout, program.replace('Bucket("results"', aliased), **SETTINGS)
    checkout.up()
    unchanged(checkout)
    assert {"acme-results", EMAIL} <= existing(checkout)


BY_NAME = PROGRAM.replace("WorkspaceArgs(", 'WorkspaceArgs(work_bucket="acme-results", trainer="own-runner", ')


def declares(checkout: Checkout, program: str) -> None:
    (checkout.folder / "__main__.py").write_text(program)


def test_a_destruction_keeps_what_another_deployment_needs(checkout: Checkout) -> None:
    write(checkout, LENT, **SETTINGS)
    checkout.up()
    declares(checkout, BY_NAME)
    other = second_stack(checkout)
    declares(checkout, LENT)
    before = urns_of(checkout)
    for purpose in ("", "destroy"):
        done = checkout.pulumi("destroy", SLIPWAY_PURPOSE=purpose)
        needs = "stack other of Pulumi project slipway, workspace reg needs them"
        assert done.code != 0 and needs in done.said, done.said
        assert f"account {EMAIL} and bucket gs://acme-results would be deleted" in done.said, done.said
        assert "retain_on_delete=True" in done.said and urns_of(checkout) == before, done.said
        assert {"acme-results", EMAIL} <= existing(checkout)

    # It may be kept, and goes when nobody needs it.
    keeps = "opts=pulumi.ResourceOptions(retain_on_delete=True)"
    kept = LENT.replace("force_destroy=True", keeps).replace('"own-runner")', f'"own-runner", {keeps})')
    declares(checkout, kept)
    done = checkout.pulumi("destroy", SLIPWAY_PURPOSE="destroy")
    assert done.code == 0, done.said
    assert {"acme-results", EMAIL} <= existing(checkout)
    declares(checkout, BY_NAME)
    unchanged(other)


def test_what_another_stack_uses_is_neither_created_nor_imported(checkout: Checkout) -> None:
    write(checkout, LENT, **SETTINGS)
    checkout.up()
    made = checkout.run("pulumi", "stack", "init", "other", "--non-interactive", role="deployer")
    assert made.code == 0, made.said
    other = replace(checkout, stack="other")
    user = "is used by stack trial of Pulumi project slipway, workspace ml"
    imported = {
        BUCKET: OWN.replace('"results", ', '"results", opts=pulumi.ResourceOptions(import_="acme-results"), '),
        ACCOUNT: OWN.replace('"runner", ', f'"runner", opts=pulumi.ResourceOptions(import_="{ACCOUNT_ID}"), '),
    }
    account_alone = OWN.replace('name="acme-results"', 'name="acme-others"')
    for program in (LENT, account_alone + PROGRAM, *imported.values()):
        write(other, program, **{**SETTINGS, "team:workspace": "reg"})
        for verb in ("preview", "up"):
            done = other.pulumi(verb)
            assert done.code != 0 and user in done.said and "pulumi.get_stack()" in done.said, done.said
            assert "409" not in done.said.replace("in use (409)", "") and not other.clusters(), done.said
    assert {each["id"] for each in other.resources() if each["type"] in (BUCKET, ACCOUNT)} == {"acme-others"}


OUT = {"name": "OUT", "value": "gs://acme-results/one"}


def test_a_job_of_the_lender_does_not_keep_a_stack_that_uses_its_account_too(checkout: Checkout) -> None:
    write(checkout, LENT, **SETTINGS)
    checkout.up()
    (checkout.folder / "__main__.py").write_text(BY_NAME)
    other = second_stack(checkout)
    labels = {"slipway-stack": "slipway--trial--ml"}
    task = {"imageUri": "python:3.10", "command": ["sleep", "86000"], "env": [OUT]}
    spec = {"serviceAccount": EMAIL}
    body = job_body(worker(containerSpec=task), spec=spec, labels=labels)
    job = checkout.cloud.rest("POST", f"{VERTEX}/customJobs", body)["name"]
    mine = job_body(worker(containerSpec=task), spec=spec, labels={"slipway-stack": "slipway--other--reg"})
    second = checkout.cloud.rest("POST", f"{VERTEX}/customJobs", mine)["name"]
    before = checkout.cloud.rest("GET", "/storage/v1/b/acme-results/iam")
    refused = other.pulumi("destroy", SLIPWAY_PURPOSE="destroy")
    assert refused.code != 0 and "1 job has not ended" in refused.said, refused.said
    assert "train of stack other of Pulumi project slipway, workspace reg: they run elsewhere" in refused.said
    checkout.cloud.cancel(second)
    wait_for(lambda: checkout.job_state(second) == "JOB_STATE_CANCELLED", "it has ended")
    done = other.pulumi("destroy", SLIPWAY_PURPOSE="destroy")
    assert done.code == 0 and other.resources() == [], done.said
    assert checkout.job_state(job) in ("JOB_STATE_PENDING", "JOB_STATE_RUNNING")
    assert checkout.cloud.rest("GET", "/storage/v1/b/acme-results/iam")["bindings"] == before["bindings"]
    (checkout.folder / "__main__.py").write_text(LENT)
    unchanged(checkout)


def test_a_wrong_account_is_a_mistake_that_prevents_no_destruction(checkout: Checkout) -> None:
    write(checkout, PROGRAM, **SETTINGS)
    checkout.up()
    other = second_stack(checkout)
    theirs = published_trainer(checkout, "other", "reg")
    wrong = PROGRAM.replace("WorkspaceArgs(", f'WorkspaceArgs(trainer="{theirs}", ')
    (checkout.folder / "__main__.py").write_text(wrong)
    done = checkout.pulumi("up")
    assert done.code != 0, done.said
    # So it is for a stack that is not deployed yet.
    made = checkout.run("pulumi", "stack", "init", "third", "--non-interactive", role="deployer")
    assert made.code == 0, made.said
    third = replace(checkout, stack="third")
    write(third, wrong, **{**SETTINGS, "team:workspace": "new"})
    for verb in ("preview", "up"):
        done = third.pulumi(verb)
        assert done.code != 0 and "is the trainer of stack other of Pulumi project slipway" in done.said, done.said
        assert (
            "SLIPWAY_PURPOSE=destroy" not in done.said and "name another account: Workspace new: trainer" in done.said
        ), done.said
    for trainer in (theirs, "free-for-all"):
        (checkout.folder / "__main__.py").write_text(wrong.replace(theirs, trainer))
        done = checkout.pulumi("destroy", SLIPWAY_PURPOSE="destroy")
        assert done.code == 0 and checkout.resources() == [], done.said
        (checkout.folder / "__main__.py").write_text(PROGRAM)
        checkout.up()
    unchanged(other)


def published_trainer(checkout: Checkout, stack: str, workspace: str) -> str:
    """Return the id of the account that a workspace's jobs run as."""
    bucket = f"{PROJECT}-slipway--{stack}--{workspace}-catalog"
    catalog = checkout.cloud.rest("GET", f"/storage/v1/b/{bucket}/o/catalog.json?alt=media")
    return str(catalog["trainer"].partition("@")[0])
