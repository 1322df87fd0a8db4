"""Integration methods as step maps, the plant that they integrate and its inputs."""
