"""Commands: COMMANDS of every file has each by its name; kindred ones share a file."""
