"""Train a classifier of handwritten digits and leave it where a training pipeline takes its model from."""
