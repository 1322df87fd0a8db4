"""A beam in a sleeve that turns, by elements and a multiplier of its own, integrated by SciPy.

Nothing of the package is used. In the plane, the carrier turns by theta about the origin, the beam's end is at s along
it, the beam deflects by v(x) = N y and shortens by k = 1/2 int v'^2. The kinetic energy is kept to second order in y;
at the mouth, x = mouth - s, v is zero.
"""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

GAUSS, WEIGHTS = np.polynomial.legendre.leggauss(5)


def hermite(x, size):
    """Values, slopes and curvatures (3, 4) of the cubic functions of an element at x from its left node."""
    r = x / size
    return np.array(
        [
            [1 - 3 * r**2 + 2 * r**3, size * (r - 2 * r**2 + r**3), 3 * r**2 - 2 * r**3, size * (r**3 - r**2)],
            [(6 * r**2 - 6 * r) / size, 1 - 4 * r + 3 * r**2, (6 * r - 6 * r**2) / size, 3 * r**2 - 2 * r],
            [(12 * r - 6) / size**2, (6 * r - 4) / size, (6 - 12 * r) / size**2, (6 * r - 2) / size],
        ]
    )


@dataclass
class BeamInSleeve:
    length: float
    mass_per_metre: float
    rigidity: float
    inertia: float  # of the carrier about its hinge
    mouth: float
    elements: int
    torque: object  # functions of t
    push: object

    def __post_init__(self):
        n, mu, L = self.elements, self.mass_per_metre, self.length
        self.size = L / n
        self.count = 2 * n
        full = 2 * n + 2
        self.M, self.K, self.G0, self.G1 = np.zeros((4, full, full))
        self.a, self.b = np.zeros((2, full))
        for e in range(n):
            here = slice(2 * e, 2 * e + 4)
            for point, weight in zip(GAUSS, WEIGHTS):
                xi = (1 + point) * self.size / 2
                N, dN, ddN = hermite(xi, self.size)
                x, w = e * self.size + xi, weight * self.size / 2
                self.M[here, here] += mu * w * np.outer(N, N)
                self.K[here, here] += self.rigidity * w * np.outer(ddN, ddN)
                self.G0[here, here] += mu * w * (L - x) * np.outer(dN, dN)
                self.G1[here, here] += mu * w * (L**2 - x**2) / 2 * np.outer(dN, dN)
                self.a[here] += mu * w * N
                self.b[here] += mu * w * x * N
        for name in ("M", "K", "G0", "G1"):
            setattr(self, name, getattr(self, name)[2:, 2:])
        self.a, self.b = self.a[2:], self.b[2:]
        self.m0, self.S1, self.S2 = mu * L, mu * L**2 / 2, mu * L**3 / 3

    def shape(self, x):
        """(3, 2 n): the functions, their slopes and curvatures at x."""
        e = min(int(x / self.size), self.elements - 1)
        out = np.zeros((3, self.count + 2))
        out[:, 2 * e : 2 * e + 4] = hermite(x - e * self.size, self.size)
        return out[:, 2:]

    def accelerations(self, t, q, u):
        """Of (theta, s, y), and the force of the mouth."""
        s, y = q[1], q[2:]
        w, ds, dy = u[0], u[1], u[2:]
        M, G0, G1, a, b = self.M, self.G0, self.G1, self.a, self.b
        n = len(q)
        full = np.zeros((n + 1, n + 1))
        full[0, 0] = self.inertia + y @ M @ y + self.m0 * s**2 + 2 * s * self.S1 + self.S2 - y @ (s * G0 + G1) @ y
        full[0, 1] = full[1, 0] = -a @ y
        full[0, 2:n] = full[2:n, 0] = s * a + b
        full[1, 1] = self.m0
        full[1, 2:n] = full[2:n, 1] = -G0 @ y
        full[2:n, 2:n] = M
        right = np.zeros(n + 1)
        right[0] = self.torque(t) - w * (
            2 * y @ M @ dy
            + 2 * self.m0 * s * ds
            + 2 * ds * self.S1
            - ds * y @ G0 @ y
            - 2 * s * y @ G0 @ dy
            - 2 * y @ G1 @ dy
        )
        right[1] = self.push(t) + (
            2 * w * a @ dy + dy @ G0 @ dy + w**2 * (self.m0 * s + self.S1) - w**2 * y @ G0 @ y / 2
        )
        right[2:n] = -self.K @ y - 2 * w * ds * a + w**2 * M @ y - w**2 * (s * G0 + G1) @ y
        N, dN, ddN = self.shape(self.mouth - s)
        full[n, 2:n], full[n, 1] = N, -dN @ y
        full[:n, n] = full[n, :n]
        right[n] = 2 * ds * (dN @ dy) - ds**2 * (ddN @ y)
        found = np.linalg.solve(full, right)
        return found[:n], found[n]

    def run(self, q0, times):
        """(times, coordinates) from rest."""
        n = len(q0)

        def rates(t, state):
            return np.concatenate([state[n:], self.accelerations(t, state[:n], state[n:])[0]])

        start = np.concatenate([q0, np.zeros(n)])
        span = times[0], times[-1]
        done = solve_ivp(rates, span, start, "Radau", times, rtol=1e-7, atol=1e-9)
        assert done.success
        return done.y.T[:, :n]

    def tip(self, q):
        """(times, 2): in the world."""
        v = q[:, -2]
        short = np.array([y @ self._shortening() @ y for y in q[:, 2:]]) / 2
        x = q[:, 1] + self.length - short
        c, s = np.cos(q[:, 0]), np.sin(q[:, 0])
        return np.stack([c * x - s * v, s * x + c * v], axis=1)

    def _shortening(self):
        """int N'^T N' over the whole beam."""
        full = np.zeros((self.count + 2,) * 2)
        for e in range(self.elements):
            here = slice(2 * e, 2 * e + 4)
            for point, weight in zip(GAUSS, WEIGHTS):
                dN = hermite((1 + point) * self.size / 2, self.size)[1]
                full[here, here] += weight * self.size / 2 * np.outer(dN, dN)
        return full[2:, 2:]
