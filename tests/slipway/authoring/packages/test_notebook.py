"""A notebook's code cells as a script. # N11 # N25"""

import json
import re
from typing import Any

import pytest

from slipway.authoring.packages.notebook import NotebookScript
from slipway.base.errors import ConfigError


def script(*cells: str, name: str = "nb.ipynb", **metadata: Any) -> NotebookScript:
    code = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    text = {"cell_type": "markdown", "source": "# Not code\n%%bash"}
    return NotebookScript(json.dumps({"cells": [text, *code], "metadata": metadata}).encode(), name)


def text(*cells: str) -> str:
    return script(*cells).files["nb.py"].decode()


def test_code_cells_stand_in_their_order() -> None:
    made = script("import os\nprint('one')", "print('two')", name="my look.ipynb")
    assert made.files == {"my look.py": b"import os\nprint('one')\n\nprint('two')\n"}
    assert made.notes == ["2 code cells of the notebook, in their order: my look.py"]


@pytest.mark.parametrize(
    ("cell", "left"),
    [
        ("%matplotlib inline\nx = 1", "%matplotlib inline"),  # jupyter/nbconvert 503
        ("if True:\n    !ls -l", "!ls -l"),
        ("files = !ls\nx = 1", "files = !ls"),
        ("%%bash\ngit add x", "%%bash"),  # jupyter/notebook 2655
        ("%%script ruby\nputs 1", "%%script ruby"),
        ("x = 1\nx?", "x?"),
        ("!pip install -r requirements.txt", "!pip install -r requirements.txt"),
        ("!apt-get install -y \\\n  ffmpeg", "!apt-get install -y ffmpeg"),
        ("%load_ext tensorboard\n%tensorboard --logdir logs", "%load_ext tensorboard, %tensorboard --logdir logs"),
        ("%%writefile ../x.py\n1", "%%writefile ../x.py"),
    ],
)
def test_what_only_the_kernel_runs_is_left_out_and_told(cell: str, left: str) -> None:
    made = script(cell)
    compile(made.files["nb.py"], "nb.py", "exec")
    assert made.notes[1] == f"! left out, as no script has a notebook's kernel: {left}"


@pytest.mark.parametrize(
    ("cell", "kept"),
    [
        ("%%time\nprint(1)", "print(1)\n"),  # microsoft/vscode-python 13596
        ("%%capture out\n%%time\nprint(1)", "print(1)\n"),
        ("x = (7\n% 4)", "x = (7\n% 4)\n"),
        ('help = """\n!not a command\n%nor magic\n"""', '!not a command\n%nor magic\n"""'),
    ],
)
def test_what_is_python_stays(cell: str, kept: str) -> None:
    made = script(cell)
    assert kept in made.files["nb.py"].decode() and len(made.notes) == 1


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("!pip install -q pandas==2.2.0 'torch>=2,<3' tqdm[notebook]", "pandas==2.2.0\ntorch>=2,<3\ntqdm[notebook]\n"),
        ("%pip install -q ipytest", "ipytest\n"),  # chmp/ipytest 116
        ("!{sys.executable} -m pip install six", "six\n"),
        ("!python3 -m pip install -U six # newest", "six\n"),
        ("!uv pip install --system six", "six\n"),
        ("!pip install git+https://github.com/a/b.git@1a2b", "git+https://github.com/a/b.git@1a2b\n"),
    ],
)
def test_what_pip_is_told_to_install_is_required(line: str, lines: str) -> None:
    made = script(line, "print(1)")
    assert made.files["requirements.txt"].decode() == lines and "requirements.txt: " in made.notes[0]


def test_a_file_that_a_cell_writes_is_a_file() -> None:
    made = script("%%writefile lib/model.py\nclass Net: ...\n", "from lib.model import Net")
    assert made.files["lib/model.py"] == b"class Net: ...\n"
    assert made.files["nb.py"] == b"from lib.model import Net\n"


def test_an_older_format_is_read() -> None:
    """The third had pages."""
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["print(1)"]}]}], "nbformat": 3}
    assert NotebookScript(json.dumps(old).encode(), "a.ipynb").files == {"a.py": b"print(1)\n"}


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"print(1)", b'{"cells": [{}]}'])
def test_what_is_no_notebook_is_told(content: bytes) -> None:
    with pytest.raises(ConfigError):
        NotebookScript(content, "a.ipynb")


def test_another_language_is_told() -> None:
    with pytest.raises(ConfigError, match="is a notebook in R") as error:
        script("x <- 1", kernelspec={"language": "R"})
    assert "jupyter nbconvert --to script nb.ipynb" in str(error.value.fix)


@pytest.mark.parametrize(
    "cell",
    ["x = 1\nrows = await load()", "async with Client() as client: ...", "async def f():\n    await x\nawait load()"],
)
def test_what_awaits_without_a_function_is_told(cell: str) -> None:
    with pytest.raises(ConfigError, match=f"awaits outside of a function: {re.escape(cell.splitlines()[-1])}") as error:
        script("if True:\n", "print 'two'", cell)
    assert "asyncio.run(main())" in str(error.value.fix)
    assert script("async def main():\n    await load()\nasyncio.run(main())").files


@pytest.mark.parametrize("module", ["google.colab", "kaggle_secrets"])
def test_what_the_host_of_notebooks_alone_has_is_told(module: str) -> None:
    assert f"! {module} is imported, which no job has" in script(f"from {module} import drive").notes


def test_display_is_there_without_ipython() -> None:
    assert text("display(1)").startswith("try:\n    from IPython.display import display\n")
    assert "IPython" not in text("plt.display_name(1)")
