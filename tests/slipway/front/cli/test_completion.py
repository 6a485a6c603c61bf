"""What a shell suggests: what the catalog and the service have, and of jobs those that a verb can do something with."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from click.shell_completion import CompletionItem, ShellComplete

from slipway.front.cli import completion, slipway
from slipway.model.capacity import CAPACITY_TYPES
from tests.slipway.front.cli.stack import Stack, held

pytestmark = pytest.mark.smoke


def offered(stack: Stack, *words: str, **variables: str) -> dict[str, str | None]:
    """What is suggested for the last word, with its help."""
    with mock.patch.dict(os.environ, stack.env(**variables), clear=True), contextlib.chdir(stack.folder):
        found = ShellComplete(slipway, {}, "slipway", "_SLIPWAY_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return {item.value: item.help for item in found}


def test_what_the_catalog_has_is_suggested(stack: Stack) -> None:
    stack.catalog["templates"]["hello"]["parameters"] += [
        {"name": "size", "type": "str", "default": None, "choices": ["2b", "9b", "2 b; b"], "help": "the base\nmodel"},
        {"name": "seeded", "type": "bool", "default": True, "choices": [], "help": ""},
    ]
    stack.catalog["templates"]["hello"]["offers"][1] |= {"available": False, "why": "no quota"}
    stack.publish()
    parameters = offered(stack, "submit", "hello", "-p", "code=1", "-p", "")
    assert list(parameters) == ["size=", "seeded="], "what must be given comes first, what is given not again"
    assert parameters["size="] == "the base model; one of 2b, 9b, 2 b; b"
    assert list(offered(stack, "submit", "hello", "--param", "s")) == ["size=", "seeded="]
    assert list(offered(stack, "submit", "hello", "-p", "size=")) == ["size=2b", "size=9b"], (
        "what a shell takes as it is"
    )
    assert list(offered(stack, "submit", "hello", "-p", "seeded=t")) == ["seeded=true"]
    assert offered(stack, "submit", "hello", "-p", "none=") == {} == offered(stack, "submit", "nobody", "-p", "")
    types = offered(stack, "submit", "hello", "--capacity", "")
    assert types == {"pool": CAPACITY_TYPES["pool"].when, "spot": "not available: no quota"}
    assert list(offered(stack, "submit", "hello", "--pool", "")) == ["cpu/workers"]
    assert list(offered(stack, "submit", "hello", "--wait-for", "p")) == ["pool="]
    assert list(offered(stack, "submit", "hello", "--then", "pool,")) == ["pool,spot"]
    assert "flex-start" in offered(stack, "submit", "--capacity", "")
    assert list(offered(stack, "jobs", "list", "--template", "")) == ["hello", "crew"]
    assert list(offered(stack, "templates", "show", "cr")) == ["crew"] and "jobs" in offered(stack, "jo")
    assert offered(stack, "submit", "h", GOOGLE_STORAGE_CUSTOM_ENDPOINT="http://127.0.0.1:9/v1/") == {}


def test_what_ended_is_not_suggested_to_be_cancelled_or_waited_for(stack: Stack) -> None:
    ended = stack.sends("hello", "--wait")["displayName"]
    for point in ("first", "second"):
        (stack.folder / f"{point}.csv").write_text(f"code\nprint('{point}')\n")
        stack.run("submit", "hello", "--sweep", f"{point}.csv", "--request-id", point, "--wait")
    going = held(stack, 2)
    for verb in ("cancel", "wait"):
        assert going in offered(stack, "jobs", verb, "") and ended not in offered(stack, "jobs", verb, "")
    assert list(offered(stack, "jobs", "show", ended[:-1])) == [ended]
    assert offered(stack, "jobs", "list", "--sweep", "") == {"second": "hello", "first": "hello"}
    assert offered(stack, "jobs", "cancel", "--sweep", "") == {}
    assert list(offered(stack, "jobs", "logs", going, "--role", "")) == ["scheduler", "workers", "service"]
    assert offered(stack, "jobs", "logs", "nobody", "--role", "") == {}


@pytest.mark.parametrize(
    ("typed", "words", "value", "replacement"),
    [
        ("submit h -p trees=5", ["submit", "h", "-p", "trees=5"], "trees=500", "500"),
        ("submit --catalog gs://b h", ["submit", "--catalog", "gs://b", "h"], "hello", "hello"),
        ("submit h ", ["submit", "h", ""], "-p", "-p"),
        ("submit h -p 'trees=5", ["submit", "h", "-p", "trees=5"], "trees=500", "trees=500"),
    ],
)
def test_bash_replaces_what_it_takes_for_the_last_word(
    typed: str, words: list[str], value: str, replacement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMP_LINE", f"slipway {typed}")
    monkeypatch.setenv("COMP_WORDBREAKS", " \t\n\"'><=;|&(:")
    shell = completion._Bash(slipway, {}, "slipway", "_SLIPWAY_COMPLETE")
    before, last = shell.get_completion_args()
    assert [*before, last] == words
    assert shell.format_completion(CompletionItem(value)) == f"plain,{replacement}"


def test_bash_itself_completes_a_parameter_behind_an_address_of_a_catalog(standing: Stack) -> None:
    script = standing.run("completion", "bash").out
    line = f"slipway submit --catalog {standing.address} hello -p co"
    command = Path(sys.executable).with_name("slipway")
    asked = f"COMP_LINE='{line} and more' COMP_POINT={len(line)}; _slipway_completion '{command}'"
    typed = f'{script}\n{asked} 2> /dev/null; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(
        ["bash", "-c", typed], env=standing.env(), capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "code=\n"
