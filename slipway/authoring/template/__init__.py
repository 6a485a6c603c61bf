"""Job templates: the jobs that people submit by name. Declared in templates/*.py, proven against the pools, compiled to
JSON. Authors import from `slipway.template`."""
