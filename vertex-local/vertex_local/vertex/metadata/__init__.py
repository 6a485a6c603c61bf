"""Vertex ML Metadata: stores with contexts, executions, artifacts and their connections; Experiments rest on it."""
