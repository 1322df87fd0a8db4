"""The appendix: kinematics of the nine robots of two links."""

from __future__ import annotations

import numpy as np

import flexarm as fa
from flexarm_papers.my.drawings import nine_pictures
from flexarm_papers.my.robots import NINE, POSTURES, posed
from flexarm_papers.page import Page


def apart_when_straight() -> float:
    """Largest distance between the ends of the nine flexible robots, straight, and of the rigid ones (m)."""
    apart = []
    for system, q in (posed(*kinds, bend=0.0) for kinds in NINE):
        rigid = fa.System(system.robot.rigid(), native=False)
        apart.append(np.abs(system.tip(q) - rigid.tip({name: q[system.index(name)] for name in rigid.names})).max())
    return float(max(apart))


def end_of_rpa() -> tuple[float, float, float]:
    """y of the end of the flexible RPa: as computed, by the printed row, and by the row with cos for its last sin."""
    system, q = posed("R", "Pa")
    theta, d = POSTURES["R"][0], POSTURES["Pa"][1]
    root, length = system.frame("link2", 0.0, q), system.robot.links[1].length
    u = root[1, 3] * np.cos(theta) - root[0, 3] * np.sin(theta)
    w = system.deflection("link2", q)[1][-1, 1]
    angle = np.arctan2(root[1, 0], root[0, 0])
    both = d * np.sin(theta) + u * np.cos(theta) + length * np.sin(angle)
    return float(system.tip(q)[1]), float(both + w * np.sin(angle)), float(both + w * np.cos(angle))


def nine_robots(page: Page) -> None:
    page.text("""
        Planar robots whose joints are hinges (R), slides fixed to a link that ride along the previous one (Pa), or
        guides fixed to the previous link through which a link slides (Pb). The paper's curves stand in figures that are
        not at hand; what it says of them in words is compared below. Symbols are the paper's: theta_i and d_i are the
        variables of joint i, gamma_i the angle between links, l_i the length of link i, m_t the payload.
    """)
    page.heading("Nine robots of two links (appendix)")
    caption = """The nine configurations of the appendix, both links bent; straight in grey. Hinges are circles, slides
        and guides are bars, the red dot is the payload. A slide follows the link it rides on; a link also bends behind
        the guide that it slides through."""
    page.figure("nine_robots", nine_pictures(), " ".join(caption.split()))
    computed, printed, mended = end_of_rpa()
    page.text(f"""
        Lengths, angles and postures are chosen to be seen; links are bent by their first modes. The ends of the links
        are where the appendix has them (the tests compare all rows), but for one row: in this posture the end of the
        flexible RPa lies at y = {computed:.4f} m; the printed row, which ends in a sine, gives {printed:.4f} m; with a
        cosine, as in all other rows, it is {mended:.4f} m.
    """)
    apart, off = apart_when_straight(), abs(printed - computed)
    same = "without deformation, flexible and rigid robots have the same kinematics"
    page.statements(
        [
            (same, f"ends of the nine robots at most {apart:.0e} m apart", apart < 1e-12),
            ("y of the end of the flexible RPa", f"the printed row is off by {1000 * off:.0f} mm", off < 1e-9),
        ]
    )
