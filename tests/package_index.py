"""An index of Python packages on loopback, with two packages, as pip reads it."""

import base64
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

from tests import loopback

VERSIONS = {"acme_words": "1.0", "joblib": "9.0"}
"""A package of one's own, and another version of one that images have."""
TOKEN = "t0ken-of-the-account"


def _file(package: str) -> str:
    return f"{package}-{VERSIONS[package]}-py3-none-any.whl"


def _wheel(package: str) -> bytes:
    about = f"{package}-{VERSIONS[package]}.dist-info"
    members = {
        f"{package}.py": 'HELLO = "hello from the index"\n',
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {VERSIONS[package]}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: by-hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return buffer.getvalue()


@contextmanager
def served(*, signed_in: bool = False) -> Iterator[str]:
    """Serve, and yield the host. `signed_in`: only to who shows the token that a metadata server there gives."""
    allowed = "Basic " + base64.b64encode(f"oauth2accesstoken:{TOKEN}".encode()).decode()

    class Handler(loopback.Handler):
        def do_GET(self) -> None:
            if self.path.startswith("/computeMetadata/"):
                self.answer(200, json.dumps({"access_token": TOKEN}).encode())
            elif signed_in and self.headers["Authorization"] != allowed:
                self.answer(401, headers={"WWW-Authenticate": "Basic"})
                return
            for package in VERSIONS:
                if self.path == f"/simple/{package.replace('_', '-')}/":
                    page = f'<a href="/{_file(package)}">{_file(package)}</a>'.encode()
                    self.answer(200, page, {"Content-Type": "text/html"})
                    return
                if self.path == f"/{_file(package)}":
                    self.answer(200, _wheel(package))
                    return
            self.answer(404)

    with loopback.served(Handler) as url:
        yield url.removeprefix("http://")
