"""The Python API, whose names are those of `slipway`: `submit`, `sweep`, `job`, `jobs`, `Job` and `Sweep`."""
