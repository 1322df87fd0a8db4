"""Equation (16) of the paper, implemented literally: the axial force of the rigid beam as a geometric stiffness.

This is a linear model that uses nothing of flexarm but the prescribed motion: cubic Hermite elements of the whole beam,
two constraints at points that move along it, and Runge-Kutta steps with projection. The axial force is that of
equation (18) without gravity and payload, F(x) = -mu (L - x) a, with the drive at H.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import Polynomial
from scipy.interpolate import BPoly

from flexarm.foundation.validation import Array
from flexarm_papers.pan.beam import (
    DEFLECTION,
    ELEMENTS,
    LENGTH,
    MASS_PER_METRE,
    RIGIDITY,
    SAMPLE_COUNT,
    SUPPORTS,
    Case,
    rise,
    travel,
)

HERMITE = tuple(map(Polynomial, ((1, 0, -3, 2), (0, 1, -2, 1), (0, 0, 3, -2), (0, 0, -1, 1))))  # of x/h; slopes times h
FINE_ELEMENTS = 24  # to estimate the error of ELEMENTS
MAX_PHASE_STEP = 1.4  # highest frequency times step size; RK4 is stable up to 2.8


@dataclass(frozen=True)
class BeamMatrices:
    """Matrices of the free beam; coordinates are deflection and slope of each node.

    mass, stiffness: of bending.
    axial: geometric stiffness per acceleration of the beam to the right, equation (16).
    load: generalized forces of a uniform load of 1 N/m.
    """

    mass: Array
    stiffness: Array
    axial: Array
    load: Array


@cache
def beam_matrices(elements: int) -> BeamMatrices:
    """Assemble the matrices of `elements` cubic elements by Gauss quadrature, which is exact here."""
    h, count = LENGTH / elements, 2 * (elements + 1)
    points, weights = np.polynomial.legendre.leggauss(4)
    points, weights = (points + 1) / 2, weights * h / 2
    scale = np.array([1, h, 1, h])
    shapes, slopes, bends = (
        np.array([each.deriv(order)(points) if order else each(points) for each in HERMITE]).T * scale / h**order
        for order in (0, 1, 2)
    )
    M, K, G, load = np.zeros((count, count)), np.zeros((count, count)), np.zeros((count, count)), np.zeros(count)
    for k in range(elements):
        own = slice(2 * k, 2 * k + 4)
        force = -MASS_PER_METRE * (LENGTH - h * (k + points))  # N per m/s^2, tension positive
        M[own, own] += MASS_PER_METRE * shapes.T * weights @ shapes
        K[own, own] += RIGIDITY * bends.T * weights @ bends
        G[own, own] += slopes.T * (weights * force) @ slopes
        load[own] += weights @ shapes
    return BeamMatrices(M, K, G, load)


def shape_values(elements: int) -> list[BPoly]:
    """Return the shape functions as piecewise polynomials of x, and their first and second derivatives."""
    x = np.linspace(0, LENGTH, elements + 1)
    nodal = np.eye(2 * (elements + 1)).reshape(elements + 1, 2, -1)
    shapes = BPoly.from_derivatives(x, nodal)
    return [shapes, shapes.derivative(), shapes.derivative(2)]


@cache
def rise_by_equation_16(case: Case, elements: int = ELEMENTS) -> Array:
    """Integrate a case with the drive at H.

    Parameters
    ----------
    case : Case
        Motion of the beam.
    elements : int
        Number of elements.

    Returns
    -------
    ndarray, shape (SAMPLE_COUNT + 1,)
        Transverse displacement of the observed end (m), at the sampling times of `beam.travel`.
    """
    beam = beam_matrices(elements)
    shapes, slopes, bends = shape_values(elements)
    inverse = np.linalg.inv(beam.mass)
    bending, axial = inverse @ beam.stiffness, inverse @ beam.axial
    fastest = np.sqrt(np.linalg.eigvals(bending).real.max())
    substeps = int(np.ceil(case.duration / SAMPLE_COUNT * fastest / MAX_PHASE_STEP))
    dt = case.duration / SAMPLE_COUNT / substeps
    steps = SAMPLE_COUNT * substeps

    # everything that depends on time alone, at the steps and half-way between them
    t = np.linspace(0, case.duration, 2 * steps + 1)
    place, speed, acceleration = case.place(0.0)(t), case.speed(t), case.acceleration(t)
    x = np.array(SUPPORTS) - place[:, None]  # points of the beam that are at the supports
    J = shapes(x)
    J_dot = -speed[:, None, None] * slopes(x)
    J_ddot = speed[:, None, None] ** 2 * bends(x) - acceleration[:, None, None] * slopes(x)
    lifts = inverse @ J.transpose(0, 2, 1)
    gains = lifts @ np.linalg.inv(J @ lifts)  # acceleration of the nodes per violation of the constraints

    def accelerations(k: int, w: Array, v: Array) -> Array:
        free = -(bending @ w) - acceleration[k] * (axial @ w)
        return np.asarray(free - gains[k] @ (J[k] @ free + 2 * (J_dot[k] @ v) + J_ddot[k] @ w))

    end = 0 if case.observed == "H" else -2
    w, v = static_shape(beam, J[0], end), np.zeros(len(beam.load))
    found = [w[end]]
    for step in range(steps):
        k = 2 * step
        v1, a1 = v, accelerations(k, w, v)
        v2 = v + dt / 2 * a1
        a2 = accelerations(k + 1, w + dt / 2 * v1, v2)
        v3 = v + dt / 2 * a2
        a3 = accelerations(k + 1, w + dt / 2 * v2, v3)
        v4 = v + dt * a3
        a4 = accelerations(k + 2, w + dt * v3, v4)
        w = w + dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
        v = v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        w = w - gains[k + 2] @ (J[k + 2] @ w)
        v = v - gains[k + 2] @ (J[k + 2] @ v + J_dot[k + 2] @ w)
        if (step + 1) % substeps == 0:
            found.append(w[end])
    return np.array(found)


def difference_by_equation_16(case: Case, elements: int, reference: int = ELEMENTS) -> float:
    """Return the largest difference between two numbers of elements, as a fraction of the initial rise."""
    difference = rise_by_equation_16(case, elements) - rise_by_equation_16(case, reference)
    return float(np.abs(difference).max() / DEFLECTION)


def mesh_error(case: Case) -> float:
    """Estimate the error of ELEMENTS elements by FINE_ELEMENTS, as a fraction of the initial rise."""
    return difference_by_equation_16(case, ELEMENTS, FINE_ELEMENTS)


def difference_from_shortened_beam(case: Case, deflection: float = DEFLECTION) -> float:
    """Return how far equation (16) is from the model of `beam.floating`, as a fraction of the initial rise.

    Both have ELEMENTS elements. Equation (16) is linear, the other model is not: the difference depends on the
    initial rise `deflection` (m).
    """
    shortened = rise(travel(case, deflection=deflection), case.observed) / deflection
    return float(np.abs(shortened - rise_by_equation_16(case) / DEFLECTION).max())


def static_shape(beam: BeamMatrices, J: Array, end: int) -> Array:
    """Return the shape under a uniform load, scaled to DEFLECTION at the observed end."""
    zeros = np.zeros((len(J), len(J)))
    w = np.linalg.solve(np.block([[beam.stiffness, J.T], [J, zeros]]), np.r_[beam.load, np.zeros(len(J))])[: len(J.T)]
    return np.asarray(w * DEFLECTION / w[end])
