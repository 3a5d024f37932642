"""The command line: ``workbench ...``. Each module is a group of commands whose ``add(commands)`` creates their
parsers."""
