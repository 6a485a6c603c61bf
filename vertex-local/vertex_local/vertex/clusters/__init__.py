"""Persistent resources: the shared clusters that jobs run on."""
