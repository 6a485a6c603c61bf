"""Training on machines that may go at any moment: checkpoints, and each attempt goes on from the last of them."""
