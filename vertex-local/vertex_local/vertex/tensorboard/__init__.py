"""Vertex AI TensorBoard: tensorboards, their experiments, runs and time series, and the data in these."""
