"""What a repository must have set before a workflow meets the cloud."""  # D5

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.ci import tools
from tests.ci.conftest import All


class TestSetup:
    """The composite action's first step refuses a half set-up repository, in words, before anything is installed."""

    @pytest.fixture
    def settings(self, workflows: All) -> dict[str, Any]:
        return next(iter(workflows["actions/stack"].steps()))

    @pytest.fixture(autouse=True)
    def checkout(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "stacks").mkdir()
        (tmp_path / "stacks" / "Pulumi.dev.yaml").touch()
        monkeypatch.chdir(tmp_path)

    def run(self, settings: dict[str, Any], **changes: str) -> subprocess.CompletedProcess[str]:
        good = {
            "STACK": "dev",
            "BACKEND_URL": "gs://acme-state",
            "PROVIDER": "projects/1/locations/global/workloadIdentityPools/github/providers/slipway",
            "SERVICE_ACCOUNT": "slipway-preview@acme-ml-dev.iam.gserviceaccount.com",
            "SECRETS_PROVIDER": "",
            "IDENTITY": "",
        }
        assert set(settings["env"]) == set(good)
        return tools.run(settings, good | changes)

    @pytest.mark.parametrize(
        "changes",
        [
            {"SECRETS_PROVIDER": "gcpkms://projects/a/locations/b/keyRings/c/cryptoKeys/d"},
            {"BACKEND_URL": "s3://acme-state?region=eu-west-1", "IDENTITY": "arn:aws:iam::1:role/slipway"},
            {"BACKEND_URL": "https://api.pulumi.com", "IDENTITY": "acme", "SECRETS_PROVIDER": "default"},
        ],
    )
    def test_a_full_set_passes(self, settings: dict[str, Any], changes: dict[str, str]) -> None:
        assert self.run(settings, **changes).returncode == 0  # N22

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"STACK": "nowhere"}, "stacks/Pulumi.nowhere.yaml does not exist"),
            (
                {"PROVIDER": "", "SERVICE_ACCOUNT": "", "BACKEND_URL": ""},
                "WORKLOAD_IDENTITY_PROVIDER is empty|service account for dev is empty|not gs://",
            ),
            ({"BACKEND_URL": "file:///tmp"}, "not gs://"),
            ({"BACKEND_URL": "s3://acme-state", "IDENTITY": "arn:aws:iam::1:role/slipway"}, "not gs://"),
            ({"BACKEND_URL": "azblob://state?storage_account=acme", "IDENTITY": "acme"}, "not gs://"),
            ({"BACKEND_URL": "https://api.pulumi.com"}, "who this job is at"),
            ({"SECRETS_PROVIDER": "passphrase"}, "not gcpkms://"),
        ],
    )
    def test_what_is_missing_is_named(self, settings: dict[str, Any], changes: dict[str, str], words: str) -> None:
        """All at once."""
        done = self.run(settings, **changes)
        assert done.returncode == 1 and "docs/ci.md" in done.stdout
        assert all(word in done.stdout for word in words.split("|"))
        assert done.stdout.count("::error") == len(words.split("|"))
