"""The board: one page of a stack as it is, and of its month, drawn by scripts that the page brings along."""
