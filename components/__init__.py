"""Pulumi components, which declare by the rules in `slipway`. Each takes plain arguments and can be imported alone.

A component's facts are among its inputs, because preview shows those and hides outputs and object contents.
"""
