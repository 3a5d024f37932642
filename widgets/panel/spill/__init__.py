"""The progress bar of a trace kept on disk."""
