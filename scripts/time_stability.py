#!/usr/bin/env python3
"""time_stability.py: stability of implicit time integration whose solve is left unconverged.

usage: scripts/time_stability.py

The test equation is x'' = -w^2 x. Each substep h solves an implicit equation for the position z at which the force is
taken, starts from a first iterate, and leaves the share eps of the first iterate's error:

    z = z_solution + eps (z_first - z_solution)

Velocity and acceleration then follow from z by the method's own formulas. Two tables are printed:
- the largest spectral radius of a substep over all frequencies, w h = 0.01 to 10,000; above 1 a motion grows without
  bound;
- the spectral radius at w h = 0.1, a slow motion: below the value of eps 0 the unconverged solve damps it.

Methods: generalised-alpha (Chung, Hulbert 1993) with spectral radius rho at infinite frequency, in which z lies between
the two ends of the substep and is the position that is shown; and BDF2, in which z is the new position.
First iterates: z0 and z_previous are the last two z; x and v are the integrator's position and velocity at the start
of the substep, and the share s of the substep is that at which z lies (1 - alpha_f; 1 for BDF2).
"""
import numpy as np

FREQUENCIES = np.logspace(-2, 4, 241)
SLOW = 0.1
SHARES = [0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9]
FIRST = {"z0 + h v": lambda z0, z_before, x0, v0, share: z0 + v0,
         "x + s h v": lambda z0, z_before, x0, v0, share: x0 + share * v0,
         "z0": lambda z0, z_before, x0, v0, share: z0,
         "2 z0 - z_previous": lambda z0, z_before, x0, v0, share: 2 * z0 - z_before}


def alpha_step(rho, first, eps, wh):
    """Matrix of a substep on (x, h v, h^2 a, z0, z_before)."""
    am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma, beta = 0.5 - am + af, 0.25 * (1 - am + af) ** 2
    columns = []
    for state in np.eye(5):
        x0, v0, a0, z0, z_before = state

        # (1 - am) a1 + am a0 = -wh^2 z, with a1 from z
        by_z = 1 / ((1 - af) * beta)
        fixed = -by_z * x0 - v0 / beta - (0.5 / beta - 1) * a0
        solution = -((1 - am) * fixed + am * a0) / ((1 - am) * by_z + wh * wh)

        z = solution + eps * (FIRST[first](z0, z_before, x0, v0, 1 - af) - solution)
        a1 = by_z * z + fixed
        columns.append([x0 + (z - x0) / (1 - af), v0 + (1 - gamma) * a0 + gamma * a1, a1, z, z0])
    return np.array(columns).T


def bdf2_step(first, eps, wh):
    """Matrix of a substep on (x, x_before, h v, h v_before)."""
    columns = []
    for state in np.eye(4):
        x0, x_before, v0, v_before = state

        # v1 = 3/2 x1 - 2 x0 + 1/2 x_before; 3/2 v1 - 2 v0 + 1/2 v_before = -wh^2 x1
        fixed = -2 * x0 + 0.5 * x_before
        solution = -(1.5 * fixed - 2 * v0 + 0.5 * v_before) / (2.25 + wh * wh)
        x1 = solution + eps * (FIRST[first](x0, x_before, x0, v0, 1) - solution)
        columns.append([x1, x0, 1.5 * x1 + fixed, v0])
    return np.array(columns).T


def radius(step, wh):
    return np.abs(np.linalg.eigvals(step(wh))).max()


def table(title, frequencies):
    print("\n%s\n" % title)
    print("| method | first iterate | " + " | ".join("eps %g" % eps for eps in SHARES) + " |")
    print("|---|---|" + "---|" * len(SHARES))
    methods = [("generalised-alpha, rho %g" % rho, lambda first, eps, wh, rho=rho: alpha_step(rho, first, eps, wh))
               for rho in (0, 0.3, 0.5, 0.8)]
    for name, step in methods + [("BDF2", bdf2_step)]:
        for first in FIRST:
            radii = [max(radius(lambda x, eps=eps: step(first, eps, x), wh) for wh in frequencies) for eps in SHARES]
            print("| %s | %s | %s |" % (name, first, " | ".join("%.4f" % value for value in radii)), flush=True)


def main():
    table("Largest spectral radius over all frequencies", FREQUENCIES)
    table("Spectral radius at w h = %g" % SLOW, [SLOW])


if __name__ == "__main__":
    main()
