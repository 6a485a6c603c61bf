"""Accounts that jobs need retire as the clusters do that they run on. A project, a region or a name is edited as
easily, and nothing can move: refused in words, before anything is declared. # N1 # N4 # D5"""

import re
from dataclasses import replace
from typing import Any

import pytest
import yaml

from tests.checkouts.checkout import PROJECT, REGION, Checkout

pytestmark = pytest.mark.journey
AT = f"{PROJECT}.iam.gserviceaccount.com"
ELSEWHERE = "europe-west4"


def up(checkout: Checkout, trainers: Any = None) -> str:
    submitters = {"submitters": ["group:ml-engineers@company.example"]}
    checkout.write(workspace=submitters, trainers=dict.fromkeys(trainers or (), submitters))
    done = checkout.pulumi("up")
    assert done.code == 0, done.said
    return done.said


def edit(checkout: Checkout, key: str, value: str) -> None:
    written: dict[str, Any] = yaml.safe_load(checkout.file.read_text())
    written["config"][key] = value
    checkout.file.write_text(yaml.safe_dump(written, sort_keys=False))


def exists(checkout: Checkout, path: str) -> bool:
    return checkout.cloud.session().get(checkout.cloud.url + path).status_code == 200


def account(checkout: Checkout, name: str) -> bool:
    return exists(checkout, f"/v1/projects/{PROJECT}/serviceAccounts/{name}@{AT}")


def bucket(checkout: Checkout, name: str) -> bool:
    return exists(checkout, f"/storage/v1/b/{name}")


def roles(checkout: Checkout, bucket: str, account: str) -> list[str]:
    """What an account may do on a bucket."""
    bindings = checkout.cloud.rest("GET", f"/storage/v1/b/{bucket}/iam").get("bindings", [])
    return sorted(binding["role"] for binding in bindings if f"serviceAccount:{account}@{AT}" in binding["members"])


def announced(checkout: Checkout) -> None:
    """The scheduled deployment would do all that is due, as nobody edits anything for it."""
    preview = checkout.pulumi("preview", "--json", role="previewer", PULUMI_ENABLE_STREAMING_JSON_PREVIEW="1")
    events = checkout.state / "schedule.jsonl"
    events.write_text(preview.out)
    done = checkout.slipway("review", str(events), "--scheduled", role="previewer")
    assert done.code == 0, done.said
    assert done.out.startswith("Slipway plan for ") and "not announced" not in done.said, done.said


@pytest.mark.deployed
def test_a_job_keeps_the_account_that_it_runs_as_and_the_buckets_that_it_reads_and_writes(checkout: Checkout) -> None:
    """Its trainer leaves the stack file while it runs; the buckets and the workspace's own trainer keep their names."""
    checkout = replace(checkout, variables={**checkout.variables, "SLIPWAY_COMMIT": "3f9c2e1"})
    catalog, work = checkout.identity.buckets(PROJECT)
    trainer, evals = map(checkout.identity.account, ("trainer", "evals"))
    template = checkout.folder / "templates" / "nap.py"
    before = template.read_text()
    template.write_text(before.replace("JobTemplate(", 'JobTemplate(\n    trainer="evals",', 1))
    up(checkout, trainers=["evals"])
    assert roles(checkout, work, evals) == roles(checkout, work, trainer) == ["roles/storage.objectUser"]
    job = checkout.running_job()
    name = job["displayName"]

    template.write_text(before)
    said = up(checkout)
    assert re.search(rf"account {evals}@{AT} retires when .*{name}", said)
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"
    assert account(checkout, trainer) and account(checkout, evals)
    assert roles(checkout, catalog, evals) == ["roles/storage.objectViewer"]
    assert roles(checkout, work, evals) == ["roles/storage.objectUser"]

    nothing_moves_or_is_destroyed_while_it_runs(checkout, job)
    checkout.at_rest()

    # It has ended, and one runs as the other trainer.
    beside = checkout.submit("-p", "seconds=600")
    checkout.end(job)
    announced(checkout)
    said = up(checkout)
    assert checkout.job_state(beside["name"]) == "JOB_STATE_RUNNING", "one that needs only what stays"
    assert re.search(rf"account {evals}@{AT} .* will be deleted", said)
    assert account(checkout, trainer) and not account(checkout, evals)
    assert roles(checkout, work, evals) == []

    # A stack is taken down where it lives, whatever its file says.
    checkout.end(beside)
    edit(checkout, "gcp:region", ELSEWHERE)
    done = checkout.destroy()
    assert done.code == 0, done.said
    assert not account(checkout, trainer) and not bucket(checkout, catalog)
    assert checkout.clusters() == {}
    assert checkout.buckets() == [work], "people's results are kept"


def nothing_moves_or_is_destroyed_while_it_runs(checkout: Checkout, job: Any) -> None:
    (cluster,), buckets = checkout.clusters(), checkout.buckets()
    refused_to_move(checkout)
    refused_under_another_name(checkout)

    edit(checkout, "gcp:region", ELSEWHERE)
    refused = checkout.destroy()
    edit(checkout, "gcp:region", REGION)
    assert refused.code != 0, refused.said
    assert "the stack is not deleted: 1 job" in refused.said
    why = f"{job['displayName']} on {cluster}: deleting the cluster would cancel what runs on it"
    assert why in refused.said
    assert f"slipway jobs cancel {job['displayName']}" in refused.said
    assert (checkout.clusters(), checkout.buckets()) == ({cluster: "RUNNING"}, buckets)
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"


def refused_to_move(checkout: Checkout) -> None:
    """Nor to another project: tests/slipway/using/test_context.py."""
    clusters, buckets = checkout.clusters(), checkout.buckets()
    edit(checkout, "gcp:region", ELSEWHERE)
    refused = checkout.pulumi("up")
    edit(checkout, "gcp:region", REGION)
    assert refused.code != 0, refused.said
    move = f"stack {checkout.stack} lives in {REGION} and can't move to {ELSEWHERE}, so nothing was changed"
    assert move in refused.said
    assert f"put gcp:region: {REGION} back into stacks/Pulumi.{checkout.stack}.yaml" in refused.said
    assert "make destroy" in refused.said
    assert "is made; " not in refused.said
    assert (checkout.clusters(), checkout.buckets()) == (clusters, buckets)


def refused_under_another_name(checkout: Checkout) -> None:
    """The engine renames a state; what was made bears the name for good."""
    clusters, buckets, old, new = checkout.clusters(), checkout.buckets(), checkout.stack, f"{checkout.stack}-new"
    renamed = checkout.run("pulumi", "stack", "rename", new, "--stack", old, role="deployer")
    assert renamed.code == 0, renamed.said
    refused = replace(checkout, stack=new).pulumi("up")
    back = checkout.run("pulumi", "stack", "rename", old, "--stack", new, role="deployer")
    assert back.code == 0, back.said
    assert refused.code != 0, refused.said
    assert f"stack {new} of Pulumi project slipway was called {old} of Pulumi project slipway" in refused.said
    assert f"fix: pulumi stack rename {old} --stack {new}" in refused.said
    assert (checkout.clusters(), checkout.buckets()) == (clusters, buckets)
