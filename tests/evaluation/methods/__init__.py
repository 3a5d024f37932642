"""Other ways to judge histories and loops, for one table beside ours; each a file, each with the same two questions."""
