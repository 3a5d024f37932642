"""Arrays as images: their colours, played frames, and the samples of a film strip."""
