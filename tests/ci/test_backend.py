"""The sign-in of a job where the state lies: no key is stored, and it lasts as long as a deployment may. # D5 N5"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.ci import tools
from tests.ci.conftest import All
from tests.loopback import Handler, served

ROLE = "arn:aws:iam::111122223333:role/slipway-preview"
TOOLS = {
    "aws": """
import json, os, sys
words = sys.argv[1:]
open(os.environ["ASKED"], "w").write(json.dumps(words))
assert open(words[words.index("--web-identity-token") + 1].removeprefix("file://")).read() == "for sts.amazonaws.com\\n"
print("AKIA1\\tsecret/key\\tsession==")
""",
    "pulumi": """
import json, os, sys
words = sys.argv[1:]
open(os.environ["ASKED"], "w").write(json.dumps(words))
assert open(words[words.index("--oidc-token") + 1].removeprefix("file://")).read() == "for urn:pulumi:org:acme\\n"
""",
    "jq": tools.JQ,
}


class Issuer(Handler):
    """GitHub's, which gives a job a token for whom it names."""

    def do_GET(self) -> None:
        assert self.headers["Authorization"] == "bearer r"
        (audience,) = parse_qs(urlsplit(self.path).query)["audience"]
        self.answer(200, json.dumps({"value": f"for {audience}"}).encode())


@dataclass
class Runner:
    folder: Path
    step: dict[str, Any]
    issuer: str

    def sign_in(self, url: str, identity: str) -> list[str]:
        """Return what the cloud's own command was asked; none where nothing was."""
        environ = {
            "PATH": tools.put(self.folder, **TOOLS),
            "NO_PROXY": "127.0.0.1",
            "BACKEND_URL": url,
            "IDENTITY": identity,
            "ACTIONS_ID_TOKEN_REQUEST_URL": self.issuer,
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "r",
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_RUN_ID": "4711",
            "GITHUB_ENV": str(self.folder / "env"),
            "ASKED": str(self.folder / "asked"),
        }
        done = tools.run(self.step, environ)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not (self.folder / "backend-token").exists()
        asked = self.folder / "asked"
        return list(json.loads(asked.read_text())) if asked.exists() else []


@pytest.fixture
def runner(tmp_path: Path, workflows: All) -> Iterator[Runner]:
    (step,) = workflows["actions/backend"].steps()
    with served(Issuer) as url:
        yield Runner(tmp_path, step, f"{url}/token?api-version=2")


def test_amazon_lends_a_role_for_three_hours(runner: Runner) -> None:
    asked = runner.sign_in("s3://acme-state?region=eu-west-1&awssdk=v2", ROLE)
    assert asked[asked.index("--role-arn") + 1] == ROLE and asked[asked.index("--duration-seconds") + 1] == "10800"
    assert (runner.folder / "env").read_text().splitlines() == [
        "AWS_ACCESS_KEY_ID=AKIA1",
        "AWS_SECRET_ACCESS_KEY=secret/key",
        "AWS_SESSION_TOKEN=session==",
        "AWS_REGION=eu-west-1",
    ]


@pytest.mark.parametrize(("identity", "team"), [("acme", []), ("acme/readers", ["--oidc-team", "readers"])])
def test_pulumi_cloud_gives_a_token_of_the_organization_or_a_team(
    runner: Runner, identity: str, team: list[str]
) -> None:
    asked = runner.sign_in("https://api.pulumi.com", identity)
    assert asked[:2] == ["login", "https://api.pulumi.com"]
    assert asked[asked.index("--oidc-expiration") + 1] == "3h"
    assert asked[asked.index("--default-org") + 1 :][1:] == team


def test_in_cloud_storage_there_is_nothing_to_do(runner: Runner) -> None:
    assert runner.sign_in("gs://acme-state", "") == []
