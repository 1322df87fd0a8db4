"""The same tasks in flexarm and in alternative tools, one file for each tool."""
