"""A real local cloud for tests, forked where that can be done."""

import sys
from pathlib import Path
from typing import IO

from vertex_local.server import daemon
from vertex_local.testing import local_cloud
from vertex_local.testing.local_cloud import ENDED, FAST, WAIT_S

from tests.checkouts import forked_clouds

ROOT = Path(__file__).resolve().parents[2]


class LocalCloud(local_cloud.LocalCloud):
    """A running local cloud, which starts with its imports done."""

    @staticmethod
    def launch(folder: Path, port: int, output: IO[bytes]) -> daemon.Launched:
        start = forked_clouds.launch if sys.platform == "linux" else local_cloud.LocalCloud.launch
        return start(folder, port, output)


__all__ = ["ENDED", "FAST", "ROOT", "WAIT_S", "LocalCloud"]
