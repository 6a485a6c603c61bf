"""The official message types, loaded when they are first needed."""

import subprocess
import sys

from tests.local.conftest import ROOT

AT_ONCE = """
import threading
from local.cloud.vertex.messages import MESSAGES

ready, found = threading.Barrier(8), []

def parse():
    ready.wait()
    found.append(MESSAGES.parse("v1", "CustomJob", {"display_name": "x"}))

threads = [threading.Thread(target=parse) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(found == [{"displayName": "x"}] * 8)
"""


def test_the_first_requests_may_come_all_at_once() -> None:  # N4: a restarted cloud meets those who waited for it
    done = subprocess.run([sys.executable, "-c", AT_ONCE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
