"""Families of histories by topic, in thirds by their names."""
