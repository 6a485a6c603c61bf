"""A trial of a study: train one classifier of handwritten digits and report how good it is."""
