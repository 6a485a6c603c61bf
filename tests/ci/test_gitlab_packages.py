"""What a job of GitLab's has before its script: packages as pinned, and whom it acts as. # D5 N5"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ci.gitlab_jobs import jobs_of
from tests.ci.gitlab_project import SETTINGS
from tests.ci.test_team_workflows import Checkout, checkout, environment  # noqa: F401 - fixtures


class TestPackages:
    """As GitHub's action installs them: `tests/ci/test_team_workflows.py`."""

    @pytest.fixture
    def installing(self, checkout: Checkout, template: Path) -> Callable[[], subprocess.CompletedProcess[str]]:  # noqa: F811
        before = "\n".join(jobs_of(template)["slipway-check"]["before_script"])

        def install() -> subprocess.CompletedProcess[str]:
            environ = {
                "PATH": f"{checkout.root.parent / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "PIP_NO_INDEX": "1",
                "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            }
            script = f"{before}\npackages\npython -I -m slipway"
            command = ["bash", "-c", script]
            return subprocess.run(command, cwd=checkout.folder, env=environ, capture_output=True, text=True)

        return install

    def test_what_is_pinned_judges(
        self,
        checkout: Checkout,  # noqa: F811
        installing: Callable[[], subprocess.CompletedProcess[str]],
    ) -> None:
        checkout.requires(checkout.pinned)
        assert installing().stdout == "the judge that was pinned\n"
        assert checkout.git("status", "--porcelain") == ""

    @pytest.mark.parametrize("pins", ["", "--hash=sha256:" + "0" * 64])
    def test_other_bytes_or_none_are_refused(
        self,
        checkout: Checkout,  # noqa: F811
        installing: Callable[[], subprocess.CompletedProcess[str]],
        pins: str,
    ) -> None:
        checkout.requires(f"slipway-vertex @ {checkout.wheel.as_uri()} {pins}\n" if pins else "")
        done = installing()
        assert done.returncode != 0 and "the judge" not in done.stdout


def test_google_s_library_reads_what_a_job_acts_with(template: Path, tmp_path: Path) -> None:
    from google.auth.identity_pool import Credentials

    before = "\n".join(jobs_of(template)["slipway-check"]["before_script"])
    environ = {"PATH": os.environ["PATH"], "SLIPWAY_ID_TOKEN": "eyJ", "TMPDIR": str(tmp_path), **SETTINGS}
    script = f'{before}\ngoogle slipway-preview@acme.iam.gserviceaccount.com\ncat "$GOOGLE_APPLICATION_CREDENTIALS"'
    done = subprocess.run(["bash", "-c", script], env=environ, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    credentials = Credentials.from_info(found)  # type: ignore[no-untyped-call]
    assert credentials.service_account_email == "slipway-preview@acme.iam.gserviceaccount.com"
    assert found["audience"] == f"//iam.googleapis.com/{SETTINGS['WORKLOAD_IDENTITY_PROVIDER']}"
    assert Path(found["credential_source"]["file"]).read_text() == "eyJ"
