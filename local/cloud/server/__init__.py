"""The process: started and stopped, listening, and controlled by its owner."""
