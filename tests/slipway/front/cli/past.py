"""Jobs that have ended in a stack, for tests that only look at them."""

from dataclasses import dataclass

from tests.checkouts.shell import Done

from .stack import Stack


@dataclass(frozen=True)
class Past:
    """The names of jobs that have ended in a stack, the oldest first."""

    stack: Stack
    fine: str
    failed: str
    crew: str

    def run(self, *arguments: str, **variables: str) -> Done:
        return self.stack.run(*arguments, **variables)


PRINTS = "print(1)\nprint('fine') #\x1b]0;evil\a"
FAILS = "import sys; print('fine'); print('warned', file=sys.stderr); raise ValueError('the data is not there')"
RANKED = "import os, time; print('line of', os.environ['RANK']); time.sleep(2)"


def past_jobs(stack: Stack) -> Past:
    """Send a job that goes well, one that fails, each by a request of its own, and one of a scheduler and two
    workers."""
    fine = stack.ended("hello", "-p", f"code={PRINTS}", "--request-id", "nightly")
    failed = stack.ended("hello", "-p", f"code={FAILS}", "--request-id", "failing")
    return Past(stack, fine, failed, stack.ended("crew", "-p", "workers=2", "-p", f"code={RANKED}"))
