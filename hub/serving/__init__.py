"""How the web server is run: which connections it takes, for how long it waits for what a client sends."""
