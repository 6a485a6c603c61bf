"""The program of this checkout, and the one that a wheel has for `deploy`."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DECLARE = "def declare(run: Run) -> None:"


def test_deploy_declares_what_the_program_of_this_checkout_does() -> None:
    shown, shipped = (
        (ROOT / path).read_text().partition(DECLARE)[2] for path in ("__main__.py", "components/deployment.py")
    )
    assert shown == shipped, "copy __main__.py, from `def declare` on, into components/deployment.py"
