"""Accuracy of a robot's models: bounds of deflections, second-order links, and the number of shapes."""
