"""Numbers of nodes that links in a plane and in space share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.nodes import LinkNodes
from flexarm.beam.patterns import Patterns

if TYPE_CHECKING:
    from flexarm.mechanics.numbers import Numbers


def add_stretch(numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes) -> None:
    """u' at the nodes, where the link stretches."""
    if "stretch" not in beam.columns:
        return
    columns, x = beam.columns["stretch"], nodes.places
    rows, present = np.zeros((len(x), beam.count)), np.zeros((len(x), beam.count), dtype=bool)
    rows[:, columns] = beam.shapes["stretch"].derivative()(x)
    present[:, columns] = np.stack([Patterns(beam).lives_at("stretch", each) for each in x.tolist()])
    numbers.add(f"{path}.stretch", "1", rows, present)
