"""The same work in flexarm and in what a user would pick instead, one file for each tool."""
