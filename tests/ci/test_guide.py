"""docs/ci.md is run, with stand-ins for the cloud's and GitHub's commands that note what is asked of them."""  # D5

import json
import re
import subprocess
from pathlib import Path

import pytest
from vertex_local import identities

from tests.ci.conftest import ROOT, Workflow

GUIDE = (ROOT / "docs" / "ci.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.M | re.S)
STAND_IN = """#!/usr/bin/env python3
import json, os, sys
condition = next((a.split("=", 1)[1] for a in sys.argv if a.startswith("--condition-from-file=")), None)
name = os.path.basename(sys.argv[0])
call = [name, *sys.argv[1:], *([open(condition).read()] if condition else [])]
with open(os.environ["CALLS"], "a") as calls:
    print(json.dumps(call), file=calls)
print({"gh": "4711", "gcloud": "100000000001"}.get(name, ""))
"""


def asked(folder: Path, *blocks: str) -> list[list[str]]:
    """Return what a guide's blocks ask of the cloud's, the forges' and a checkout's commands, each call with its
    arguments."""
    for name in ("gcloud", "gh", "glab", "make", "git"):
        (folder / name).write_text(STAND_IN)
        (folder / name).chmod(0o755)
    checkout = folder / "checkout"
    checkout.mkdir()
    record = folder / "calls.jsonl"
    script = "set -euo pipefail\n" + "".join(blocks)
    environ = {"PATH": f"{folder}:/usr/bin:/bin", "CALLS": str(record)}
    done = subprocess.run(["bash", "-c", script], cwd=checkout, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list(checkout.iterdir()) == [], "a file that is left there would make the next deployment a changed one"
    return [json.loads(line) for line in record.read_text().splitlines()]


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    return asked(tmp_path_factory.mktemp("guide"), *BLOCKS)


def roles(calls: list[list[str]], account: str, on: str) -> set[str]:
    """The roles that `account` is given by calls that begin with `gcloud on`."""
    prefix = ["gcloud", *on.split()]
    given = (call for call in calls if call[: len(prefix)] == prefix and any(account in part for part in call))
    return {part.removeprefix("--role=") for call in given for part in call if part.startswith("--role=")}


PREVIEW = "serviceAccount:slipway-preview@acme-ml-dev"
DEPLOY = "serviceAccount:slipway-deploy@acme-ml-dev"


class TestRoles:
    @pytest.mark.parametrize(("account", "role"), [(PREVIEW, "previewer"), (DEPLOY, "deployer")])
    def test_a_stacks_project_grants_what_the_journeys_are_run_with(
        self, calls: list[list[str]], account: str, role: str
    ) -> None:  # P5
        local = {name for name, members in identities.HOME.bindings.items() if identities.ROLES[role] in members}
        granted = roles(calls, account, "projects add-iam-policy-binding")
        assert granted == local

    def test_preview_reads_catalog_and_state_and_changes_nothing(self, calls: list[list[str]]) -> None:  # P5
        (catalog,) = [c for c in calls if "--role=roles/storage.objectViewer" in c and c[1] == "projects"]
        bucket = "projects/_/buckets/acme-ml-dev-dev-catalog"
        assert f"--condition=title=catalog,expression=resource.name.startsWith('{bucket}')" in catalog
        everything = roles(calls, PREVIEW, "")
        assert all(re.search(r"[vV]iewer$|securityReviewer$|Decrypter$", role) for role in everything), everything
        table = GUIDE.split("## The identities")[1].split("\n## ")[0]
        granted = (everything | roles(calls, DEPLOY, "")) - {"roles/iam.workloadIdentityUser"}
        assert granted == set(re.findall(r"roles/[\w.]+", table))

    def test_the_deployer_can_hand_out_the_submitters_roles_only(self, calls: list[list[str]]) -> None:
        (binding,) = [call for call in calls if "--role=roles/resourcemanager.projectIamAdmin" in call]
        assert "modifiedGrantsByRole" in binding[-1]
        assert set(re.findall(r"'(roles/[^']+)'", binding[-1])) == {
            "roles/aiplatform.user",
            "roles/cloudquotas.viewer",
            "roles/monitoring.viewer",
            "roles/logging.viewer",
        }


def lent(calls: list[list[str]], pool: str) -> list[list[str]]:
    """Return whom an account is lent to, in the calls' order, each with the account."""
    found = [c for c in calls if "--role=roles/iam.workloadIdentityUser" in c]
    members = [next(part for part in call if part.startswith("--member=")) for call in found]
    whom = [member.partition(f"/workloadIdentityPools/{pool}/attribute.")[2] for member in members]
    return [[call[4].partition("@")[0], member] for call, member in zip(found, whom, strict=True)]


LENT = [
    ["slipway-preview", "event/pull_request"],
    ["slipway-preview", "deployment/refs/heads/main:none"],
    ["slipway-deploy", "deployment/refs/heads/main:dev"],
    ["slipway-deploy", "deployment/refs/heads/main:dev-schedule"],
]
"""A pull request, and main without an environment, are lent the reader; main in the stack's environments the other."""


class TestTrust:
    def test_only_this_repository_is_let_in(self, calls: list[list[str]]) -> None:
        (provider,) = [call for call in calls if "create-oidc" in call]
        assert "--attribute-condition=assertion.repository_id == '4711'" in provider
        assert "--issuer-uri=https://token.actions.githubusercontent.com" in provider
        (mapping,) = [part for part in provider if part.startswith("--attribute-mapping=")]
        assert [pair.split("=")[0] for pair in mapping.removeprefix("--attribute-mapping=").split(",")] == [
            "google.subject",
            "attribute.event",
            "attribute.deployment",
        ]
        assert lent(calls, "github") == LENT


class TestVariables:
    def test_the_guide_sets_what_the_workflows_read(
        self, calls: list[list[str]], workflows: dict[str, Workflow]
    ) -> None:
        text = "".join(workflow.text for workflow in workflows.values())
        read = set(re.findall(r"vars\.([A-Z_]+)", text)) | set(re.findall(r"vars\[format\('([A-Z_]+)_\{0\}'", text))
        elsewhere = (ROOT / "docs" / "backends.md").read_text()
        read -= set(re.findall(r"`((?:PREVIEW|DEPLOY)_BACKEND_IDENTITY)", elsewhere))
        told = {call[3].removesuffix("_dev") for call in calls if call[:3] == ["gh", "variable", "set"]}
        assert told == read
        assert all(f"`{name}" in GUIDE.split("## Variables")[1] for name in read)

    def test_the_deployer_is_known_to_its_environment_only(self, calls: list[list[str]]) -> None:
        told = [call for call in calls if "DEPLOY_SERVICE_ACCOUNT" in call]
        assert [call[call.index("--env") + 1] for call in told] == ["dev", "dev-schedule"]


def test_the_checks_to_require_are_reported_by_jobs_of_those_names(workflows: dict[str, Workflow]) -> None:  # D7
    required = re.findall(r"`(\w+)`", GUIDE.split("require the checks ")[1].split(";")[0])
    assert required == ["test", "check", "previewed", "reviewed"]
    jobs = workflows["preview"].jobs()
    for name in required:
        assert "strategy" not in jobs[name], "a matrix reports under names with its values"
        assert jobs[name].get("if", "always()") == "always()", "a skipped check counts as passed"
