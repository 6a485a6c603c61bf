"""A vault on this machine that holds the keys of stacks' secrets, as a KMS does for stacks that people share.

With a passphrase instead, as on a laptop, each run of the engine derives its key by a million rounds of a hash: a tenth
of the run's cost. Tests of a passphrase have one: the demo's, and the stacks of `tests/ci`.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.loopback import Handler, served

KEY = "hashivault://stacks"


@contextmanager
def serving() -> Iterator[Mapping[str, str]]:
    """Yield the variables by which the engine finds the vault. Its ciphertext is readable: nothing here is secret."""
    with served(_Transit) as url:
        yield {"VAULT_SERVER_URL": url, "VAULT_SERVER_TOKEN": "any"}


class _Transit(Handler):
    """The calls `PUT /v1/transit/encrypt/KEY` and `…/decrypt/KEY`, as HashiCorp's Vault has them."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one write an answer

    def do_PUT(self) -> None:
        sent = json.loads(self.body())
        if self.path.startswith("/v1/transit/encrypt/"):
            answer = {"ciphertext": f"vault:v1:{sent['plaintext']}"}
        else:
            answer = {"plaintext": sent["ciphertext"].rpartition(":")[2]}
        self.answer(200, json.dumps({"data": answer}).encode(), {"Content-Type": "application/json"})
