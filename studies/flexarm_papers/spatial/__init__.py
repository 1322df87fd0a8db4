"""Advances in Mechanical Engineering 2013, 216014 (doi 10.1155/2013/216014), section 4: a beam spun up by its joint
without and with dynamic stiffening (figures 3-5), and the Canadarm2 dropping in the field of gravity (figures 8-18)."""

from flexarm_papers.spatial.drop import dropping, rotor_inertia
from flexarm_papers.spatial.rotating_beam import spin_up
from flexarm_papers.spatial.stiffness import joint_stiffness
from flexarm_papers.study import Study

STUDY = Study(
    name="spatial",
    short="Spatial manipulators of n flexible links and n flexible joints (2013)",
    paper="Dynamics of spatial manipulator arms of n flexible links and n flexible joints (as its abstract says; names "
    "of authors and the exact title are not in the text at hand), Advances in Mechanical Engineering, 2013, article "
    "216014, doi:10.1155/2013/216014",
    covers="figures 3-5 and 8-18",
    sections=(spin_up, dropping, rotor_inertia, joint_stiffness),
)
