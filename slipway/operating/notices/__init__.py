"""Notices without a request: an issue for each, touched only when its shape changes."""
