"""The command line: ``workbench ...``. One module a group of commands, each with ``add(commands)`` for its parsers."""
