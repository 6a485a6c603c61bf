"""`make site`: the documentation as a web site, in `build/site`.

Its pages keep the places that they have in the repository, so links between them need no change, nor do those to files
that are no pages: all that a link leads to is in the site. A link that leads nowhere fails it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from slipway.base.standard_output import exit_after

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
_CODE_OF_TABLE = re.compile(r"(?<=`)[^`\n]*(?=`)")
_UV = Path(sys.executable).with_name("uv")


def outline(text: str) -> str:
    """Return the page without its blocks of code, in which nothing is a link or a heading."""
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)


def linked(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file that a page links to, with the heading in it, empty for none."""
    for target, anchor in LINK.findall(outline(page.read_text("utf-8"))):
        yield (page.parent / target).resolve(), anchor.removeprefix("#")


def reached() -> set[Path]:
    """Return every file and folder that a reader of the README or of a guide can reach."""
    left = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    found = set(left)
    while left:
        page = left.pop()
        leads = linked(page) if page.suffix == ".md" else ()
        new = {target for target, _ in leads if target.exists()} - found
        found |= new
        left += new
    return found


def stage(folder: Path) -> None:
    """Write the sources of the site. A folder that is linked gets a page that lists its files."""
    for path in sorted(reached()):
        target = folder / path.relative_to(ROOT)
        if path.is_dir():
            shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__"))
            names = sorted(one.relative_to(path).as_posix() for one in path.rglob("*") if one.is_file())
            listed = [f"- [{name}]({name})" for name in names if "__pycache__" not in name]
            (target / "README.md").write_text("\n".join([f"# {path.relative_to(ROOT)}", "", *listed, ""]), "utf-8")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(_page(path), "utf-8")
        else:
            shutil.copyfile(path, target)


def _page(path: Path) -> str:
    """Return the text of a page, in which links to folders lead to their lists, `|` in a table's code is itself, and
    folded parts are Markdown."""

    def led(found: re.Match[str]) -> str:
        return f"{found[1].rstrip('/')}/README.md" if (path.parent / found[1]).is_dir() else found[0]

    lines = LINK.sub(led, path.read_text("utf-8")).replace("<details>", '<details markdown="1">').split("\n")
    plain = (_CODE_OF_TABLE.sub(lambda code: code[0].replace("\\|", "|"), line) for line in lines)
    return "\n".join(new if line.startswith("|") else line for line, new in zip(lines, plain, strict=True))


def tools() -> Path:
    """Return the folder of the environment that builds the site, made anew when its pins have changed."""
    pins = ROOT / "requirements-site.txt"
    folder = ROOT / ".venv" / f"site-{hashlib.sha256(pins.read_bytes()).hexdigest()[:12]}"
    if not (folder / "ready").exists():
        print(f"site    packages, pinned with hashes, into {folder.relative_to(ROOT)}", flush=True)
        subprocess.run([_UV, "venv", "--quiet", "--clear", "--python", sys.executable, folder], check=True)
        install: list[str | Path] = [
            _UV,
            "pip",
            "install",
            "--quiet",
            "--require-hashes",
            "--python",
            folder / "bin" / "python",
        ]
        subprocess.run([*install, "-r", pins], check=True)
        (folder / "ready").touch()
    return folder


def main() -> int:
    python = tools() / "bin" / "python"
    pages = ROOT / "build" / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    stage(pages)
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # mkdocs.yml says when the theme's support ends
    build: list[str | Path] = [python, "-m", "mkdocs", "build", "--strict", "--clean"]
    code = subprocess.run(build, cwd=ROOT, env=environment).returncode
    if code:
        print("error: the site was not built\n  fix: correct what is named above", file=sys.stderr)
        return code
    print("site    build/site/index.html")
    return 0


if __name__ == "__main__":
    exit_after(main)
