"""The line that a failure is in brief."""

from slipway.using.jobs.failure import Failure


def test_the_reason_is_not_cut_for_the_folders_before_its_file() -> None:
    """Else what can't be opened stands in the middle, which a short line leaves out."""
    place = "/tmp/slipway-k2j4h5k2/replica-0/attempt-1"
    line = (
        f"/usr/local/share/python/versions/3.10.14/bin/python: can't open file '{place}/code/jobs/nope.py': [Errno 2]"
    )
    assert Failure("chief", (line,)).brief == "python: can't open file 'jobs/nope.py': [Errno 2] (chief)"
