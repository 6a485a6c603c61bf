"""Vertex ML Metadata: stores with contexts, executions, artifacts and what connects them; Experiments rest on it."""
