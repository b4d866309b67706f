"""Rules on what a document must, should or must not say."""
