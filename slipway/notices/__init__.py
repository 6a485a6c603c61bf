"""Notices that nobody asked for: an issue for each, touched only when its shape changes."""
