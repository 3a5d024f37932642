"""The layout of a panel: columns, dividers, tabs and the size of its text."""
