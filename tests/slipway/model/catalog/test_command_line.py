"""Values in texts: commands without a shell and the parameters that they name, and `${name}` for a value."""

import shlex
import subprocess
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.model.catalog import placeholders
from slipway.model.catalog.command_line import filled, names, program, refusal, unreadable, with_shell


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("python a.py && python b.py", "has && for a shell"),
        ("python a.py | tee log", "has | for a shell"),
        ("cd src; python a.py", "has ; for a shell"),
        ("python a.py > log 2>&1", "has > for a shell"),
        ("python a.py &", "has & for a shell"),
        ("python a.py --out $SLIPWAY_OUTPUT", "has $SLIPWAY_OUTPUT for a shell"),
        ('python a.py --out "${SLIPWAY_OUTPUT}/a"', "has ${SLIPWAY_OUTPUT} for a shell"),
        ('python a.py "$(date)"', "has $( for a shell"),
        ("python a.py `date`", "has ` for a shell"),
        ("CUDA_VISIBLE_DEVICES=0 python a.py", "begins with CUDA_VISIBLE_DEVICES=…"),
        ('bash train.sh -c "$RANK"', "has $RANK for a shell"),
        ('bash -c "echo $0" "$RANK"', "has $RANK for a shell"),
        ("bash -c $RANK", "has $RANK for a shell"),
        ('python -c "$CODE"', "has $CODE for a shell"),
        ("exit 7", "begins with exit, which only a shell has"),
        ("source env.sh", "begins with source, which"),
        ("python a.py \\\n  --lr 0.1", "a backslash at the end of a line"),
        ("python a.py 'one", "no closing quotation"),
        ("python a.py \\", "no escaped character"),
    ],
)
def test_what_only_a_shell_reads_is_refused(text: str, why: str) -> None:
    assert why in refusal(text)
    if not unreadable(text):
        options = ["-o", "pipefail"] if " | " in text else []
        assert refusal(with_shell(text)) == "" and shlex.split(with_shell(text)) == ["bash", *options, "-c", text]


@pytest.mark.parametrize(
    "text",
    [
        "python train.py --lr 0.1",
        "bash -c 'python a.py && echo $HOME > x'",
        'bash -c "python a.py --rank $RANK && echo $(date)"',
        'env LR=1 /bin/bash -euo pipefail -lc "echo ${RANK}" zero',
        "python a.py 'a && b' \"c | d\" \\; e\\&f",
        'python a.py "costs 5$" $ 5$ "\\$HOME"',
        "python train.py optimizer.lr=0.1 --pattern=*.csv",
        "env NAME=value python a.py",
        "python exit",
        "python train.py\n  --lr 0.1\n",
        "",
    ],
)
def test_what_means_the_same_without_a_shell_is_a_command(text: str) -> None:
    assert refusal(text) == ""


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("python -u train.py --lr 0.1 --data x.py", ("python", "train.py")),
        ("python -m digits.train --lr 1", ("python", "digits.train")),
        ("torchrun --nproc-per-node 8 train.py", ("torchrun", "train.py")),
        ("ls -la data", ("ls",)),
        ("bash -c 'python a.py && python b.py'", ("bash", "-c", "python a.py && python b.py")),
        ("bash -o pipefail -c 'python a.py | tee log'", ("bash", "-o", "pipefail", "-c", "python a.py | tee log")),
        ("an 'open quote", ()),
    ],
)
def test_a_command_runs_a_program(text: str, named: tuple[str, ...]) -> None:
    assert program(text) == named


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("exit 3 | cat", 3),
        ("echo a |& cat && (exit 4) 2>&1 | cat", 4),
        ("echo a | cat", 0),
        ("false || (exit 6)", 6),
        ("echo a >| /dev/null", 0),
        ("echo a | grep b || echo c", 0),
    ],
)
def test_a_pipe_fails_with_any_part_of_it(text: str, code: int) -> None:
    assert subprocess.run(shlex.split(with_shell(text)), check=False, capture_output=True).returncode == code


def test_a_command_names_parameters() -> None:
    text = "python t.py --lr {lr} --name 'run {name}-{lr}' '{\"a\": 1}' ${no} '{{literal}}' {} {1}"
    assert names(text) == ("lr", "name")
    sent = filled(text, {"lr": "1e-3", "name": 'two words\' "$x"'})
    assert shlex.split(sent) == [
        *("python", "t.py", "--lr", "1e-3", "--name", 'run two words\' "$x"-1e-3'),
        *('{"a": 1}', "${no}", "{literal}", "{}", "{1}"),
    ]
    assert names("python t.py optim.lr={optim.lr} --weight-decay {weight-decay}") == ("optim.lr", "weight-decay")
    assert names("bash -c 'for i in {a..c}; do echo {-x} {x-} {a b}; done'") == ()
    with pytest.raises(KeyError, match="lr"):
        filled("{lr}", {})
    assert filled("python  't.py'  {}", {"lr": "1"}) == "python  't.py'  {}", "sent as it was written"


@given(st.text(), st.text())
def test_a_value_stays_within_its_word(value: str, other: str) -> None:
    words = shlex.split(filled("run a{x}b {y}", {"x": value, "y": other}))
    assert words == ["run", f"a{value}b", other]


@given(st.text())
def test_a_shell_reads_any_text_that_can_be_quoted(text: str) -> None:
    assert refusal(with_shell(text)) == ""


def test_names_come_in_order_and_whole_is_one_placeholder_alone() -> None:
    assert placeholders.names("a ${b} $c $(D) ${slipway.job}${b}") == ("b", "slipway.job", "b")
    assert [placeholders.whole(text) for text in ("${workers}", "x${workers}", "${a}${b}")] == ["workers", None, None]


def test_fill_goes_through_json_and_leaves_unknown_ones() -> None:
    body = {"args": ["--trees=${trees}", "${other}"], "replicaCount": "${workers}", "size": 100}
    assert placeholders.fill(body, {"trees": 5, "workers": 2}) == {
        "args": ["--trees=5", "${other}"],
        "replicaCount": "2",
        "size": 100,
    }


def test_booleans_are_written_as_programs_read_them() -> None:
    assert (placeholders.render(True), placeholders.render(False), placeholders.render(0.5)) == ("true", "false", "0.5")


def test_an_enums_member_is_its_value() -> None:
    class Colour(str, Enum):  # noqa: UP042 - whose `str` is its name
        RED = "red"

    class Size(int, Enum):
        BIG = 7

    class Rate(float, Enum):
        HALF = 0.5

    assert [placeholders.render(member) for member in (Colour.RED, Size.BIG, Rate.HALF)] == ["red", "7", "0.5"]
    assert placeholders.fill("--colour=${colour}", {"colour": Colour.RED}) == "--colour=red"


@given(st.text(), st.text())
def test_a_value_is_never_filled_again(before: str, value: str) -> None:
    before = before.replace("$", "")
    assert placeholders.fill(before + "${a}", {"a": "${b}" + value, "b": "never"}) == before + "${b}" + value
