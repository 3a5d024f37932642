"""Nets and helpers that several sources use; imported only where models are made."""
