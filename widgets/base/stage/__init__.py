"""Widgets that contain others, for front ends that draw only widgets of anywidget."""
