"""Who may do what: each row of the page is played on a local cloud, with the roles that the workspace grants. # P5

A row has an identity, what it does, and `allowed` or `refused`. One that nobody can play fails.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from vertex_local import identities
from vertex_local.testing.bodies import cluster_body, job_body
from vertex_local.testing.calling import JOBS, PARENT, Calling, every_service
from vertex_local.wire import ApiError

from components.workspace import Workspace
from slipway.authoring.stack.config import TrainerEntry
from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import from_text
from tests.builders.stacks import workspace_entry
from tests.components.conftest import PROJECT as MOCKED
from tests.components.conftest import Decided, composed

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| (allowed|refused) \| ([^|]+) \|$", re.MULTILINE)
ROWS = tuple((who, does, verdict) for who, does, verdict, _ in ROW.findall(PAGE))

PROJECT = identities.PROJECT_ID
AT = f"{PROJECT}.iam.gserviceaccount.com"
TRAINER = f"slipway-local-trainer@{AT}"
EVALS = f"slipway-local-evals@{AT}"
CATALOG, WORK = "acme-catalog", "acme-work"
TEAM, READER = "group:ml-engineers@company.example", "user:rita@company.example"

WHO: Mapping[str, str] = {
    "a submitter": identities.ROLES["submitter"],
    "a submitter of `evals` alone": "user:eva@company.example",
    "a job": f"serviceAccount:{TRAINER}",
    "a job of `evals`": f"serviceAccount:{EVALS}",
    "a job that names no account": f"serviceAccount:{identities.CUSTOM_CODE_AGENT}",
    "whoever may read the catalog's bucket": READER,
    "CI on a pull request": identities.ROLES["previewer"],
    "CI on main": identities.ROLES["deployer"],
    "an owner of the project": identities.ROLES["owner"],
    "anybody else": "user:eve@elsewhere.example",
}


def reads(bucket: str, name: str) -> Callable[[Calling, str], object]:
    return lambda cloud, who: cloud.call("GET", f"/storage/v1/b/{bucket}/o/{name}", role=who)


def writes(bucket: str, name: str) -> Callable[[Calling, str], object]:
    path = f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}"
    return lambda cloud, who: cloud.call("POST", path, raw=b"other", role=who)


def removes(bucket: str, name: str) -> Callable[[Calling, str], object]:
    def act(cloud: Calling, who: str) -> None:
        writes(bucket, name)(cloud, identities.ROLES["owner"])
        cloud.call("DELETE", f"/storage/v1/b/{bucket}/o/{name}", role=who)

    return act


def runs(**spec: str) -> Callable[[Calling, str], object]:
    """A raw call, with an image that nobody reviewed."""
    return lambda cloud, who: cloud.call("POST", JOBS, job_body(spec=spec), role=who)


def gets_token(account: str) -> Callable[[Calling, str], object]:
    path = f"/v1/projects/-/serviceAccounts/{account}:generateAccessToken"
    return lambda cloud, who: cloud.call(
        "POST", path, {"scope": ["https://www.googleapis.com/auth/cloud-platform"]}, role=who
    )


def secret(name: str) -> Callable[[Calling, str], object]:
    path = f"/v1/projects/{PROJECT}/secrets/{name}/versions/latest:access"
    return lambda cloud, who: cloud.call("GET", path, role=who)


def cancels(cloud: Calling, who: str) -> None:
    cloud.call("POST", f"/v1/{cloud.job()['name']}:cancel", {}, role=who)


def reads_logs(cloud: Calling, who: str) -> None:
    cloud.call("POST", "/v2/entries:list", {"resourceNames": [f"projects/{PROJECT}"]}, role=who)


def makes_cluster(cloud: Calling, who: str) -> None:
    number = len(cloud.call("GET", f"/v1/{PARENT}/persistentResources").get("persistentResources", []))
    path = f"/v1/{PARENT}/persistentResources?persistentResourceId=cluster-{number}"
    cloud.call("POST", path, cluster_body(), role=who)


def grants(cloud: Calling, who: str) -> None:
    policy = cloud.call("POST", f"/v1/projects/{PROJECT}:getIamPolicy", {})
    cloud.call("POST", f"/v1/projects/{PROJECT}:setIamPolicy", {"policy": policy}, role=who)


DOES: Mapping[str, Callable[[Calling, str], object]] = {
    "reads the catalog": reads(CATALOG, "catalog.json"),
    "rewrites the catalog": writes(CATALOG, "catalog.json"),
    "records what pools have": writes(CATALOG, "history/samples/2026-11-20.json"),
    "reads the results of others": reads(WORK, "model"),
    "adds results": writes(WORK, "mine"),
    "deletes the results of others": removes(WORK, "theirs"),
    "runs any code as the trainer": runs(serviceAccount=TRAINER),
    "runs any code as `evals`": runs(serviceAccount=EVALS),
    "runs any code as the deployer": runs(serviceAccount=identities.DEPLOYER),
    "runs any code as no account": runs(),
    "takes a token of the trainer": gets_token(TRAINER),
    "reads a secret that the trainer reads": secret("hf-token"),
    "reads a secret that `evals` reads": secret("judge-key"),
    "cancels a job of somebody else": cancels,
    "reads the logs of all jobs": reads_logs,
    "makes a cluster": makes_cluster,
    "changes who may do what": grants,
}


def workspace() -> Iterator[tuple[str, str, str]]:
    """What the component grants: the path of the policy, role and member."""
    settings = workspace_entry((TEAM,), CATALOG, WORK, TRAINER.partition("@")[0])
    evals = TrainerEntry(account=EVALS.partition("@")[0], submitters=(WHO["a submitter of `evals` alone"],))
    asked = composed(lambda: Workspace("workspace"), Decided(settings=settings, trainers={"evals": evals}))
    paths = {
        "gcp:storage/bucketIAMMember:BucketIAMMember": "/storage/v1/b/{bucket}/iam",
        "gcp:projects/iAMMember:IAMMember": "/v1/projects/{project}:setIamPolicy",
        "gcp:serviceaccount/iAMMember:IAMMember": "/v1/{serviceAccountId}:setIamPolicy",
    }
    for request in asked:
        if request.type in paths:
            # The mocks give every account the address that it would have in a project of theirs.
            inputs = json.loads(json.dumps(request.inputs).replace(MOCKED, PROJECT))
            yield paths[request.type].format(**inputs), inputs["role"], inputs["member"]


def grant(cloud: Calling, path: str, role: str, member: str) -> None:
    """To a policy, as the provider's member resources do it."""
    if path.startswith("/storage"):
        policy = cloud.call("GET", path)
    else:
        policy = cloud.call("POST", path.replace(":setIamPolicy", ":getIamPolicy"), {})
    binding = {"role": role, "members": [member]}
    changed = {**policy, "bindings": [*policy.get("bindings", []), binding]}
    if path.startswith("/storage"):
        cloud.call("PUT", path, changed)
    else:
        cloud.call("POST", path, {"policy": changed})


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Calling]:
    """A local cloud with a stack's workspace, a published catalog, a result, and a secret for each trainer."""
    with every_service(tmp_path_factory.mktemp("security") / "state") as cloud:
        for bucket in (CATALOG, WORK):
            cloud.call("POST", f"/storage/v1/b?project={PROJECT}", {"name": bucket})
        accounts = f"/v1/projects/{PROJECT}/serviceAccounts"
        for account in (TRAINER, EVALS):
            cloud.call("POST", accounts, {"accountId": account.partition("@")[0]})
        for path, role, member in workspace():
            grant(cloud, path, role, member)
        grant(cloud, f"/storage/v1/b/{CATALOG}/iam", "roles/storage.objectViewer", READER)
        owner = identities.ROLES["owner"]
        writes(CATALOG, "catalog.json")(cloud, owner)
        writes(WORK, "model")(cloud, owner)
        secrets = f"/v1/projects/{PROJECT}/secrets"
        for name, reader in (("hf-token", TRAINER), ("judge-key", EVALS)):
            cloud.call("POST", f"{secrets}?secretId={name}", {"replication": {"automatic": {}}})
            data = base64.b64encode(b"a value").decode()
            cloud.call("POST", f"{secrets}/{name}:addVersion", {"payload": {"data": data}})
            bindings = [{"role": "roles/secretmanager.secretAccessor", "members": [f"serviceAccount:{reader}"]}]
            cloud.call("POST", f"{secrets}/{name}:setIamPolicy", {"policy": {"bindings": bindings}})
        yield cloud


@pytest.mark.parametrize(("who", "does", "verdict"), ROWS, ids=lambda word: str(word))
def test_each_row_is_so(deployed: Calling, who: str, does: str, verdict: str) -> None:
    assert who in WHO, f"nobody is called {who!r} here: say who that is"
    assert does in DOES, f"nothing is known as {does!r} here: say which call that is"
    access = deployed.world.access
    principal = access.identify(access.mint(WHO[who], "test"))
    assert principal is not None
    try:
        DOES[does](deployed, principal)
    except ApiError as error:
        assert error.code == 403, error
        assert verdict == "refused", error
    else:
        assert verdict == "allowed"


def test_everybody_and_everything_has_its_row_and_no_row_is_left_out() -> None:
    lines = [line for line in PAGE.splitlines() if re.search(r"\| *(allowed|refused) *\|", line)]
    assert len(lines) == len(ROWS) == len({(who, does) for who, does, _ in ROWS})
    assert {who for who, _, _ in ROWS} == set(WHO)
    assert {does for _, does, _ in ROWS} == set(DOES)
    assert ("a submitter", "runs any code as the trainer", "allowed") in ROWS, "and the page says so plainly"


def test_the_stack_file_and_the_template_that_it_shows_are_ones() -> None:
    block, keyed = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    stack = parse(from_text(block, "stacks/Pulumi.prod.yaml"))
    (chosen,) = re.findall(r"`trainer=\"(\w+)\"`", PAGE)
    assert stack.trainers[chosen].account in PAGE.partition(block)[2]
    with_key = parse(from_text(keyed, "stacks/Pulumi.prod.yaml"))
    assert with_key.workspace.kms_key == with_key.clusters[0].kms_key != ""
