"""`python -m slipway`: the command line from a checkout that was not installed."""

from slipway.cli import run

if __name__ == "__main__":
    run()
