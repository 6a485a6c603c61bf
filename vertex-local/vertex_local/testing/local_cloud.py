"""A real local cloud for tests: its own state folder, its own port, started and stopped like a person's."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from unittest import mock

import requests
from google.auth.transport.requests import AuthorizedSession
from google.oauth2.credentials import Credentials

from .. import environment, program
from ..cli.main import cli
from ..identities import PROJECT_ID
from ..server import daemon
from ..server.cloud_file import Record, process_of, read_record

FAST = (
    "submissions_per_minute=0",
    "calls_per_minute=0",
    "log_reads_per_minute=0",
    "image_builds=once",
    "replica_threads=1",
)
"""Settings for speed: the service's rate limits and images built anew for each cluster would slow a whole run; tests of
these set them. Several threads of a small model wait for each other in loops, which takes the cores from other
tests."""


@dataclass
class Calls:
    """Consecutive calls on one connection: a new connection for each was half the cost of frequent looks."""

    session: requests.Session = field(default_factory=requests.Session)
    last: float = 0.0

    def request(self, method: str, url: str, **sent: Any) -> requests.Response:
        # The cloud hangs up after five seconds, and might as this is sent.
        if time.monotonic() - self.last > 2:
            self.session.close()
        self.session.trust_env = False  # neither a proxy nor .netrc, which would be looked for each time
        try:
            return self.session.request(method, url, **sent)
        finally:
            self.last = time.monotonic()


CALLS = Calls()
ENDED = ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED")
WAIT_S = 600.0
_launch = daemon.launch


@dataclass
class LocalCloud:
    """A running local cloud. `token`, `env` and `session` are of a role: owner, deployer, previewer, submitter."""

    state: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def record(self) -> Record:
        record = read_record(self.state)
        assert record, "the local cloud was never started"
        return record

    @property
    def url(self) -> str:
        return self.record.url

    def token(self, role: str = "owner", project: str = PROJECT_ID) -> str:
        known = self.record.token(project, role)
        assert known, f"{role} of {project}"
        return known

    def env(self, role: str = "owner", project: str = PROJECT_ID) -> dict[str, str]:
        """Return the environment of a process that talks to this cloud (without the engine's variables)."""
        return {**self.base_env(), **environment.of_role(self.record, role, project)}

    def base_env(self) -> dict[str, str]:
        return {**os.environ, "VERTEX_LOCAL_STATE": str(self.state), "VERTEX_LOCAL_PORT": "0", **self.variables}

    def credentials(self, role: str = "owner", project: str = PROJECT_ID) -> Credentials:
        return Credentials(self.token(role, project))  # type: ignore[no-untyped-call]

    def to_client(self, role: str = "owner", project: str = PROJECT_ID) -> dict[str, Any]:
        """Return what Google's generated clients are made with, to speak REST with this cloud."""
        options = {"api_endpoint": self.url}
        return {"transport": "rest", "client_options": options, "credentials": self.credentials(role, project)}

    def session(self, role: str = "owner") -> AuthorizedSession:
        return AuthorizedSession(self.credentials(role))  # type: ignore[no-untyped-call]

    def rest(self, method: str, path: str, body: Any = None, role: str = "owner") -> Any:
        """Send one call; return the answer's JSON. Raises requests.HTTPError."""
        answer = self.call(method, path, role, json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def call(
        self, method: str, path: str, role: str = "owner", content_type: str | None = None, **sent: Any
    ) -> requests.Response:
        """Send one call with any content; return any answer."""
        headers = {"Authorization": f"Bearer {self.token(role)}", "Content-Type": content_type}
        return CALLS.request(method, self.url + path, headers=headers, timeout=30, **sent)

    def every(self, path: str, key: str) -> list[Any]:
        """Return the items of a list under its key, on all of its pages: tests share clouds, and some leave many."""
        entries, token = [], ""
        while True:
            page = self.rest("GET", f"{path}{'&' if '?' in path else '?'}pageToken={token}")
            entries += page.get(key, [])
            token = page.get("nextPageToken", "")
            if not token:
                return entries

    def seen(self, name: str, holds: Callable[[Any], bool]) -> Any:
        """Return the resource with this full name as soon as it is as wanted, looking less and less often."""
        last, pause = time.monotonic() + WAIT_S, 0.05
        while not holds(body := self.rest("GET", f"/v1/{name}")):
            assert time.monotonic() < last, body
            time.sleep(pause)
            pause = min(1.5 * pause, 0.5)
        return body

    def until(self, job: str, *states: str) -> Any:
        """Return a job, by its full name, once it is in one of these states; it must not end in another."""
        answer = self.seen(job, lambda body: body["state"] in (*states, *ENDED))
        assert answer["state"] in states, answer
        return answer

    def cancel(self, job: str) -> None:
        """Cancel a job of any kind, by its full name, unless it ends by itself meanwhile."""
        try:
            self.rest("POST", f"/v1/{job}:cancel", {})
        except requests.HTTPError:
            if "endTime" not in self.rest("GET", f"/v1/{job}"):
                raise

    def lines(self, job: str, task: str = "workerpool0-0") -> list[str]:
        """Return the lines of a replica, the service or all ("") in a job's log, by its full name."""
        wanted = f'resource.labels.job_id="{job.rpartition("/")[2]}"'
        wanted += f' AND resource.labels.task_name="{task}"' if task else ""
        body = {"resourceNames": ["projects/local-project"], "filter": wanted, "orderBy": "timestamp asc"}
        entries = self.rest("POST", "/v2/entries:list", body).get("entries", [])
        return [entry.get("textPayload", "") for entry in entries]

    @staticmethod
    def launch(folder: Path, port: int, output: IO[bytes]) -> daemon.Launched:
        """Start the server's process, which a subclass may do in another way."""
        return _launch(folder, port, output)

    def command(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `vertex-local …` as a person types it, in this process: it spares a second interpreter."""
        out, err, code = io.StringIO(), io.StringIO(), 0
        with (
            mock.patch.dict(os.environ, {**self.base_env(), **variables}, clear=True),
            mock.patch.object(daemon, "launch", self.launch),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                cli(arguments, program.COMMAND)
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 0
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    def started(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start the same as a process of its own, which runs beside others."""
        return subprocess.Popen(
            [*program.module_command(sys.executable, "cli.main"), *arguments],
            env={**self.base_env(), **program.module_path(), **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def up(self, *arguments: str, **variables: str) -> None:
        done = self.command("up", *arguments, **variables)
        assert done.returncode == 0, done.stderr

    def fast(self, *settings: str) -> None:
        """Start with the settings for speed, and others."""
        self.up(*[word for setting in (*FAST, *settings) for word in ("--set", setting)])

    def kill(self) -> None:
        """kill -9, and wait until the process is gone."""
        record = self.record
        os.kill(record.pid, signal.SIGKILL)
        while process_of(record):
            time.sleep(0.01)

    def healthy(self) -> bool:
        try:
            with urllib.request.urlopen(self.url + "/healthz", timeout=5) as answer:
                return bool(json.load(answer)["service"] == "vertex-local")
        except OSError:
            return False
