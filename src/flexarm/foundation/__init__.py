"""What every room stands on: arrays and numbers checked, sentences about names, files written whole, families of
deformation. Nothing here knows of robots."""
