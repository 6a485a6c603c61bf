"""Vertex AI: clusters, jobs of all kinds, models, metadata, tensorboards, and the operations that change them."""
