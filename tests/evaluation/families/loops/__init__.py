"""Families of loops by topic, in thirds by their names."""
