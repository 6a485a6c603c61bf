"""The program that `pulumi up` runs for each stack of this checkout."""

from components.program import deploy

deploy(__file__)
