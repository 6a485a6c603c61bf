"""Jobs that were submitted: finding one, why it waits, what it wrote, how it ended."""
