"""Trainers of a stack file: the accounts that jobs run as, each of them one of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.formatting import quoted
from slipway.stack.bounds import NAME, TRAINER
from slipway.stack.yaml_file import DocumentPart


def default_trainer(stack: str, name: str = "trainer") -> str:
    """The account id of the workspace's trainer, or of another one by its name."""
    return f"slipway-{stack}-{name}"


def check_trainers(config: DocumentPart, stack: str) -> None:
    """Of the account ids that are made here, whether they can be; of all, that no two trainers have the same.

    Two with one account would have the same secrets and people, whatever the file says.
    """
    seen: dict[str, str] = {}
    for name, part, account, made in _accounts(config, stack):
        if made and (said := TRAINER.wrong(account)):
            what, fix = said
            part.wrong(what, fix.replace("`trainer`", "`account`") if name else fix)
        elif account in seen:
            part.wrong(
                f"{quoted(account)} is the account of {seen[account]} as well",
                "an account of its own: secrets and people belong to accounts",
            )
        seen.setdefault(account, f"trainer {name}" if name else "slipway:workspace")


def _accounts(config: DocumentPart, stack: str) -> Iterator[tuple[str, DocumentPart, str, bool]]:
    """By name, empty for the workspace's: where it stands, its account id, and whether that is made here."""
    named = re.fullmatch(NAME, stack) is not None
    parts = [("", config["slipway:workspace"]["trainer"])]
    parts += [(name, one["account"]) for name, one in config["slipway:trainers"].items() if re.fullmatch(NAME, name)]
    for name, part in parts:
        given = part.of(str)
        if given is not None:
            yield name, part, given, False
        elif part.value is None and named:
            yield name, part, default_trainer(stack, name or "trainer"), True
