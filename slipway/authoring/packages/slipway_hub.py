"""Files of the Hugging Face hub, as a job fetches them: `hf://ORG/MODEL`, `hf://datasets/ORG/NAME@REVISION/FOLDER`."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from typing import Any, Mapping  # noqa: UP035 (Python 3.8)
from urllib.parse import quote, unquote, urlsplit

from slipway.authoring.packages.slipway_http import StorageError
from slipway.authoring.packages.slipway_storage import Storage, written

SCHEME = "hf://"
ENDPOINT = "https://huggingface.co"
_ADDRESS = re.compile(r"hf://(?:(datasets|spaces)/)?([^/@]+/[^/@]+)(?:@([^/]+))?(?:/(.*))?")


class _TokenAtHome(urllib.request.HTTPRedirectHandler):
    """Follows a redirect to another host, as large files have it, without the token."""

    def redirect_request(self, request: Any, *answer: Any) -> Any:
        there = super().redirect_request(request, *answer)
        if there and urlsplit(there.full_url)[:2] != urlsplit(request.full_url)[:2]:
            there.remove_header("Authorization")
        return there


class Hub(Storage):
    """The hub in the place of Cloud Storage, with the token in $HF_TOKEN, where the job has one."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__(environ)
        self.base = environ.get("HF_ENDPOINT", ENDPOINT).rstrip("/")
        self.open = urllib.request.build_opener(_TokenAtHome).open

    def token(self) -> str:
        return self.environ.get("HF_TOKEN", "")

    def found(self, uri: str, replica: str = "") -> dict[str, Any]:
        """The files of a repository at one commit, or of a folder or of one file there, by the path of each."""
        match = _ADDRESS.fullmatch(uri)
        if not match:
            raise StorageError(f"{uri!r} is not of the form hf://ORG/NAME or hf://datasets/ORG/NAME")
        kind, name, revision, inside = match[1] or "models", match[2], match[3] or "main", (match[4] or "").strip("/")
        at = f"/api/{kind}/{name}/revision/{quote(unquote(revision), safe='')}"
        info = self.send("GET", f"{at}?blobs=true", json.load)
        home = f"/{name}/resolve/{info['sha']}/" if kind == "models" else f"/{kind}/{name}/resolve/{info['sha']}/"
        entries: dict[str, Any] = {}
        for each in info["siblings"]:
            path = each["rfilename"]
            if not inside or path == inside or path.startswith(inside + "/"):
                inner = path[len(inside) :].lstrip("/") or path.rpartition("/")[2]
                if not {"", ".", ".."}.isdisjoint(inner.split("/")):
                    raise StorageError(f"{uri} has {path!r}, a name that no file can have")
                entries[inner] = {"size": each["size"], "path": home + quote(path)}
        return entries

    def _bring(self, entry: Any, place: Path, start: int) -> int:
        count, headers = self.part(int(entry["size"]), start)
        self.send("GET", entry["path"], written(place, start, count), headers=headers)
        return count
