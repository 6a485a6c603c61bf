"""A bucket of the local cloud, servers between a replica and that cloud: its metadata, and a storage that fails; and
the replica's machine."""

from __future__ import annotations

import compileall
import json
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

from slipway.authoring.packages import source_package
from slipway.authoring.packages.slipway_results import CHIEF, Results
from slipway.authoring.packages.slipway_storage import Storage
from tests import loopback

if TYPE_CHECKING:
    from tests.local.conftest import LocalCloud

PROJECT = "local-project"

EMAIL = "trainer@local-project.iam.gserviceaccount.com"


class Handler(loopback.Handler):
    """A handler that serves a replica's token and hands everything else on to the cloud, unless it is told to fail
    first."""

    token: str
    cloud: str
    faults: list[
        int | str | None
    ]  # an HTTP status to answer, "lost" (done, not answered), "half" (of an answer), "silent" (not done) or None

    calls = 0

    def do_GET(self) -> None:
        if self.path.startswith("/computeMetadata/"):
            assert self.headers["Metadata-Flavor"] == "Google"
            token = json.dumps({"access_token": self.token, "expires_in": 3600})
            self.answer(200, (EMAIL if self.path.endswith("/email") else token).encode())
        else:
            self.hand_on()

    def hand_on(self) -> None:
        body = self.body()
        type(self).calls += 1
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, int):
            self.answer(fault, b'{"error": {"message": "made up"}}')
        if fault == "silent":
            self.connection.close()
        if isinstance(fault, int) or fault == "silent":
            return
        headers = {"Authorization": self.headers["Authorization"]}
        headers["Content-Type"] = self.headers.get("Content-Type", "text/plain")
        headers |= {name: self.headers[name] for name in ("Range", "Accept-Encoding") if name in self.headers}
        data = body if self.command == "POST" else None
        try:
            with urlopen(Request(self.cloud + self.path, data=data, headers=headers, method=self.command)) as done:
                status, content = done.status, done.read()
        except OSError as error:
            status, content = error.code, error.read()  # type: ignore[attr-defined]
        if fault == "lost":
            self.connection.close()
        else:
            self.answer(status, content, {"Content-Length": str(len(content) + 1)} if fault == "half" else None)

    do_POST = do_DELETE = hand_on


@dataclass(frozen=True)
class Between:
    """A server at `host`; `handler` has its token and faults, which tests set."""

    host: str
    handler: Any

    @property
    def environ(self) -> dict[str, str]:
        """The variables that lead a replica to it."""
        return {"GCE_METADATA_HOST": self.host, "STORAGE_EMULATOR_HOST": f"http://{self.host}"}


@contextmanager
def between(cloud: str, token: str) -> Iterator[Between]:
    handler = type("OfOneTest", (Handler,), {"token": token, "cloud": cloud, "faults": []})
    with loopback.served(handler) as url:
        yield Between(url.removeprefix("http://"), handler)


@dataclass(frozen=True)
class Bucket:
    cloud: LocalCloud
    name: str

    def objects(self, folder: str) -> list[Any]:
        page = self.cloud.rest("GET", f"/storage/v1/b/{self.name}/o?prefix={quote(folder, safe='')}")
        return list(page.get("items", []))

    def contents(self, folder: str) -> dict[str, bytes]:
        """Return what lies in a folder, by its path there."""
        get, url = self.cloud.session().get, f"{self.cloud.url}/storage/v1/b/{self.name}/o"
        return {
            name.removeprefix(folder): get(f"{url}/{quote(name, safe='')}?alt=media", timeout=30).content
            for name in (entry["name"] for entry in self.objects(folder))
        }

    def post(self, name: str, content: bytes, more: str = "") -> int:
        """Return the status with which an object is taken."""
        url = f"{self.cloud.url}/upload/storage/v1/b/{self.name}/o?uploadType=media&name={quote(name, safe='')}{more}"
        return self.cloud.session().post(url, data=content, timeout=30).status_code

    def put(self, name: str, content: bytes) -> str:
        """Return the address of a new object."""
        assert self.post(name, content) == 200
        return f"gs://{self.name}/{name}"


@cache
def _launcher() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="launcher-"))
    for name, content in source_package.launcher_sources().items():
        (folder / name).write_bytes(content)
    compileall.compile_dir(folder, quiet=1)
    return folder


def put_launcher(folder: Path) -> None:
    """Write the modules of every package, with the bytecode that an installed package has: without it each test's first
    process would compile them all."""
    shutil.copytree(_launcher(), folder, dirs_exist_ok=True)


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """Give back the signals that a launcher's command takes over where it is started in the tests' own process."""
    held = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in held.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def bucket(cloud: LocalCloud) -> Bucket:
    cloud.rest("POST", f"/storage/v1/b?project={PROJECT}", {"name": "packages-work", "location": "US-CENTRAL1"})
    return Bucket(cloud, "packages-work")


@pytest.fixture
def server(cloud: LocalCloud) -> Iterator[Between]:
    with between(cloud.url, cloud.token()) as made:
        yield made


@dataclass
class Machine:
    """A replica's machine, which may be lost: then `results` are another's."""

    server: Between
    bucket: Bucket
    folder: Path
    prefix: str
    count: int = 0

    def results(self, replica: str = CHIEF) -> Results:
        self.count += 1
        place = self.folder / str(self.count)
        place.mkdir()
        output = f"gs://{self.bucket.name}/{self.prefix}".rstrip("/")
        return Results(place, output, replica, Storage(self.server.environ))

    @property
    def kept(self) -> dict[str, bytes]:
        """Files of the output folder, by their path there."""
        return self.bucket.contents(self.prefix)

    @property
    def generations(self) -> dict[str, int]:
        """The number of each kept file, which grows with their order."""
        found = self.bucket.objects(self.prefix)
        return {version["name"].removeprefix(self.prefix): int(version["generation"]) for version in found}


@pytest.fixture
def machine(server: Between, bucket: Bucket, tmp_path: Path, request: pytest.FixtureRequest) -> Machine:
    return Machine(server, bucket, tmp_path, f"jobs/{request.node.name}/")
