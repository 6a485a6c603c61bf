"""The recorder `python -m tests.checkouts.record_earlier COMMIT FILE`, for what an earlier release left in the cloud.

It runs in a worktree of that commit, by its code alone, with this file and `wait.py` beside it: the engine deploys on
the commit's own local cloud, a job is submitted and runs, an edit makes a new generation beside the busy cluster, and
another job runs there. The record has the service's answers on all of it, and the output of `pulumi stack export`: no
path of a machine, no token, no key.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

STACK = "earlier"
DISK = {"disk": {"type": "pd-ssd", "sizeGb": 100}}
CONFIG = {
    "templates": ["wait"],
    "workspace": {"submitters": ["group:ml-engineers@slipway.example", "user:bob@slipway.example"], "code": True},
}


def clusters(most: int) -> dict[str, Any]:
    pools = {
        "head": {"machine": "n1-standard-4", **DISK, "replicas": 1},
        "workers": {"machine": "n1-standard-8", **DISK, "replicas": {"min": 1, "max": most}},
    }
    return {"cpu": {"pools": pools, "labels": {"team": "vision"}}}


def record(folder: Path) -> dict[str, Any]:
    """Deploy, submit, deploy an edit, submit, and read the result."""
    from local.engine.engine import ensure
    from local.plugin import installation
    from tests.checkouts import checkout as checkouts
    from tests.checkouts import empty_stack, wait
    from tests.checkouts.shell import wait_for
    from tests.local.conftest import FAST, LocalCloud

    cloud = LocalCloud(folder / "cloud")
    cloud.up(*[word for setting in FAST for word in ("--set", setting)])
    try:
        engine, home = ensure(print).bin, folder / "pulumi-home"
        installation.install(home, Path(sys.executable))
        (folder / "empty").mkdir()
        empty = empty_stack.make(folder / "empty", engine, home)
        make = partial(checkouts.make_checkout, engine=engine, home=home, empty=empty, files=wait.lay_out)
        made = make(folder, cloud, STACK)
        before, jobs = granted(cloud), []
        for most in (3, 4):
            made.write(persistentResources=clusters(most), **CONFIG)
            made.up()
            done = made.slipway("submit", "wait", "--capacity", "pool", "--output", "json")
            assert done.code == 0, done.said
            jobs.append(done.json["job"]["name"])
            wait_for(lambda: made.job_state(jobs[-1]) == "JOB_STATE_RUNNING", "the job runs")
        config = yaml.safe_load(made.file.read_text())["config"]
        exported = made.run("pulumi", "stack", "export", "--show-secrets", "--stack", STACK, role="deployer")
        assert exported.code == 0, exported.said
        grants = [one for one in granted(cloud) if one not in before]
        return {"config": config, "state": plain(exported.json, str(folder)), "grants": grants, **facts(cloud, jobs)}
    finally:
        cloud.local("down")


def facts(cloud: Any, jobs: list[str]) -> dict[str, Any]:
    """Return the stack's live resources, as the services describe them."""
    from tests.checkouts.checkout import PROJECT, VERTEX

    accounts = cloud.rest("GET", f"/v1/projects/{PROJECT}/serviceAccounts").get("accounts", [])
    buckets = cloud.rest("GET", f"/storage/v1/b?project={PROJECT}").get("items", [])
    return {
        "accounts": [
            {**one, "policy": cloud.rest("POST", f"/v1/{one['name']}:getIamPolicy", {})}
            for one in accounts
            if f"slipway-{STACK}-" in one["email"]
        ],
        "buckets": [
            {
                **one,
                "policy": cloud.rest("GET", f"/storage/v1/b/{one['name']}/iam"),
                "objects": [] if one["name"].endswith("-work") else objects(cloud, one["name"]),
            }
            for one in buckets
        ],
        "clusters": cloud.every(f"{VERTEX}/persistentResources", "persistentResources"),
        "jobs": [cloud.rest("GET", f"/v1/{name}") for name in jobs],
    }


def granted(cloud: Any) -> list[list[str]]:
    """Return the project's roles, each with one member."""
    from tests.checkouts.checkout import PROJECT

    policy = cloud.rest("POST", f"/v1/projects/{PROJECT}:getIamPolicy", {})
    return [[one["role"], member] for one in policy["bindings"] for member in one["members"]]


def objects(cloud: Any, bucket: str) -> list[Any]:
    """Return each object's name, type and content: a catalog as text, packages in base64."""
    found = []
    for one in cloud.rest("GET", f"/storage/v1/b/{bucket}/o").get("items", []):
        answer = cloud.call("GET", f"/storage/v1/b/{bucket}/o/{quote(one['name'], safe='')}?alt=media")
        answer.raise_for_status()
        is_json = one["contentType"] == "application/json"
        content = answer.json() if is_json else base64.b64encode(answer.content).decode()
        kept = {key: one[key] for key in ("name", "contentType", "cacheControl") if key in one}
        found.append({**kept, "content": content})
    return found


def plain(value: Any, folder: str) -> Any:
    """Return a state without source positions and without this machine's folders."""
    if isinstance(value, dict):
        return {key: plain(one, folder) for key, one in value.items() if key not in ("sourcePosition", "stackTrace")}
    if isinstance(value, list):
        return [plain(one, folder) for one in value]
    return value.replace(folder, "/earlier") if isinstance(value, str) else value


def main(commit: str, file: Path) -> None:
    here = Path(__file__)
    root = here.parents[2]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--detach", "-q", tree, commit], cwd=root, check=True)
        try:
            for one in (here, here.with_name("wait.py")):
                shutil.copy(one, tree / "tests" / "checkouts")
            command = [sys.executable, "-m", "tests.checkouts.record_earlier", f"{folder}/run"]
            environ = {**os.environ, "PYTHONPATH": str(tree)}
            done = subprocess.run(command, cwd=tree, env=environ, stdout=subprocess.PIPE, text=True, check=True)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=root, check=True)
    said = json.loads(done.stdout.splitlines()[-1])
    file.write_text(json.dumps({"commit": commit, **said}, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        made = Path(sys.argv[1])
        made.mkdir()
        print(json.dumps(record(made)))
    else:
        main(sys.argv[1], Path(sys.argv[2]))
