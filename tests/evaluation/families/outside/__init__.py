"""Families written without a look at the analysis; the half that a coin gives to development."""
