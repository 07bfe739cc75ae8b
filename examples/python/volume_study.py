"""volume_study.py [PARAMETER] [OUT.png]: how a parameter of a solver changes the volume of the flexed arm.

Bakes the arm once for each of five values over the parameter's range, prints a table and plots the volume over time with
matplotlib (without it, the table alone). A start for studies of your own.
"""
import sys

import numpy as np

import cutis

SOLVER = "layers"


def study(character, clip, name, values):
    """Bakes, by value. Whoever varies several parameters gives more settings."""
    results = {}
    for value in values:
        results[value] = cutis.bake(character, solver=SOLVER, clip=clip, settings={name: value}, fps=24, measure=True)
    return results


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "volume_iterations"
    picture = sys.argv[2] if len(sys.argv) > 2 else "volume_study.png"
    parameter = cutis.solver(SOLVER).parameter(name)
    if parameter.type not in ("int", "float"):
        raise SystemExit("%s is no number; choose another parameter of %s" % (name, SOLVER))
    values = np.linspace(parameter.min, min(parameter.max, 2 * parameter.default or parameter.max), 5)
    if parameter.type == "int":
        values = np.unique(np.round(values)).astype(int)

    # the table
    results = study(cutis.Character.make("arm", 0.5), "flex", name, values.tolist())
    print("%-20s %12s %14s %10s" % (name, "volume error", "intersections", "ms/frame"))
    for value, result in results.items():
        print("%-20g %11.3f%% %14d %10.1f" % (value, 100 * result.quality.volume_error_max,
                                             result.quality.self_intersections_max, 1000 * result.step_median))

    # the plot
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plot
    except ImportError:
        print("no picture: matplotlib is not installed (python3-matplotlib)")
        return
    for value, result in results.items():
        plot.plot(np.arange(result.frame_count) / result.fps, 100 * (result.volume_ratios - 1), label="%g" % value)
    plot.xlabel("time, s")
    plot.ylabel("change of volume, %")
    plot.title("arm, clip flex, solver %s" % SOLVER)
    plot.legend(title=name)
    plot.savefig(picture, dpi=100)
    print("wrote %s" % picture)


if __name__ == "__main__":
    main()
