"""Lines about a command's text for a shell before it is sent. # N25"""

import pytest

from slipway.authoring.packages.shell_check import literal_variables, masked_failures, read_by_shell


def test_a_pipe_of_an_own_shell_that_hides_a_failure_is_told() -> None:
    (line,) = masked_failures("bash -c 'python boom.py 2>&1 | tee log.txt'")
    assert line.endswith(": bash -o pipefail -c 'python boom.py 2>&1 | tee log.txt'") and "pipe" in line
    (line,) = masked_failures("sh -ec 'a | b'")
    assert line.endswith(": bash -o pipefail -c 'a | b'")


@pytest.mark.parametrize(
    "command",
    [
        "bash -o pipefail -c 'a | b'",
        "bash -c 'set -o pipefail; a | b'",
        "bash -c 'a | b; exit ${PIPESTATUS[0]}'",
        "bash -c 'a || b'",
        "bash -c 'python a.py --either \"a|b\"'",
        "python a.py 'a | b'",
        "'",
        "",
    ],
)
def test_what_tells_each_failure_is_silent(command: str) -> None:
    assert [*masked_failures(command)] == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "python echo.py --rank '$RANK'",
            "! $RANK is no variable here, as no shell reads the words: bash -c 'python echo.py --rank \"$RANK\"'",
        ),
        (
            "python a.py 'b c' '${SLIPWAY_OUTPUT}/x' '$RANK'",
            (
                "! ${SLIPWAY_OUTPUT} and $RANK are no variable here, as no shell reads the words: "
                "bash -c 'python a.py '\"'\"'b c'\"'\"' \"${SLIPWAY_OUTPUT}/x\" \"$RANK\"'"
            ),
        ),
    ],
)
def test_a_variable_that_no_shell_replaces_is_told(command: str, said: str) -> None:
    assert [*literal_variables(command)] == [said]


@pytest.mark.parametrize(
    "command",
    [
        "bash -c 'python a.py $RANK'",
        "python -c 'print(\"$HOME\")'",
        "awk '{print $NF}' log",
        "python a.py --price 5$ '^a$' '$x' '$1'",
        "'",
        "",
    ],
)
def test_other_dollars_are_silent(command: str) -> None:
    assert [*literal_variables(command)] == []


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("source env.sh && python a.py", "env.sh"),
        ("set -a; . ./conf/.env; python a.py", "conf/.env"),
        ("cd conf && source env.sh", "conf/env.sh"),
        ("source .venv/bin/activate && python a.py", ".venv/bin/activate"),
        ("source activate me && python a.py", ""),
        ("source $HOME/.bashrc; python a.py", ""),
        ("source ~/.bashrc; python a.py", ""),
        ("[ -f env.sh ] && source env.sh; python a.py", ""),
        ("source env.sh || true; python a.py", ""),
        ("echo A=1 > env.sh; source env.sh", ""),
        ("python make.py && source env.sh", ""),
        ("uv venv; source .venv/bin/activate", ""),
        ("python a.py", ""),
        ("", ""),
    ],
)
def test_a_file_that_a_shell_surely_reads_is_known(script: str, name: str) -> None:
    assert read_by_shell(f"bash -c '{script}'") == name
