"""Taking chosen values out of a file without breaking it, in a child process, before anything of it is stored."""
