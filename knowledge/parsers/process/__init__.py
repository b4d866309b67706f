"""Reading a file in a child process with limits of memory, time and size."""
