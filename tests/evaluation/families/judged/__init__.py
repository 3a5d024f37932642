"""Families written without a look at the analysis; the half that judges it: nothing is tuned against them."""
