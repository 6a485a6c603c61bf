"""Machines of Vertex AI training: table.json is the data, `table` the lookup, `spec` the machine of a request."""
