"""A review as a reader sees it: the comment of a change, and text for a terminal."""
