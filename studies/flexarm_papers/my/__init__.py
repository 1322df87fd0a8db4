"""My, Bien, Le and Packianather: planar robots with revolute, sliding and fixed prismatic joints, by finite elements.

Computes the nine two-link robots of the appendix, the robots C_PaR and C_RPb of section 4.5 (figures 4 to 9) in the
paper's model and in ours, contact by the element in the guide against contact at a node and at any point, and the robot
of the experiment (figures 12 to 14).
"""

from flexarm_papers.my.appendix import nine_robots
from flexarm_papers.my.contact import held_and_free, how_the_guide_holds
from flexarm_papers.my.experiment import robot_of_the_experiment
from flexarm_papers.my.simulations import (
    displacements_and_slopes,
    joint_displacements,
    number_of_elements,
    statements,
    the_two_robots,
    trajectories,
    what_the_changes_do,
)
from flexarm_papers.study import Study

STUDY = Study(
    name="my",
    short="My, Bien, Le and Packianather",
    paper="My, Bien, Le, Packianather: An Efficient Finite Element Formulation of Dynamics for a Flexible Robot with "
    "Different Type of Joints",
    covers="the nine robots of the appendix, figures 4 to 9 and 12 to 14",
    sections=(
        nine_robots,
        the_two_robots,
        joint_displacements,
        displacements_and_slopes,
        trajectories,
        statements,
        what_the_changes_do,
        number_of_elements,
        how_the_guide_holds,
        held_and_free,
        robot_of_the_experiment,
    ),
)
