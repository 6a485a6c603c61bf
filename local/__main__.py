"""`python -m local`: see `local.cli`."""

from local.cli import cli

if __name__ == "__main__":
    cli(prog_name="python -m local")
