"""Whether answers know what the documents do not say."""
