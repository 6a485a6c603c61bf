"""Values of parameters in a text that a command hands to a shell: each stays one word."""

import json
import shlex
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slipway.model.catalog.command_line import filled, with_shell

SHOW = f"{sys.executable} -c 'import json, sys; print(json.dumps(sys.argv[1:]))'"
SHOWN = SHOW.replace("'", "'\"'\"'")
PLACES = {
    f"{SHOW} --name {{x}}": ["--name", "VALUE"],
    f"{SHOW} --name={{x}}.txt": ["--name=VALUE.txt"],
    f"{SHOW} '{{x}}' end": ["VALUE", "end"],
    f'{SHOW} "a {{x}}" end': ["a VALUE", "end"],
    f'cd . && A={{x}} && {SHOW} "$A" | cat': ["VALUE"],
    f'{SHOW} "$(printf %s {{x}})"': ["VALUE"],
    f'{SHOW} "$(printf %s "{{x}}")"': ["VALUE"],
    f'{SHOW} "`printf %s {{x}}`"': ["VALUE"],
    f"(cd .; {SHOW} {{x}})": ["VALUE"],
    f"{SHOW} \\'a {{x}}": ["'a", "VALUE"],
    f"bash -c '{SHOWN} --name {{x}}'": ["--name", "VALUE"],
    f"bash -c {shlex.quote('bash -c ' + shlex.quote(SHOW + ' {x}'))}": ["VALUE"],
    f"cd . && sh -c 'true; {SHOWN} \"b {{x}}\"' | cat": ["b VALUE"],
}


@pytest.mark.parametrize("script", PLACES)
@pytest.mark.parametrize("value", ["two words", "3; echo no", "$HOME", "it's", "*", "`id`", "$(id)"])
def test_a_value_is_one_word_to_a_shell_wherever_it_stands(script: str, value: str) -> None:
    assert _shown(script, value) == [part.replace("VALUE", value) for part in PLACES[script]]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([*PLACES]), st.text(" '\"\\\\$`(){}#!*;&|~ab", min_size=1).map(lambda text: f"a{text}b"))
def test_no_value_is_read_by_a_shell(script: str, value: str) -> None:
    assert _shown(script, value) == [part.replace("VALUE", value) for part in PLACES[script]]


def test_a_list_is_several_words_where_its_name_is_one() -> None:
    sent = filled(with_shell(f'{SHOW} {{x}} --all={{x}} "{{x}}" | cat'), {"x": ("a b", "c")})
    ran = subprocess.run(shlex.split(sent), check=True, capture_output=True, text=True)
    assert json.loads(ran.stdout) == ["a b", "c", "--all=a b,c", "a b,c"]


def test_plain_values_stand_as_they_are() -> None:
    assert filled("bash -c 'a --lr {lr} {{x}} ${y}'", {"lr": "1e-3"}) == "bash -c 'a --lr 1e-3 {x} ${y}'"


def _shown(script: str, value: str) -> list[str]:
    sent = filled(with_shell(script), {"x": value})
    ran = subprocess.run(shlex.split(sent), check=False, capture_output=True, text=True)
    assert ran.returncode == 0, (sent, ran.stderr)
    return list(json.loads(ran.stdout))
