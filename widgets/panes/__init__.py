"""Panes of the panel: what is opened on demand below the views that are always there."""
