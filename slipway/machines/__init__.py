"""Machines of Vertex AI training: table.json is the data, `table` the lookup, `spec` what is asked for."""
