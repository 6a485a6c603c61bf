"""`python -m local secret`: a value that nobody types into a command line. # Z3"""

from __future__ import annotations

import base64
import subprocess
import sys

from .conftest import ROOT, LocalCloud

READER = "reads-secrets@slipway-local.iam.gserviceaccount.com"


def test_a_value_from_standard_input_becomes_the_newest_version_for_its_readers(cloud: LocalCloud) -> None:
    cloud.rest("POST", "/v1/projects/slipway-local/serviceAccounts", {"accountId": READER.partition("@")[0]})

    def keep(value: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "local", "secret", "hf-token-of-the-shell", "--reader", READER]
        return subprocess.run(
            command,
            cwd=ROOT,
            env=cloud.base_env(),
            input=value,
            capture_output=True,
            text=True,
            check=False,
        )

    for number, value in enumerate(("hf_first", "hf_second\n"), 1):
        done = keep(value)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(f"/secrets/hf-token-of-the-shell/versions/{number}\n")
        assert "hf_" not in done.stdout.replace("hf-token", "") + done.stderr
    secret = "/v1/projects/slipway-local/secrets/hf-token-of-the-shell"
    kept = cloud.rest("GET", f"{secret}/versions/latest:access")["payload"]["data"]
    assert base64.b64decode(kept) == b"hf_second"
    (binding,) = cloud.rest("GET", f"{secret}:getIamPolicy")["bindings"]
    assert binding == {"role": "roles/secretmanager.secretAccessor", "members": [f"serviceAccount:{READER}"]}
