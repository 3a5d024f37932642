"""Reads archives of exported programs: members, JSON, tensors and sizes, without PyTorch."""
