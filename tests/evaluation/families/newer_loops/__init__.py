"""Families of loops that were written later."""
