"""A Hugging Face hub on loopback: one gated repository of any name, model or dataset."""

import contextlib
import json
from collections.abc import Iterator, Mapping

from tests.loopback import Handler, served

GOOD, STRANGER, UNKNOWN = "hf_good", "hf_has_not_accepted", "hf_unknown"
_SHA = "0" * 39 + "1"


@contextlib.contextmanager
def serving(files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield its address. It gives the files to the token GOOD, and lists them to every token that it knows."""

    class Hub(Handler):
        def do_GET(self) -> None:
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            name = self.path.partition("/resolve/")[2].partition("/")[2]
            if token == UNKNOWN:
                self.answer(401, headers={"X-Error-Message": "Invalid credentials in Authorization header"})
            elif "/tree/" in self.path:
                tree = [{"type": "file", "path": file, "size": len(files[file]), "oid": _SHA} for file in files]
                self.answer(200, json.dumps(tree).encode())
            elif not name:
                siblings = [{"rfilename": file} for file in files]
                self.answer(200, json.dumps({"id": "one/repository", "sha": _SHA, "siblings": siblings}).encode())
            elif token != GOOD:
                headers = {"X-Error-Code": "GatedRepo", "X-Error-Message": "you are not in the authorized list"}
                self.answer(403, headers=headers)
            else:
                self.answer(200, files[name], {"ETag": f'"{name}"', "X-Repo-Commit": _SHA})

        do_HEAD = do_GET

    with served(Hub) as url:
        yield url
