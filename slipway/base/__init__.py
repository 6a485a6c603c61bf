"""Ground floor: what everything else uses and what knows nothing of Slipway's nouns.

Errors with their exit codes, numbers and names as text, columns and tables, whole files, frozen dataclasses as JSON,
clocks, and where the package came from. Imports nothing of the other floors. Begin with `slipway.base.errors`: every
failure is one of its classes, with what happened, why, and what to do.
"""
