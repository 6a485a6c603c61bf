"""Comments as pictures: rendered as GitHub renders Markdown, in a browser without a screen.

`python -m tests.review.pictures FOLDER` draws cases of the corpus, and the README's into docs/comment.png.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt

from slipway.reviewing.render.comment import comment
from tests import chromium
from tests.docs import goldens
from tests.review.cases.others import CASES
from tests.review.play import play

DOCS = Path(__file__).parents[2] / "docs"
_STYLE = """
body { margin: 16px; font: 14px/1.5 -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; color: #1f2328; width: 860px }
h3 { font-size: 17px; margin: 0 0 12px } ul { padding-left: 20px; margin: 12px 0 } li { margin: 4px 0 }
table { border-collapse: collapse } th, td { border: 1px solid #d1d9e0; padding: 5px 12px; text-align: left }
code { background: #eff1f3; border-radius: 5px; padding: 1px 5px; font: 12px "DejaVu Sans Mono", monospace }
blockquote { margin: 0; padding: 0 12px; color: #59636e; border-left: 4px solid #d1d9e0 } sub { color: #59636e }
pre { background: #f6f8fa; padding: 12px; overflow: auto }
"""


def html_of(markdown: str) -> str:
    """Return the page of a comment. Comments have tables and folds, which GitHub takes as well, and nothing loads
    anything."""
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
    return f"<!doctype html><html><head>{head}<style>{_STYLE}</style></head><body>{body}</body></html>"


def draw(page: str, picture: Path, height: int = 420) -> None:
    """Draw a page. Raises FileNotFoundError where there is no browser, CalledProcessError where it fails."""
    found = chromium.find()
    if isinstance(found, str):
        raise FileNotFoundError(found)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(page, encoding="utf-8")
        command = [str(found.program), *chromium.FLAGS, "--hide-scrollbars"]
        command += [f"--user-data-dir={folder}/profile", f"--window-size=900,{height}", f"--screenshot={picture}"]
        environ = {**os.environ, **found.environ}
        subprocess.run([*command, file.as_uri()], env=environ, check=True, capture_output=True, timeout=120)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    draw(html_of(goldens.rolls()), DOCS / "comment.png", 330)
    for number, case in enumerate((picture for picture in CASES if not picture.harmless), 1):
        draw(html_of(comment((play(case),))), folder / f"{number}.png")
        sys.stderr.write(f"{number} {case.says}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
