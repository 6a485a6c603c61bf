"""The machines of replicas, as processes of this one."""
