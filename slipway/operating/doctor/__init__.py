"""The doctor: faults of a stack and their fixes, from a frozen picture of its regions; and drift."""
