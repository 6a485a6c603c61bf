"""What is told of a command's text for a shell before it is sent. # N25"""

import pytest

from slipway.authoring.packages.shell_check import masked_failures


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
