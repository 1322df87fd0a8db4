"""Answers that do not come from flexarm: differential equations of beams and rods, and equations of motion as papers
have them, solved by themselves."""
