"""The note of who saved a finding, which travels with it."""

#: maximum characters of a note
MOST_NOTE = 20_000
