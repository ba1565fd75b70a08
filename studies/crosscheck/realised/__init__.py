"""The client weights that algorithms realise in a step of the server, and those they aim at."""
