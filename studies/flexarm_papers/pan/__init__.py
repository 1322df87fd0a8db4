"""Pan, Scott and Ulsoy (Journal of Mechanical Design, 1990): a flexible beam, pushed and pulled over two supports.

Section 5 of the paper, figures 7 to 9, is its one numerical example: a slow push, a fast push and a fast pull. They are
computed as the paper does it, by finite elements in a floating frame with constraints, and by a second description that
shares little with the first; then by the paper's own time integration. A sleeve on a link that turns, which the paper
formulates without an example, comes last.
"""

from flexarm_papers.pan.motions import (
    fast_pull,
    fast_push,
    poses_and_reactions,
    push_against_pull,
    slow_push,
    the_driven_end,
    the_example,
)
from flexarm_papers.pan.numerics import equation_16_literally, the_number_of_elements, the_papers_integration
from flexarm_papers.pan.sleeve import a_sleeve_that_turns
from flexarm_papers.pan.statements import what_the_paper_states
from flexarm_papers.study import Study

STUDY = Study(
    name="pan",
    short="Pan, Scott and Ulsoy (1990)",
    paper="Y.-C. Pan, R. A. Scott and A. G. Ulsoy, Dynamic modeling and simulation of flexible robots with prismatic "
    "joints, ASME Journal of Mechanical Design, 1990 (part I of two; part II, an experiment, is in Vol. 112, No. 3, "
    "pp. 315-323)",
    covers="figures 7 to 9, and a robot with the joint of figure 4",
    sections=(
        the_example,
        slow_push,
        fast_push,
        fast_pull,
        push_against_pull,
        the_driven_end,
        poses_and_reactions,
        the_papers_integration,
        the_number_of_elements,
        equation_16_literally,
        a_sleeve_that_turns,
        what_the_paper_states,
    ),
)
