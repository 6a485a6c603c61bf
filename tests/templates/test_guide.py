"""What the pages of templates tell a reader to type is accepted. What they show is compared where each is run."""

import shlex
import subprocess
from pathlib import Path

import pytest

from tests import shipped
from tests.checkouts.shell import slipway

from .stack import Stack, told

pytestmark = pytest.mark.journey

SUBMIT = "slipway submit "


def test_every_submission_that_the_guide_tells_is_accepted(stack: Stack, tmp_path: Path) -> None:  # D3
    """Typed in a folder of one's own, which a script is run in."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "train.py").touch()
    typed = [shlex.split(action.command)[1:] for action in told() if action.command.startswith(SUBMIT)]
    assert typed
    there = shipped.templates()
    for words in (word for word in typed if word[1] in there):
        done = slipway((*words, "--dry-run"), stack.checkout.environ("submitter"), tmp_path)
        assert done.code == 0, done.said
