"""Resource Manager: the one project, read by id or number, on `v1` and `v3`."""
