"""The engine on the laptop is given a copy of the stack file. # N4"""

from __future__ import annotations

from pathlib import Path

import yaml

from local.stack_copy import copy

FILE = "config:\n  gcp:project: acme-ml-dev # ours\nsecretsprovider: gcpkms://keys/one\nencryptedkey: AbC=\n"


def test_the_copy_has_no_key_of_the_real_stack_and_keeps_the_salt_of_its_own(tmp_path: Path) -> None:
    declared = tmp_path / "stacks" / "Pulumi.dev.yaml"
    declared.parent.mkdir()
    declared.write_text(FILE)
    made = copy(tmp_path, tmp_path / "state", "dev")
    assert yaml.safe_load(made.read_text()) == {"config": {"gcp:project": "acme-ml-dev"}}
    made.write_text(made.read_text() + "encryptionsalt: v1:of:the:laptop\n")
    declared.write_text(FILE.replace("acme-ml-dev", "acme-ml-next") + "encryptionsalt: v1:another\n")
    again = yaml.safe_load(copy(tmp_path, tmp_path / "state", "dev").read_text())
    assert again == {"config": {"gcp:project": "acme-ml-next"}, "encryptionsalt": "v1:of:the:laptop"}
    assert "secretsprovider" in declared.read_text()
