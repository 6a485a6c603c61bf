"""A copy of a stack's file for the laptop: the engine writes into the file that it is given, not the reviewed one."""

from __future__ import annotations

from pathlib import Path

import yaml

from slipway.base.files import write_atomically

FOLDER = "stacks"
"""Folder of the copies, in the state folder."""
_OF_SECRETS = ("secretsprovider", "encryptedkey", "encryptionsalt")
_OF_SIGN_IN = ("gcp:impersonateServiceAccount", "gcp:billingProject", "gcp:userProjectOverride")


def copy(project_folder: Path, state_folder: Path, stack: str) -> Path:
    """Return the copy, made anew each time. It has nothing of the original's secrets provider, as the laptop does not
    have its key, nor of the account that a deployment acts as; the salt that the engine wrote into an earlier copy is
    kept, as the state is encrypted with it."""
    name = f"Pulumi.{stack}.yaml"
    file = state_folder / FOLDER / name
    declared = yaml.safe_load((project_folder / "stacks" / name).read_text(encoding="utf-8"))
    before = (yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else None) or {}
    kept = {key: value for key, value in before.items() if key == "encryptionsalt"}
    whole = {key: value for key, value in declared.items() if key not in _OF_SECRETS}
    whole["config"] = {key: value for key, value in whole["config"].items() if key not in _OF_SIGN_IN}
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(file, yaml.safe_dump({**whole, **kept}, sort_keys=False))
    return file
