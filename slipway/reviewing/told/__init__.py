"""A review for people and programs: Markdown, a terminal, JSON."""
