"""The server process: its start and stop, its port, and its owner's control."""
