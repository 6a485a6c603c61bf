"""A benchmark that can't be measured: said in words, never reported as a number."""


class BenchError(Exception):
    """What was tried, and what it said."""
