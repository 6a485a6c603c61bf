"""The machines that replicas run on, as processes of this one."""
