"""A job is traced to the commit that defined its template, and to more than it where there was more. (N8)"""

import shutil

import pytest

from tests.checkouts.checkout import Checkout
from tests.checkouts.git import git
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey


@pytest.mark.deployed
def test_uncommitted_templates_are_marked_from_the_deployment_to_the_job(checkout: Checkout) -> None:
    shutil.copy(ROOT / ".gitignore", checkout.folder)
    git(checkout.folder, "init", "-q")
    git(checkout.folder, "add", ".")
    git(checkout.folder, "commit", "-qm", "reviewed")
    commit = git(checkout.folder, "rev-parse", "--short=7", "HEAD")
    clean = checkout.pulumi("preview", SLIPWAY_COMMIT=commit)
    assert clean.code == 0 and f"{checkout.stack} @ {commit}\n" in clean.out, clean.said

    template = checkout.folder / "templates" / "nap.py"
    template.write_text(template.read_text().replace("says a word and sleeps", "says another word"))
    up = checkout.pulumi("up", SLIPWAY_COMMIT=commit)
    assert up.code == 0 and f"{checkout.stack} @ {commit} with local changes\n" in up.out, up.said
    submitted = checkout.slipway("submit", "nap", "-p", "say=hello", "--request-id", "traced", "--wait")
    assert submitted.out.startswith(f"nap  @ {commit}-dirty  →  "), submitted.said
    (job,) = checkout.jobs()
    assert (job["labels"]["slipway-commit"], job["labels"]["slipway-commit-dirty"]) == (commit, "true")
    shown = checkout.slipway("jobs", "show", job["displayName"])
    assert f"commit     {commit} with local changes" in shown.out.splitlines()
    assert "template   nap  templates/nap.py:6" in shown.out.splitlines()
