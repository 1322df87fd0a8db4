"""Work in pieces: order, interrupts and progress."""

import pytest

import flexarm as fa
from flexarm.analysis.frequency_maps import run_pieces


def test_all_is_done_in_order():
    done = []
    assert run_pieces([3, 1, 2], done.append, "pieces", False) == 3
    assert done == [3, 1, 2]


def test_an_interrupt_keeps_what_is_done():
    done = []

    def work(piece):
        if piece == 2:
            raise KeyboardInterrupt
        done.append(piece)

    with pytest.warns(fa.ValidityWarning, match="interrupted: 2 of 4 pieces are done"):
        assert run_pieces([0, 1, 2, 3], work, "pieces", False) == 2
    with pytest.raises(KeyboardInterrupt):
        run_pieces([2, 3], work, "pieces", False)


def test_errors_are_not_swallowed_and_the_bar_counts(capsys):
    with pytest.raises(ZeroDivisionError):
        run_pieces([1, 0], lambda piece: 1 / piece, "pieces", True)
    with pytest.raises(ValueError, match="progress = 3"):
        run_pieces([1], print, "pieces", 3)
