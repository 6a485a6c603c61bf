"""What files of templates do beside declaring one: they run in every preview and deployment. # N14 # D7"""

from pathlib import Path

import pytest

from slipway.review.templates.template_code import beyond_declaring
from tests import shipped

ROOT = Path(__file__).parents[4]
PLAIN = "from slipway.template import JobTemplate\n"


@pytest.mark.parametrize("name", shipped.templates())
def test_the_templates_that_ship_declare_and_do_no_more(name: str) -> None:
    file = ROOT / "templates" / f"{name.replace('-', '_')}.py"
    assert beyond_declaring(file.read_text(encoding="utf-8")) == ()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import os\nos.system('x')", ("imports `os` (line 2)", "uses `os.system` (line 3)")),
        ("from slipway import facts", ("imports `slipway` (line 2)",)),
        ("from .other import x", ("imports `.other` (line 2)",)),
        ("JobTemplate.name = 'x'", ("writes to `JobTemplate.name` (line 2)",)),
        ("JobTemplate.x['a'] = 1", ("writes to `JobTemplate.x['a']` (line 2)", "uses `JobTemplate.x` (line 2)")),
        ("x = ().__class__", ("uses `__class__` (line 2)",)),
        ("run = exec\n", ("uses `exec` (line 2)",)),
        ("open('x')", ("uses `open` (line 2)",)),
        ("(lambda: 0)()", ("calls `lambda: 0` (line 2)",)),
        ("from typing import Any, sys", ("imports `typing.sys` (line 2)",)),
        ("import typing", ("imports `typing` (line 2)",)),
        ("from slipway.template import load", ("imports `slipway.template.load` (line 2)",)),
        ("x = list(map(JobTemplate.run, [1]))", ("uses `JobTemplate.run` (line 2)",)),
        ("@str\ndef f():\n    return 1", ("decorates `f` (line 3)",)),
        ("import math\nx = math.ceil(1.5)", ()),
        ("x = [].append(1)", ("uses `[].append` (line 2)",)),
        ("def _f():\n    def exec(x):\n        pass\nexec('x')", ("binds `exec` (line 3)",)),
        ("def _f():\n    from math import ceil as exec\nexec('x')", ("binds `exec` (line 3)",)),
        ("def exec(x):\n    pass\ndel exec\nexec('x')", ("binds `exec` (line 2)",)),
        ("f = lambda str: str('x')", ("binds `str` (line 2)",)),
        ("def f(min: int, *, max: int) -> int:\n    return max - min", ()),
        ("def f(min):\n    return min(1)", ("binds `min` (line 2)",)),
        ("def f(min):\n    def g():\n        return min(1)\n    return g()", ("binds `min` (line 2)",)),
        ("def f(exec):\n    return 1", ("binds `exec` (line 2)",)),
        ("def __getattr__(min):\n    return 1", ("binds `min` (line 2)",)),
        ("from math import pow\nx = pow(2, 3)", ()),
        ("from math import ceil as pow", ("binds `pow` (line 2)",)),
        ("from .math import pow", ("imports `.math` (line 2)", "binds `pow` (line 2)")),
        ("math = (0 for _ in [])\nx = math.gi_frame", ("binds `math` (line 2)",)),
        ("import itertools as math", ("binds `math` (line 2)",)),
        ("class str: pass", ("binds `str` (line 2)",)),
        ("try:\n    x = 1\nexcept KeyError as len:\n    x = 2", ("binds `len` (line 4)",)),
        ("from math import ceil as __builtins__", ("binds `__builtins__` (line 2)",)),
        ("match JobTemplate:\n    case C(__reduce_ex__=r):\n        x = r", ("uses `match` (line 2)",)),
        ("x = (", ("can't be read as Python",)),
        ("\0", ("can't be read as Python",)),
    ],
)
def test_what_is_more_is_named_with_its_line(source: str, said: tuple[str, ...]) -> None:
    assert beyond_declaring(f"{PLAIN}{source}") == said


def test_values_may_be_computed() -> None:
    source = (
        'def f(n: int) -> str:\n    return "-".join(str(i) for i in range(n))\nX = JobTemplate(name=f(3).upper())\n'
    )
    assert beyond_declaring(PLAIN + source) == ()


def test_a_coding_hides_nothing() -> None:
    assert beyond_declaring("# coding: utf-7\n# +AAo-import os\n") == ("imports `os` (line 3)",)
