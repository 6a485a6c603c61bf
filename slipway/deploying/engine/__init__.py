"""The engine's own account of a deployment: its steps and events, what they touch, grants, fields of buckets, drift."""
