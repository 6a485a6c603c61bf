"""The board: one page with a stack's present state and its month, drawn by scripts that the page contains."""
