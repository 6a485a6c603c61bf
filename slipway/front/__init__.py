"""The two ways in: the command, whose verb is the path of a file (`slipway.front.cli`), and the Python API.

Words, tables, progress and exit codes are made here; decisions are not. What `slipway init` writes is the starter,
beside them. Imports every other floor, and only what a call needs: each verb's module is imported when it is called.
Begin with `slipway.front.cli`, or with `slipway.front.api.submit`.
"""
