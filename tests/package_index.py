"""An index of Python packages on loopback, with one package, as pip reads it."""

import base64
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

from tests import loopback

PACKAGE = "acme_words"
_FILE = f"{PACKAGE}-1.0-py3-none-any.whl"
TOKEN = "t0ken-of-the-account"


def _wheel() -> bytes:
    about = f"{PACKAGE}-1.0.dist-info"
    members = {
        f"{PACKAGE}.py": 'HELLO = "hello from the index"\n',
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 1.0\n",
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
            elif self.path == "/simple/acme-words/":
                page = f'<a href="/{_FILE}">{_FILE}</a>'.encode()
                self.answer(200, page, {"Content-Type": "text/html"})
            else:
                self.answer(*((200, _wheel()) if self.path == f"/{_FILE}" else (404, b"")))

    with loopback.served(Handler) as url:
        yield url.removeprefix("http://")
