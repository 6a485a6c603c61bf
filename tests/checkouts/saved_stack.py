"""A deployed stack that the engine makes once in a run, and tests then copy: its cloud's state, its checkout and the
engine's state. A test that begins with a deployed stack need not deploy it."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.local.conftest import FAST, LocalCloud

from .checkout import Checkout
from .fixtures import NewCheckout

FAST_FLAGS = tuple(word for setting in FAST for word in ("--set", setting))
_CLOUD, _CHECKOUT, _ENGINE = "cloud", "checkout", "engine"
_OF_ITS_PROCESS = ("cloud.json", "cloud.log")


@dataclass(frozen=True)
class SavedStack:
    folder: Path

    @property
    def told(self) -> str:
        """Return the output of its `pulumi up`."""
        return (self.folder / "told").read_text()

    def put_cloud(self, folder: Path) -> None:
        """Put what its cloud has into the state folder of a cloud that is not started yet."""
        shutil.copytree(self.folder / _CLOUD, folder, ignore=shutil.ignore_patterns(*_OF_ITS_PROCESS))

    def put(self, checkout: Checkout) -> None:
        """Make an empty stack on such a cloud the deployed one."""
        for saved, own in ((_CHECKOUT, checkout.folder), (_ENGINE, checkout.state)):
            shutil.copytree(self.folder / saved, own, dirs_exist_ok=True)


def make(folder: Path, new_checkout: NewCheckout) -> None:
    """Deploy it in an empty folder, as a new checkout is written."""
    cloud = LocalCloud(folder / _CLOUD)
    cloud.up(*FAST_FLAGS)
    try:
        (folder / "told").write_text(new_checkout(folder, cloud).up())
    finally:
        cloud.command("down")
