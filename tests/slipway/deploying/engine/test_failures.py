"""A program's own failure: its line and its error, without frames of packages."""

import pytest

from slipway.deploying.engine.failures import failure

HEAD = "Program failed with an unhandled exception:\n"
ENGINE = """Traceback (most recent call last):
  File "/opt/pulumi/pulumi-language-python-exec", line 232, in <module>
    loop.run_until_complete(coro)
  File "/repo/.venv/lib/python3.11/site-packages/pulumi/runtime/stack.py", line 254, in run_in_stack
    await run_pulumi_func(run)
  File "<frozen runpy>", line 304, in run_path
"""
PROGRAM = '  File "/repo/__main__.py", line 8, in <module>\n    pool = args(token="hunter2")\n           ^^^^^^^^^\n'
PACKAGE = '  File "/repo/.venv/lib/python3.11/site-packages/slipway/args.py", line 2, in args\n    return cls(**more)\n'
HELPER = '  File "/repo/infra/pools.py", line 3, in args\n    return PoolArgs(**more)\n'
TYPE = "TypeError: PoolArgs.__init__() got an unexpected keyword argument 'machin'\n"
SYNTAX = "  File \"/repo/__main__.py\", line 6\n    x = [\n        ^\nSyntaxError: '[' was never closed"
AGAIN = "\nDuring handling of the above exception, another exception occurred:\n\n"


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (f"error: {ENGINE}{PROGRAM}{TYPE}", f"__main__.py line 8: {TYPE}  fix: correct __main__.py"),
        (f"{HEAD}{ENGINE}{PROGRAM}{PACKAGE}{TYPE}\n", f"__main__.py line 8: {TYPE}  fix: correct __main__.py"),
        (f"{ENGINE}{PROGRAM}{HELPER}{TYPE}", f"infra/pools.py line 3: {TYPE}  fix: correct infra/pools.py"),
        (
            f"{HEAD}{ENGINE}{SYNTAX}",
            "__main__.py line 6: SyntaxError: '[' was never closed\n  fix: correct __main__.py",
        ),
        (
            f"{ENGINE}{PROGRAM}KeyError: 'a'\n{AGAIN}{ENGINE}{PROGRAM}ValueError: no a\nnor b",
            "__main__.py line 8: ValueError: no a\nnor b\n  fix: correct __main__.py",
        ),
        (f"{ENGINE}{PROGRAM}E: refused\n  fix: wait", "__main__.py line 8: E: refused\n  fix: wait"),
        (f"{ENGINE}{PACKAGE}{TYPE}", TYPE.strip()),
        ("error: the stack is refused\n  why: so\n", "the stack is refused\n  why: so"),
        (f"{HEAD}{ENGINE}".strip(), f"{HEAD}{ENGINE}".strip()),
        (f"{HEAD}{ENGINE}\n".strip(), f"{HEAD}{ENGINE}".strip()),
    ],
    ids=["run", "package", "helper", "syntax", "another", "advised", "no program", "plain", "cut", "blank"],
)
def test_a_traceback_is_told_by_the_programs_line_and_its_error(message: str, told: str) -> None:
    assert failure(message) == told
