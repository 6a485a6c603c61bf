"""`bootstrap/` of a team's repository, under Pulumi's mocks: whom it lets in, and what each may do. # D5 # P5"""

import json
import re
import runpy
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from pulumi.runtime.config import set_all_config
from vertex_local import identities
from vertex_local.access import roles as known_roles

from tests.ci.conftest import ROOT, Workflow
from tests.components.conftest import Asked, declared, every, only
from tests.slipway.front.cli.init.commands import FLAGS, well

GUIDE, OF_GITLAB = ((ROOT / "docs" / name).read_text() for name in ("ci.md", "gitlab.md"))
JOBS = "".join(path.read_text() for path in (ROOT / "slipway" / "front" / "starter" / "gitlab").glob("*.yml"))
PREVIEW, DEPLOY = "slipway-preview@", "slipway-deploy-dev@"


@dataclass(frozen=True)
class Bootstrap:
    """All that the program declares, and each command that tells the forge, in words."""

    asked: list[Asked]
    lines: list[str]

    @property
    def settings(self) -> list[list[str]]:
        return [shlex.split(line) for line in self.lines]

    def of(self, type: str) -> list[Asked]:
        return [item for item in self.asked if item.type == type]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Bootstrap]:
    def run(
        forge: str, ci: str = "acme-ml-ci", prod: str = "acme-ml-prod", reviewers: str = "", also: str = ""
    ) -> Bootstrap:
        folder = tmp_path_factory.mktemp(forge)
        well(folder, "init", "training", *FLAGS, "--ci", forge, "--prod", prod)
        if also:
            files = folder / "training" / "stacks"
            (files / f"Pulumi.{also}.yaml").write_text((files / "Pulumi.dev.yaml").read_text())
        program = folder / "training" / "bootstrap"
        config = yaml.safe_load((program / "Pulumi.ci.yaml").read_text())["config"]
        set_all_config({**config, "gcp:project": ci, "bootstrap:repository": "4711", "bootstrap:reviewers": reviewers})
        told: list[str] = []
        asked = declared(lambda: runpy.run_path(str(program))["settings"].apply(told.append))
        set_all_config({})
        return Bootstrap(asked, told[0].splitlines()[1:])

    return run


@pytest.fixture(scope="module")
def github(begun: Callable[[str], Bootstrap]) -> Bootstrap:
    return begun("github")


@pytest.fixture(scope="module")
def gitlab(begun: Callable[[str], Bootstrap]) -> Bootstrap:
    return begun("gitlab")


OWN = {"previewer": "slipwayPreviewer", "deployer": "slipwayDeployer", "buckets": "slipwayBuckets"}
"""The project's own roles, by the names of their files. The local cloud calls them as these."""


def local_name(role: str) -> str:
    files = {f"projects/acme-ml-dev/roles/{own}": name for name, own in OWN.items()}
    return f"projects/{identities.PROJECT_ID}/roles/{files[role]}" if role in files else role


def roles(github: Bootstrap, account: str) -> dict[str, str]:
    """The conditions of an account's roles on the stack's project, by role."""
    granted = (item.inputs for item in github.of("gcp:projects/iAMMember:IAMMember"))
    of_dev = [item for item in granted if item["project"] == "acme-ml-dev" and account in item["member"]]
    return {item["role"]: item.get("condition", {}).get("expression", "") for item in of_dev}


@pytest.mark.parametrize(("account", "role"), [(PREVIEW, "previewer"), (DEPLOY, "deployer")])
def test_a_stacks_project_grants_what_the_journeys_are_run_with(github: Bootstrap, account: str, role: str) -> None:
    local = {name for name, members in identities.HOME.bindings.items() if identities.ROLES[role] in members}
    assert set(map(local_name, roles(github, account))) == local


def test_a_role_of_the_project_has_what_the_journeys_are_run_with_and_the_page_tells(github: Bootstrap) -> None:
    head, _, *rows = GUIDE.split("| what for |")[1].split("\n\n")[0].splitlines()
    columns = [cell.strip() for cell in head.split("|")[1:-1]]
    told: dict[str, set[str]] = {name: set() for name in columns}
    for row in rows:
        _, permissions, *marks = (cell.strip() for cell in row.split("|")[1:-1])
        for name, mark in zip(columns, marks, strict=True):
            told[name] |= set(re.findall("`([^`]+)`", permissions)) if mark else set()
    made = {item.inputs["roleId"]: item.inputs for item in github.of("gcp:projects/iAMCustomRole:IAMCustomRole")}
    assert set(made) == set(OWN.values()) and set(told) == set(OWN)
    for name, own in OWN.items():
        known = known_roles.find(local_name(f"projects/acme-ml-dev/roles/{own}"))
        assert known and not known.prefixes
        assert known.permissions == set(made[own]["permissions"]) == told[name]


def test_a_deployer_changes_the_buckets_of_its_stack_alone(github: Bootstrap) -> None:
    limited = {
        role.rpartition("/")[2]: condition
        for account in (PREVIEW, DEPLOY)
        for role, condition in roles(github, account).items()
        if "storage" in role or role.endswith("Buckets")
    }
    own = "resource.name.startsWith('projects/_/buckets/acme-ml-dev-training--dev-"
    assert limited == {
        "slipwayBuckets": f"{own}')",
        "storage.objectUser": f"{own}catalog')",
        "storage.objectViewer": f"{own}catalog')",
    }


def test_preview_reads_and_changes_nothing_and_the_page_has_each_role(github: Bootstrap) -> None:
    types = ("gcp:storage/bucketIAMMember:BucketIAMMember", "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember")
    on_state = [item for type_ in types for item in github.of(type_)]
    reads = {item.inputs["role"] for item in on_state if "preview" in item.inputs["member"]}
    reads |= set(roles(github, PREVIEW))
    assert all(re.search(r"[vV]iewer$|Decrypter$", role) for role in reads), reads
    table = GUIDE.split("## The identities")[1].split("\n## ")[0]
    given = {item.inputs["role"] for item in (*on_state, *github.of("gcp:projects/iAMMember:IAMMember"))}
    told = set(re.findall(r"roles/[\w.]+|`slipway[A-Z]\w+`", table))
    assert {f"`{role.rpartition('/')[2]}`" if role.startswith("projects/") else role for role in given} == told


def test_each_stack_of_a_project_has_a_deployer_of_its_own(begun: Callable[..., Bootstrap]) -> None:
    """One account for both had dev's deployments write prod's state."""
    bootstrap = begun("github", also="a-stack-with-a-long-name")
    states = every(bootstrap.asked, "gcp:storage/bucketIAMMember:BucketIAMMember")
    writers = {name: states[f"{name}-objectAdmin"].inputs["member"] for name in ("dev", "a-stack-with-a-long-name")}
    lent = every(bootstrap.asked, "gcp:serviceaccount/iAMMember:IAMMember")
    ids = ["slipway-deploy-dev", "slipway-deploy-a-stack-4261ce"]
    for (stack, member), id_ in zip(writers.items(), ids, strict=True):
        assert f"{id_}@" in member and len(id_) <= 30, member
        assert {id_ in lent[f"{stack}{end}"].inputs["serviceAccountId"] for end in ("", "-schedule", "-insist")} == {
            True
        }


def test_the_deployer_can_hand_out_the_submitters_roles_only(github: Bootstrap) -> None:
    binding = every(github.asked, "gcp:projects/iAMMember:IAMMember")["dev-submitters"].inputs
    assert binding["role"] == "roles/resourcemanager.projectIamAdmin"
    assert "modifiedGrantsByRole" in binding["condition"]["expression"]
    assert set(re.findall(r"'roles/([^']+)'", binding["condition"]["expression"])) == {
        "aiplatform.user",
        "cloudquotas.viewer",
        "monitoring.viewer",
        "logging.viewer",
    }


def test_the_state_is_encrypted_with_the_stacks_key_which_cloud_storage_may_use(github: Bootstrap) -> None:
    buckets = {item.inputs["name"]: item for item in github.of("gcp:storage/bucket:Bucket")}
    for stack in ("dev", "prod"):
        bucket = buckets[f"acme-ml-ci-state-{stack}"]
        assert bucket.inputs["encryption"] == {"defaultKmsKeyName": f"{stack}-key-id"}
        assert f"{stack}-state" in bucket.depends_on, "a bucket is refused whose key nobody lent to Cloud Storage"
        grant = every(github.asked, "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember")[f"{stack}-state"].inputs
        assert (grant["cryptoKeyId"], grant["role"]) == (
            f"{stack}-key-id",
            "roles/cloudkms.cryptoKeyEncrypterDecrypter",
        )
        assert grant["member"].endswith("@gs-project-accounts.iam.gserviceaccount.com")


def test_a_domains_project_has_addresses_and_buckets_without_its_colon(begun: Callable[..., Bootstrap]) -> None:
    bootstrap = begun("github", "acme.example:ml-ci", "acme.example:ml-prod")
    told = {command[3]: command[-1] for command in bootstrap.settings if command[:3] == ["gh", "variable", "set"]}
    assert told["PREVIEW_SERVICE_ACCOUNT_prod"] == "slipway-preview@ml-prod.acme.example.iam.gserviceaccount.com"
    assert told["PULUMI_BACKEND_URL_prod"] == "gs://ml-ci-state-prod"
    assert told["PULUMI_SECRETS_PROVIDER_prod"].startswith("gcpkms://projects/acme.example:ml-ci/")
    assert not [item for item in bootstrap.of("gcp:storage/bucket:Bucket") if ":" in item.inputs["name"]]
    conditions = [item.inputs.get("condition", {}).get("expression", "") for item in bootstrap.asked]
    assert any("buckets/ml-prod-training--prod-catalog" in condition for condition in conditions)


@pytest.mark.parametrize("forge", ["github", "gitlab"])
def test_only_jobs_of_this_repository_are_lent_an_account(forge: str, request: pytest.FixtureRequest) -> None:
    """The reader is lent to pull requests, and to main without an environment; the other to main in a stack's."""
    bootstrap: Bootstrap = request.getfixturevalue(forge)
    lent = every(bootstrap.asked, "gcp:serviceaccount/iAMMember:IAMMember")
    pool = f"/workloadIdentityPools/{forge}/attribute."
    whom = {name: item.inputs["member"].partition(pool)[2] for name, item in lent.items() if "prod" not in name}
    assert whom == {
        "acme-ml-dev-pull-requests": "event/pull_request",
        "acme-ml-dev-main": "deployment/refs/heads/main:none",
        "dev": "deployment/refs/heads/main:dev",
        "dev-schedule": "deployment/refs/heads/main:dev-schedule",
        **({"dev-insist": "deployment/refs/heads/main:dev-insist"} if forge == "github" else {}),
    }
    readers = {name for name, item in lent.items() if "preview" in item.inputs["serviceAccountId"]}
    assert readers == {f"acme-ml-{stack}-{jobs}" for stack in ("dev", "prod") for jobs in ("pull-requests", "main")}
    provider = only(bootstrap.asked, "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider").inputs
    assert re.fullmatch(r"assertion\.(repository|project)_id == '4711'", provider["attributeCondition"])
    assert set(provider["attributeMapping"]) == {"google.subject", "attribute.event", "attribute.deployment"}


def test_a_merge_request_is_never_taken_for_main(gitlab: Bootstrap) -> None:
    provider = only(gitlab.asked, "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider").inputs
    claims = provider["attributeMapping"]
    main = {"pipeline_source": "push", "ref_path": "refs/heads/main", "ref_protected": "true"}
    of_main = [
        main,
        {**main, "environment": "prod"},
        {**main, "pipeline_source": "schedule", "environment": "dev-schedule"},
    ]
    assert [judged(claims["attribute.deployment"], ref) for ref in of_main] == [
        "refs/heads/main:none",
        "refs/heads/main:prod",
        "refs/heads/main:dev-schedule",
    ]
    for other in ({"pipeline_source": "merge_request_event"}, {"ref_protected": "false"}):
        assert judged(claims["attribute.deployment"], {**main, "environment": "prod", **other}) == "none"
    assert judged(claims["attribute.event"], {**main, "pipeline_source": "merge_request_event"}) == "pull_request"
    assert judged(claims["attribute.event"], main) == "other"


@pytest.mark.parametrize("forge", ["github", "gitlab"])
def test_a_subject_is_no_longer_than_google_takes_whatever_names_are_long(
    forge: str, request: pytest.FixtureRequest
) -> None:
    """Google refuses a token whose google.subject has more than 127 bytes. GitHub's `sub` has owner, repository, their
    numbers and the environment; GitLab's the path and the branch."""
    bootstrap: Bootstrap = request.getfixturevalue(forge)
    name, number = "n" * 100, "9" * 20
    numbers = {"repository_id": number, "run_id": number, "project_id": number, "job_id": number}
    claims = {"sub": f"repo:{name}@{number}/{name}@{number}:environment:{name}", "ref": name, **numbers}
    provider = only(bootstrap.asked, "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider").inputs
    assert len(judged(provider["attributeMapping"]["google.subject"], claims)) <= 127


def judged(expression: str, claims: dict[str, str]) -> str:
    """An expression of Google's (CEL), as far as these are, by Python's."""
    words = re.sub(r"has\(assertion\.(\w+)\)", lambda match: str(match[1] in claims), expression)
    words = re.sub(r"assertion\.(\w+)", lambda match: repr(claims.get(match[1], "")), words).replace("&&", "and")
    words = re.sub(r"\(([^()?]+) \? ([^()]+) : ([^()]+)\)", r"(\2 if \1 else \3)", words)
    return str(eval(re.sub(r"(.+?) \? (.+) : (.+)", r"(\2) if (\1) else (\3)", words)))


GH = """#!/bin/bash
echo "$*" >>asked
case "$*" in
  "api user "*) echo 7 ;; "api users/ada "*) echo 8 ;; "api orgs/acme/teams/ml "*) echo 9 ;;
  *-insist*--input*) cat >>bodies; [ ! -e free ] ;;
esac
"""


@pytest.mark.parametrize(("reviewers", "ids"), [("", [("User", 7)]), ("@acme/ml, ada", [("Team", 9), ("User", 8)])])
def test_who_may_insist_is_a_reviewer_or_nobody(
    begun: Callable[..., Bootstrap], tmp_path: Path, reviewers: str, ids: list[tuple[str, int]]
) -> None:
    """GitHub takes reviewers of environments in some plans only. Without them the environment has no account."""
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)
    script = "\n".join(line for line in begun("github", reviewers=reviewers).lines if "dev-insist" in line)
    for free in (False, True):
        if free:
            (tmp_path / "free").touch()
            (tmp_path / "asked").unlink()
        environ = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
        done = subprocess.run(["bash", "-euc", script], cwd=tmp_path, env=environ, capture_output=True, text=True)
        assert done.returncode == 0 and ("insisting is off" in done.stderr) == free, done.stderr
        assert ("variable set DEPLOY_SERVICE_ACCOUNT --env dev-insist" in (tmp_path / "asked").read_text()) != free
    body = json.loads((tmp_path / "bodies").read_text().splitlines()[0])
    assert [(each["type"], each["id"]) for each in body["reviewers"]] == ids
    assert body["prevent_self_review"] == bool(reviewers) and body["deployment_branch_policy"]["protected_branches"]


def test_github_is_told_what_the_workflows_read(github: Bootstrap, workflows: dict[str, Workflow]) -> None:
    text = "".join(workflow.text for workflow in workflows.values())
    read = set(re.findall(r"vars\.([A-Z_]+)", text)) | set(re.findall(r"vars\[format\('([A-Z_]+)_\{0\}'", text))
    elsewhere = (ROOT / "docs" / "backends.md").read_text()
    read -= set(re.findall(r"`((?:PREVIEW|DEPLOY)_BACKEND_IDENTITY)", elsewhere))
    read.remove("ROLLBACK")  # A person sets it for one run: docs/review.md.
    told = [command for command in github.settings if command[:3] == ["gh", "variable", "set"]]
    assert {re.sub("_(dev|prod)$", "", command[3]) for command in told} == read
    assert all(f"`{name}" in GUIDE.split("## Variables")[1] for name in read)
    alone = [command[command.index("--env") + 1] for command in told if command[3] == "DEPLOY_SERVICE_ACCOUNT"]
    assert alone == ["dev", "dev-schedule", "prod", "prod-schedule"]
    (policy,) = {command[-1] for command in github.settings if command[:2] == ["gh", "api"]}
    assert json.loads(policy.removeprefix("<<<"))["deployment_branch_policy"]["protected_branches"]
    assert ["make", "select", "STACK=dev"] in [command[1:4] for command in github.settings]


def test_gitlab_is_told_what_its_jobs_read(gitlab: Bootstrap) -> None:
    read = set(re.findall(r"(?:of_stack|settings) ([A-Z_]+)\b", JOBS)) | {"WORKLOAD_IDENTITY_PROVIDER"}
    told = {re.sub("_(dev|prod)$", "", command[3]) for command in gitlab.settings if command[0] == "glab"}
    assert told == read and not [command for command in gitlab.settings if command[0] == "gh"]
    for name in ("slipway-reviewed", "INSIST", "RELEASE_LOCK"):
        assert f"`{name}`" in OF_GITLAB and name.removeprefix("slipway") in JOBS
    assert set(re.findall(r"SLIPWAY[:=](\w+)", OF_GITLAB)) == {"up", "doctor"}


def test_the_checks_to_require_are_reported_by_jobs_of_those_names(workflows: dict[str, Workflow]) -> None:  # D7
    required = re.findall(r"`(\w+)`", GUIDE.split("require the checks ")[1].split(";")[0])
    assert required == ["test", "check", "previewed", "reviewed"]
    jobs = workflows["preview"].jobs()
    for name in required:
        assert "strategy" not in jobs[name], "a matrix reports under names with its values"
        assert jobs[name].get("if", "always()") == "always()", "a skipped check counts as passed"
