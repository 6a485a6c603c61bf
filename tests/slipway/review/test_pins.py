"""Changed pins of what deploys and judges, from the old version to the new one. # N5 N14"""

import pytest

from slipway.review.pins import changed, included, local_paths

A, B = "a" * 64, "b" * 64
AT = "https://example.com/slipway_vertex-{}-py3-none-any.whl"
OLD = f"slipway-vertex[deploy] @ {AT.format('0.1.0')}#sha256={A}\nclick==8.2.0 \\\n    --hash=sha256:{B}\n"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("0.1.0", "0.2.0", "`slipway-vertex` `0.1.0` → `0.2.0`"),
        (A, B, "`slipway-vertex` `0.1.0`, from elsewhere or with other hashes"),
        ("8.2.0", "8.3.0", "`click` `8.2.0` → `8.3.0`"),
        ("click==8.2.0", "click>=8", "`click` `8.2.0` → `>=8`"),
        ("click==8.2.0", "click", "`click` `8.2.0` → `any version`"),
        ("click==8.2.0", "# by hand\nCLICK==8.2.0", ""),
        ("click==8.2.0", "rich==1.0\nclick==8.2.0", "`rich` none → `1.0`"),
        (
            "click==8.2.0",
            "click==8.2.0 ; python_version < '3.12'\nclick==8.2.0",
            "`click` `8.2.0` → `8.2.0 ==8.2.0 ; python_version < '3.12'`",
        ),
        (
            "click==8.2.0",
            "--index-url https://pypi.example\nclick==8.2.0",
            "`--index-url` none → `https://pypi.example`",
        ),
        ("click==8.2.0", "--index-url https://a:b@pypi.example\nclick==8.2.0", "`--index-url` none → hidden"),
        ("click==8.2.0", "-e ../lib\nclick==8.2.0", "`-e` none → `../lib`"),
        (
            AT.format("0.1.0"),
            "git+https://example.com/x.git@v2",
            "`slipway-vertex` `0.1.0` → `@ git+https://example.com/x.git@v2`",
        ),
    ],
)
def test_what_differs(old: str, new: str, told: str) -> None:
    assert changed(OLD, OLD.replace(old, new)) == ((told,) if told else ())


def test_slipway_comes_first() -> None:
    first, second = changed(OLD, OLD.replace("8.2.0", "8.3.0").replace("0.1.0", "0.2.0"))
    assert first.startswith("`slipway-vertex`") and second.startswith("`click`")


def test_where_requirements_lead() -> None:
    text = "-r a.txt\n--constraint=b.txt\n-e ../lib[x]\ny @ ./y.whl#sha256=0\nz @ https://example.com/z.whl\n.\nclick\n"
    assert included(text) == ("a.txt", "b.txt")
    assert local_paths(text) == ("../lib", "./y.whl", ".")
