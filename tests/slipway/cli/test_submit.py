"""`slipway submit` against the local cloud."""

from .conftest import Stack


def test_a_job_is_submitted_and_runs_to_its_end(stack: Stack) -> None:  # D4, P1, B1
    done = stack.run("submit", "hello", "-p", "code=print('out of the job')", "--follow")
    print(done.out, done.err)
    assert done.code == 0, done.err
    assert "main  out of the job" in done.out
