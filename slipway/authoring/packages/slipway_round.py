"""The objects of a round in which a job is asked to make room, as whoever asks and the job's launcher know them.

Below the claim of a job are in `yield/`, by number: what was `asked`; for whom `also`, by their claims; its `end`,
created once, by the job's chief with `made`, after which no replica starts the code again, or with `kept` by whoever
finds that it need not; and for each replica that nothing of it runs any more (`left`). The job behind knows which
number it goes on `after`.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple, Tuple  # noqa: UP035 (Python 3.8)

MADE, KEPT = b"made", b"kept"
CHECKPOINT = re.compile("checkpoint|ckpt", re.IGNORECASE)


class Asked(NamedTuple):
    """Who asked a job to make room, and for whom."""

    by: str
    #: The other job, with its owner.
    whom: str
    #: The seconds after which it ends without a new checkpoint.
    within: float
    #: The request id of the job behind.
    behind: str
    #: The names of claims beside its own: once one of them is taken, no room is needed, but for jobs that count on it
    #: also.
    needless: Tuple[str, ...]  # noqa: UP006 (Python 3.8)

    def packed(self) -> bytes:
        return json.dumps(self._asdict()).encode()

    @classmethod
    def read(cls, packed: bytes) -> Asked:
        known = json.loads(packed)
        fields = {name: known[name] for name in cls._fields}
        return cls(**{**fields, "needless": tuple(fields["needless"])})
