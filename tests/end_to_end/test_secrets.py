"""A canary as a secret of a program and of a stack file: nowhere in plain text, with the real engine."""

from collections.abc import Iterator

import pytest
import yaml

from tests.checkouts.checkout import PROJECT, REGION, Checkout
from tests.checkouts.shell import Done

pytestmark = pytest.mark.journey
CANARY = "canary-7f3e9a"

PROGRAM = """
import pulumi
import pulumi_gcp as gcp
import components as slipway

config = pulumi.Config("team")
secret = config.require_secret("value")
argument = config.get("argument")
given = {
    "submitters": secret.apply(lambda value: [f"user:{value}@company.example"]),
    "teams": {"vision": slipway.TeamArgs(submitters=[pulumi.Output.concat("user:", secret, "@company.example")])},
    "notify": secret,
    "kms_key": secret,
    "work_bucket": secret,
    "labels": {"team": secret},
    "display_name": pulumi.Output.all(secret, "x").apply(" ".join),
    "network": secret,
    "id": secret,
}
of_workspace = argument in {each for each in slipway.WorkspaceArgs.__dataclass_fields__} - {"kms_key"}
chosen = {argument: given[argument]} if argument else {}
people = {"submitters": ["group:ml-engineers@company.example"]}
ground = slipway.Workspace("ml", slipway.WorkspaceArgs(**{**people, **(chosen if of_workspace else {})}))
cpu = slipway.PersistentResource(
    "cpu",
    slipway.PersistentResourceArgs(
        pools={"all": slipway.PoolArgs(machine="n1-standard-4", replicas=1)},
        **({} if of_workspace else chosen),
    ),
)
quota = slipway.QuotaCheck(
    "quota",
    slipway.QuotaCheckArgs(
        clusters=[cpu],
        mode="request",
        contact_email=pulumi.Output.concat(secret, "@company.example"),
        justification=secret,
    ),
)
catalog = slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground, quota=quota))
pulumi.export("cluster", cpu.cluster_id)
"""


def written(checkout: Checkout, argument: str = "") -> None:
    (checkout.folder / "__main__.py").write_text(PROGRAM)
    before = yaml.safe_load(checkout.file.read_text())
    kept = {key: value for key, value in before.items() if key != "config"}
    config = {"gcp:project": PROJECT, "gcp:region": REGION}
    if argument:
        config["team:argument"] = argument
    checkout.file.write_text(yaml.safe_dump({"config": config, **kept}))
    encrypt(checkout, "team:value", CANARY)


def encrypt(checkout: Checkout, *arguments: str) -> None:
    done = checkout.run(
        *("pulumi", "config", "set", "--secret", "--stack", checkout.stack, *arguments), role="deployer"
    )
    assert done.code == 0, done.said


def leaks(checkout: Checkout) -> Iterator[str]:
    """Yield the files with the canary in plain text: of the engine's state, history and events, and of the checkout."""
    program = checkout.folder / "__main__.py"
    for folder in (checkout.folder, checkout.state):
        for file in folder.rglob("*"):
            if file.is_file() and file != program and CANARY.encode() in file.read_bytes():
                yield str(file)


def rejected(done: Done, *words: str) -> None:
    assert done.code != 0 and CANARY not in done.said, done.said
    assert all(word in done.said for word in words), done.said


def test_a_secret_is_nowhere_in_plain_text(checkout: Checkout) -> None:
    checkout.cloud.rest(
        "POST", "/vertex-local/settings", {"quota.custom_model_training_cpus": 2, "quota_reconcile_seconds": 0}
    )
    for argument in ("submitters", "teams", "notify", "work_bucket", "labels", "display_name", "network"):
        written(checkout, argument)
        done = checkout.pulumi("up" if argument in ("submitters", "labels") else "preview")
        rejected(done, f"{argument}", "can't be secret", "pulumi.Output.unsecret")
    assert checkout.nothing_made()

    written(checkout)
    preview = checkout.pulumi("preview", "--json")
    assert preview.code == 0 and CANARY not in preview.said, preview.said
    events_of_up = ("--event-log", str(checkout.state / "events.json"))
    up = checkout.pulumi("up", *events_of_up, PULUMI_DEBUG_COMMANDS="true")
    assert up.code == 0 and CANARY not in up.said, up.said
    export = checkout.run("pulumi", "stack", "export", "--stack", checkout.stack, role="deployer")
    assert export.code == 0 and CANARY not in export.said
    shown = checkout.run("pulumi", "stack", "export", "--show-secrets", "--stack", checkout.stack, role="deployer")
    assert CANARY in shown.out, "what is looked for is found"
    (request, *_) = (each for each in checkout.resources() if each["type"].startswith("gcp:cloudquota/"))
    for side in ("inputs", "outputs"):
        assert {"contactEmail", "justification"} <= {
            key for key, value in request[side].items() if "ciphertext" in str(value)
        }
    preferences = f"/v1/projects/{PROJECT}/locations/global/quotaPreferences"
    (asked, *_) = checkout.cloud.every(preferences, "quotaPreferences")
    assert asked["justification"] == CANARY, "Google receives it"
    assert list(leaks(checkout)) == []
    # A refresh reads the values from Google, and a plan has them as inputs.
    for verb, *more in (["refresh", "--yes"], ["preview", "--save-plan", "plan.json"], ["up"], ["destroy"]):
        done = checkout.pulumi(verb, *more)
        assert CANARY not in done.said and done.code == 0, done.said
        assert list(leaks(checkout)) == [], verb


@pytest.mark.parametrize("path", [["slipway:workspace.notify"], ["slipway:persistentResources.cpu.displayName"]])
def test_an_encrypted_value_of_a_stack_file_is_rejected_at_its_line(checkout: Checkout, path: list[str]) -> None:
    encrypt(checkout, "--path", *path, CANARY)
    for done in (checkout.pulumi("preview"), checkout.slipway("check", "stacks/Pulumi.trial.yaml")):
        rejected(done, "Pulumi.trial.yaml:", f"{path[0]}: is encrypted", "write it in plain text")
    assert list(leaks(checkout)) == []
