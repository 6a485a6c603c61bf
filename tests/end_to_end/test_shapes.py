"""Machine shapes of one job, from the stack's keys and `pulumi up` to what the code finds. (N3, N23)"""

import pytest

from tests.checkouts.checkout import Checkout
from tests.checkouts.nap import NAP

pytestmark = pytest.mark.journey

KEYS = {"best": "n1-standard-16", "usual": "n1-standard-4"}
SHAPED = (
    NAP.replace("Parameter, WorkerPool", "Parameter, Shape, WorkerPool")
    .replace('"n1-standard-4"', '"best"')
    .replace(
        "    code_flag=True,",
        """    shapes=(
        Shape((WorkerPool("sleeper", "usual", Disk("pd-ssd", 100), args=("--say=${say}",)),), ("pool",)),
    ),""",
    )
    .replace('("pool", "spot")', '("spot",)')
)
TELLS = """
import os

for name in ("SHAPE", "REPLICAS", "GPUS", "GPU_MEMORY_GB"):
    print(name, os.environ["SLIPWAY_" + name], flush=True)
"""


@pytest.mark.deployed
def test_without_quota_for_the_best_shape_the_job_runs_on_the_next(checkout: Checkout) -> None:
    (checkout.folder / "templates" / "nap.py").write_text(SHAPED)
    (checkout.folder / "jobs" / "nap" / "task.py").write_text(TELLS)
    checkout.write(machines=KEYS)
    checkout.up()
    shown = checkout.slipway("templates", "show", "nap").out
    assert shown.index("1 sleeper n1-standard-16") < shown.index("1 sleeper n1-standard-4")
    done = checkout.slipway("submit", "nap", "-p", "say=hello", "--wait", "--request-id", "r1")
    assert done.code == 0, done.said
    assert "spot on n1-standard-16 not taken: quota" in done.said
    log = checkout.slipway("jobs", "logs", "nap").out
    assert all(line in log for line in ("SHAPE n1-standard-4", "REPLICAS 1", "GPUS 0", "GPU_MEMORY_GB 0")), log
    again = checkout.slipway("submit", "nap", "-p", "say=hello", "--request-id", "r1")
    assert again.code == 0 and len(checkout.jobs("r1")) == 1, again.said
