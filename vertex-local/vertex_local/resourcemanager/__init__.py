"""Resource Manager: projects, read by id or number, on `v1` and `v3`."""
