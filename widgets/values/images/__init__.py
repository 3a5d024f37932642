"""Arrays as images: their colours, the frames that are played, and the samples of a film strip."""
