"""A job is traced to the commit that defined its template, and to more than it where there was more. (N8)"""

from __future__ import annotations

import shutil

import pytest

from tests.checkouts.checkout import Checkout
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey


def git(checkout: Checkout, *words: str) -> str:
    who = {
        f"GIT_{role}_{what}": "ada@slipway.example" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    done = checkout.run("git", *words, role="deployer", **who)
    assert done.code == 0, done.said
    return done.out.strip()


def test_uncommitted_templates_are_marked_from_the_deployment_to_the_job(checkout: Checkout) -> None:
    shutil.copy(ROOT / ".gitignore", checkout.folder)
    git(checkout, "init", "-q")
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "reviewed")
    commit = git(checkout, "rev-parse", "--short=7", "HEAD")
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
