"""Signal handlers use no buffered stream: a handler that interrupts a `print` and prints itself raises RuntimeError.

Handlers write with `os.write`, or set a flag that the program reads. Programs within strings count as well.
"""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.python_files import ROOT

BUFFERED_FUNCTIONS = {"print", "input"}
BUFFERED_METHODS = {"echo", "flush", "debug", "info", "warning", "error", "exception", "critical"}
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def sources() -> dict[str, str]:
    """Return the tracked Python files that set a handler, by path."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    texts = {name: Path(ROOT, name).read_text("utf-8") for name in listed.stdout.split() if Path(ROOT, name).is_file()}
    own = Path(__file__).relative_to(ROOT).as_posix()  # It has examples of wrong handlers.
    return {name: text for name, text in texts.items() if "signal.signal(" in text and name != own}


def programs(text: str) -> Iterator[ast.Module]:
    """Yield a module, and each program in one of its strings."""
    module = ast.parse(text)
    yield module
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "signal.signal(" in node.value:
            try:
                yield ast.parse(node.value)
            except SyntaxError:
                continue


def name_of(node: ast.expr) -> str:
    """Return the last name of `name`, `module.name` or `self.name`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def calls(function: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(function) if isinstance(node, ast.Call)]


def handlers(program: ast.Module, functions: dict[str, Function]) -> list[Function]:
    """Return the functions that a program passes to `signal.signal`."""
    found = []
    for call in calls(program):
        if ast.unparse(call.func) != "signal.signal" or len(call.args) != 2:
            continue
        handler = call.args[1]
        function = handler if isinstance(handler, ast.Lambda) else functions.get(name_of(handler))
        if function is not None:
            found.append(function)
    return found


def is_buffered(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id in BUFFERED_FUNCTIONS
    return name_of(call.func) in BUFFERED_METHODS or ast.unparse(call.func) in ("sys.stdout.write", "sys.stderr.write")


def buffered_calls(text: str) -> list[str]:
    """Return the calls that write to a buffered stream, in handlers and in the functions of their file that they
    call."""
    found = []
    for program in programs(text):
        nodes = [node for node in ast.walk(program) if isinstance(node, ast.FunctionDef)]
        functions: dict[str, Function] = {node.name: node for node in nodes}
        waiting, seen = handlers(program, functions), list[Function]()
        while waiting:
            function = waiting.pop()
            if function in seen:
                continue
            seen.append(function)
            found += [ast.unparse(call) for call in calls(function) if is_buffered(call)]
            called = [functions.get(name_of(call.func)) for call in calls(function)]
            waiting += [other for other in called if other is not None]
    return found


def test_no_signal_handler_uses_a_buffered_stream() -> None:
    found = {name: buffered for name, text in sources().items() if (buffered := buffered_calls(text))}
    assert found == {}, "write with os.write, or set a flag"


def test_handlers_are_found_in_modules_in_strings_and_in_the_functions_that_they_call() -> None:
    direct = "import signal\nsignal.signal(15, lambda *_: print('asked'))"
    nested = "import signal\ndef say(): print('asked')\ndef term(*_): say()\nsignal.signal(15, term)"
    method = (
        "import signal\nclass A:\n  def go(self): signal.signal(15, self.term)\n  def term(self): log.info('asked')"
    )
    for program in (direct, nested, method):
        assert buffered_calls(program) and buffered_calls(f"CODE = {program!r}")
    assert buffered_calls("import os, signal\nsignal.signal(15, lambda *_: os.write(1, b'asked'))") == []
