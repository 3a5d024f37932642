"""Widgets with others in them, for front ends that draw widgets of anywidget alone."""
