"""The options of the commands, and the settings of a project."""
