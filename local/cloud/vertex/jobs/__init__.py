"""Custom jobs: what is asked of them, how they live, and what runs for them."""
