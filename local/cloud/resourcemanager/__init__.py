"""Resource Manager: the projects there are, read by id or number, on `v1` and `v3`."""
