"""Canaries as a job's variables, secrets and addresses: each is seen only where the documentation says."""

import base64
import contextlib
import json
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.checkouts.checkout import PROJECT, Checkout
from tests.end_to_end.test_own_image import trainer
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey
VARIABLE, IN_FILE, VALUE, ADDRESS = (f"canary-{kind}-7f3e9a" for kind in ("variable", "file", "value", "address"))
URL = f"https://127.0.0.1:9/services/{ADDRESS}"
NOBODY_LISTENS = {"SLIPWAY_NOTIFY": f"{URL}-own"}


def secret(checkout: Checkout, name: str, value: str) -> None:
    """Make a secret that jobs may read."""
    at, data = f"/v1/projects/{PROJECT}/secrets", base64.b64encode(value.encode()).decode()
    checkout.cloud.rest("POST", f"{at}?secretId={name}", {"replication": {"automatic": {}}})
    checkout.cloud.rest("POST", f"{at}/{name}:addVersion", {"payload": {"data": data}})
    reader = {"role": "roles/secretmanager.secretAccessor", "members": [f"serviceAccount:{trainer(checkout)}"]}
    checkout.cloud.rest("POST", f"{at}/{name}:setIamPolicy", {"policy": {"bindings": [reader]}})


@contextmanager
def watched_commands() -> Iterator[set[str]]:
    """Yield the commands of all processes that run meanwhile."""
    seen: set[str] = set()
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.05):
            for process in psutil.process_iter():
                with contextlib.suppress(psutil.Error, OSError):
                    seen.add(" ".join(process.cmdline()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        ended.set()
        watcher.join()


def holding(folder: Path, canary: str, *besides: Path) -> list[Path]:
    """Return the files below a folder that have a canary in plain text."""
    found = []
    for parent, _, names in os.walk(folder):
        for file in (Path(parent, name) for name in names):
            if any(file.is_relative_to(other) for other in besides):
                continue
            with contextlib.suppress(FileNotFoundError):  # The local cloud deletes the environments of ended jobs.
                if file.is_file() and canary.encode() in file.read_bytes():
                    found.append(file)
    return found


@pytest.mark.deployed
def test_each_secret_is_seen_only_where_the_docs_say(checkout: Checkout) -> None:
    secret(checkout, "token", VALUE)
    secret(checkout, "room", URL)
    env_file = checkout.folder / "job.env"
    env_file.write_text(f"FROM_FILE={IN_FILE}\n")
    for part in ("templates/script.py", "jobs/script"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, checkout.folder / part)
    checkout.write(templates=["nap", "script"])
    checkout.up()
    (checkout.folder / ".slipwayignore").write_text("stacks\njob.env\n")
    (checkout.folder / "mine").mkdir()
    (checkout.folder / "mine" / "word.py").write_text("print('well')\n")
    (checkout.folder / "grid.yaml").write_text("grid: {say: [one, two]}\n")
    flags = ("--env", "WORD", "--env-file", str(env_file), "--secret", "TOKEN=token", "--notify", "room")
    verbs = {
        "one": ("submit", "nap", "-p", "say=hello", "--wait", "--request-id", "one", *flags),
        "fails": ("submit", "nap", "-p", "say=hello", "-p", "end=badly", "--wait", "--request-id", "fails", *flags),
        "many": ("submit", "nap", "-p", "end=badly", "--sweep", "grid.yaml", "--request-id", "many", "--wait", *flags),
        "wrong": ("submit", "nap", "-p", "say=hello", "--notify", URL),
        "ran": (
            "run",
            "--machine",
            "n1-standard-4",
            "--request-id",
            "ran",
            "--code",
            "mine",
            *flags,
            "--",
            "python",
            "word.py",
        ),
        "held": ("session", "start", "--machine", "n1-standard-4", "--name", "held", "--yes", *flags),
        "in it": ("session", "run", "--session", "held", "--code", "mine", "--", "python", "word.py"),
        "let go": ("session", "stop", "held"),
        "dry": ("submit", "nap", "-p", "say=hello", "--dry-run", *flags),
        "again": ("submit", "--like", "one", "--dry-run"),
    }
    said: dict[str, str] = {}
    with watched_commands() as commands:
        for name, verb in verbs.items():
            said[name] = checkout.slipway(*verb, WORD=VARIABLE, **NOBODY_LISTENS).said
        for name in ("one", "fails"):
            job = checkout.jobs(name)[0]["displayName"]
            said[f"{name} shown"] = checkout.slipway("jobs", "show", job).said
            said[f"{name} logs"] = checkout.slipway("jobs", "logs", job).said
        said["doctor"] = checkout.slipway("doctor", "--webhook", URL, role="deployer").said
    requests = json.dumps(checkout.jobs())
    assert len(checkout.jobs()) == 6, said["held"]
    assert [name for name, text in said.items() if "No such option" in text] == [], said
    assert "nobody was told" in said["one"] and "was told" in said["one logs"], said
    assert any("nap.task" in command for command in commands), "jobs are seen"
    assert VARIABLE in requests and IN_FILE in requests, "anyone who can list jobs reads plain variables"
    assert "--env WORD " in said["many"] and VARIABLE not in said["many"], "the command to type has the name alone"
    cloud, vault = checkout.cloud.state, checkout.cloud.state / "secrets"
    for canary in (VALUE, ADDRESS):
        assert canary not in requests
        assert [name for name, text in said.items() if canary in text] == [], said
        assert [command for command in commands if canary in command] == []
        assert holding(cloud, canary, vault) == [] and holding(checkout.folder, canary) == []
        assert holding(checkout.state, canary) == []
    assert holding(cloud, VARIABLE), "what is looked for is found"
    for canary in (VARIABLE, IN_FILE):
        assert [name for name, text in said.items() if canary in text and name.endswith("logs")] == []
        assert [command for command in commands if canary in command] == []
        for file in holding(checkout.folder, canary, env_file):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
