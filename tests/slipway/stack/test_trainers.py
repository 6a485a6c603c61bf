"""Other trainers than the workspace's: accounts by the name that templates choose them by.  # P5"""

import pytest

from slipway.stack.members import check_warnings
from slipway.stack.stack import TrainerSettings
from slipway.stack.yaml_file import from_text

from .files import FILE, only, read, with_config, wrong

TEAM, EVA = "group:ml@acme.example", "user:eva@acme.example"


def test_each_has_an_account_and_submitters_of_its_own() -> None:
    stack = read(
        with_config(
            f"""
            slipway:workspace: {{submitters: ["{TEAM}"]}}
            slipway:trainers:
              evals: {{submitters: ["{EVA}", "{TEAM}"]}}
              tuning: {{account: tuning-of-research}}
            """
        )
    )
    assert stack.trainers == {
        "evals": TrainerSettings("slipway-prod-evals", (EVA, TEAM)),
        "tuning": TrainerSettings("tuning-of-research"),
    }
    assert stack.workspace.submitters == (TEAM,), "nobody gets more than they are given"
    assert stack.submitters == (TEAM, EVA)


def test_a_stack_without_any_has_the_workspaces_alone() -> None:
    assert read(with_config("gcp:disableRequestReason: true")).trainers == {}


@pytest.mark.parametrize(
    ("text", "line", "key", "what", "fix"),
    [
        ("  evals: {acount: evals-1}", 6, "acount", "unknown key", "did you mean `account`?"),
        (
            "  evals: {account: Evals}",
            6,
            "account",
            "'Evals' can't be a service account's id",
            "6–30 lowercase letters",
        ),
        ("  Evals: {}", 6, "Evals", "'Evals' can't be a trainer's name", "1–30 lowercase letters"),
        ("  evals: {submitters: [bob]}", 6, "submitters[0]", "is not an IAM member", "for example group:"),
        (f"  evals: {{submitters: [{EVA}, {EVA}]}}", 6, "submitters[1]", "is listed twice", "keep one"),
        ("  fine-tuning-of-all-models: {}", 6, "account", "can't be a service account's id", "set `account`"),
        ("  trainer: {}", 6, "account", "is the account of slipway:workspace as well", "an account of its own"),
        (
            "  a: {account: evals-1}\n  b: {account: evals-1}",
            7,
            "account",
            "is the account of trainer a as well",
            "own",
        ),
    ],
)
def test_a_slip_is_told_with_its_line_and_key(text: str, line: int, key: str, what: str, fix: str) -> None:
    found = only(with_config(f"slipway:trainers:\n{text}"))
    assert (found.line, found.key.rpartition(".")[2]) == (line, key)
    assert what in found.what and fix in found.fix


def test_the_key_itself_may_be_misspelt() -> None:
    assert only(with_config("slipway:trainer: {evals: {}}")).fix == "did you mean `slipway:trainers`?"


def test_a_whole_domain_that_may_act_as_one_is_warned_of() -> None:
    text = with_config('slipway:trainers: {evals: {submitters: ["domain:acme.example"]}}')
    assert wrong(text) == ()
    (warning,) = check_warnings(from_text(text, FILE))
    assert "account in acme.example may submit" in warning.what
    assert warning.key.endswith("slipway:trainers.evals.submitters[0]")
