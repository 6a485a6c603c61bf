"""The program that `pulumi up` runs for each stack of this checkout."""

from pathlib import Path

from components.program import deploy

deploy(Path(__file__).resolve().parent)
