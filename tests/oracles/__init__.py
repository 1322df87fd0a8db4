"""Answers that do not come from flexarm: differential equations of beams and rods, solved by themselves."""
