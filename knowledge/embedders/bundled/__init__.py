"""multilingual-e5-small run from 4-bit weights that come as a pip package: offline, on the CPU, no torch.

`weights` reads the file, `tokenizer` and `graph` rebuild the model from it, `cache` keeps the built graph,
`backend` puts them together.
"""
