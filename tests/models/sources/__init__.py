"""One module for each source of models: what is there, in which half, and how it is made."""
