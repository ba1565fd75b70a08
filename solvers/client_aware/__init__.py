"""Rules that are told the client, under a budget for everybody and one for each client."""
