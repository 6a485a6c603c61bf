"""The error of a benchmark that can't be measured: told as text, never reported as a number."""


class BenchError(Exception):
    """A failed step, and its message."""
