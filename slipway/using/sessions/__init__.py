"""Sessions: jobs that hold their machines, and run what their owner sends."""
