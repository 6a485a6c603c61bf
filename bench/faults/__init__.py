"""The faults to survive: every call of every journey as a point where the world stops, and the same command again."""
