"""What somebody should be told of although nobody asked; an issue for each, touched only when its shape changes."""
