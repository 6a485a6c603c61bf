"""Hold a machine, and run commands on it one after the other, each some seconds after an edit.

A session is a job as any other, which ends by itself. SESSION is its name, "session" unless --name chose another.
"""
