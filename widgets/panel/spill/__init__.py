"""The bar of a trace that is kept on disk."""
