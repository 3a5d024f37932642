"""Families of histories that were written later."""
