"""The engine's state in a bucket of the local cloud.

The engine's storage client sends no token to an emulator and reads contents by the XML API, which the local cloud does
not serve. So it talks to a server of its own on this machine, which adds the token and translates the API.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import quote, unquote

import requests

from tests.local.conftest import LocalCloud
from tests.loopback import Handler, served

_API = ("storage/", "upload/", "download/", "batch/")
_KEPT = ("content-", "x-goog-", "range", "etag", "last-modified")


@contextmanager
def bucket_backend(cloud: LocalCloud, bucket: str) -> Iterator[Mapping[str, str]]:
    """Make the bucket, and yield the variables with which the engine keeps its state in it."""
    cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": bucket, "location": "US-CENTRAL1"})

    class Door(Handler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            path = self.path.lstrip("/")
            if not path.startswith(_API):
                name = unquote(path.partition("/")[2].partition("?")[0])
                path = f"storage/v1/b/{bucket}/o/{quote(name, safe='')}?alt=media"
            sent = {key: value for key, value in self.headers.items() if key.lower().startswith(_KEPT)}
            answer = requests.request(
                "GET" if self.command == "HEAD" else self.command,
                f"{cloud.url}/{path}",
                data=self.body(),
                headers={**sent, "Authorization": f"Bearer {cloud.token()}", "Accept-Encoding": "identity"},
                timeout=60,
            )
            kept = {
                key: value
                for key, value in answer.headers.items()
                if key.lower().startswith(_KEPT) and key.lower() != "content-length"
            }
            if "Location" in answer.headers:
                kept["Location"] = answer.headers["Location"].replace(cloud.url, door)
            self.answer(answer.status_code, answer.content, kept)

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _pass_on

        def body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "") != "chunked":
                return super().body()
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

    with served(Door) as door:
        yield {"PULUMI_BACKEND_URL": f"gs://{bucket}", "STORAGE_EMULATOR_HOST": door.removeprefix("http://")}
