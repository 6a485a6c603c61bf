"""The program that `pulumi up` runs for each stack of this checkout: the components of its stack file, which
`components/program.py` composes. The program of `slipway init` is the same one."""

from components.program import deploy

deploy(__file__)
