"""`cancelling.py TEMPLATE [WAIT]`: a person who submits a job, and cancels it while it moves on, or at once where it
waits for nothing. Once that is done, nothing of it may be left; the same again sees to it after any trouble."""

from __future__ import annotations

import logging
import sys
import threading
from contextlib import suppress
from typing import Any

import slipway
from slipway.base.errors import Cancelled, ResourceError, SlipwayError
from slipway.base.standard_output import exit_after

REQUEST = "wanted"
_MOVES = "moves on"


class Moving(logging.Handler):
    """A reader of the messages of a submission that waits for the one that it moves on."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.seen = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        print(record.getMessage(), file=sys.stderr, flush=True)
        if _MOVES in record.getMessage():
            self.seen.set()


def main(template: str, wait: str = "") -> int:
    """Return 0 once the submission is cancelled, else the code of the first error, which is told."""
    moving, problems = Moving(), list[SlipwayError]()
    log = logging.getLogger("slipway")
    log.setLevel(logging.INFO)
    log.addHandler(moving)
    # The machines of the pool do not come, and on others it runs for long.
    plan: dict[str, Any] = {"capacity": "pool"}
    if wait:
        plan = {"wait_for": {"pool": wait}, "then": ["spot"], "seconds": 80_000.0}

    def send() -> None:
        try:
            slipway.submit(template, say="hello", request_id=REQUEST, **plan)
        except Cancelled:
            pass
        except SlipwayError as problem:
            problems.append(problem)
        finally:
            moving.seen.set()

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    moving.seen.wait()
    if not problems:
        try:
            job = slipway.job(REQUEST)
            with suppress(ResourceError, Cancelled):  # An earlier one of these runs has cancelled it.
                job.cancel()
                job.wait()
        except SlipwayError as problem:
            problems.append(problem)
    sender.join()
    for each in problems:
        print(each.render(), file=sys.stderr, flush=True)
    return problems[0].exit_code if problems else 0


if __name__ == "__main__":
    exit_after(lambda: main(*sys.argv[1:]))
