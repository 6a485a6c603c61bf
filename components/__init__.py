"""Pulumi components: they declare, the rules in `slipway` decide. Each takes plain arguments and can be imported alone.

What a component knows is among its inputs, because preview shows those and hides outputs and object contents.
"""
