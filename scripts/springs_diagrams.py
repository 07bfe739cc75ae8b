#!/usr/bin/env python3
"""springs_diagrams.py FOLDER: Figures 2 and 4 of Cordier and Magnenat-Thalmann as springs_edge.svg and springs_response.svg.

The forces of the edge are computed by the formulas of docs/reference/solvers/springs.md and drawn to scale.
"""
import math
import sys

COLORS = {"force": "#d64550", "normal": "#2a78d6", "line": "#444", "face": "#e9dccb", "other": "#c9d6e6"}


def add(a, b, s=1.0):
    return [x + s * y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(a):
    length = math.sqrt(dot(a, a))
    return [x / length for x in a]


class Drawing:
    def __init__(self, width, height):
        self.size, self.parts = (width, height), []

    def polygon(self, points, fill):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polygon points="{path}" fill="{fill}" stroke="#444" stroke-width="1.5" stroke-linejoin="round"/>')

    def line(self, a, b, color="line", dash=""):
        extra = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<path d="M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}" stroke="{COLORS[color]}" stroke-width="1.5"{extra}/>')

    def arrow(self, a, b, color, text="", side=1):
        dx, dy = b[0] - a[0], b[1] - a[1]
        length = math.hypot(dx, dy) or 1
        ux, uy = dx / length, dy / length
        head = [(b[0], b[1]), (b[0] - 9 * ux - 4 * uy, b[1] - 9 * uy + 4 * ux), (b[0] - 9 * ux + 4 * uy, b[1] - 9 * uy - 4 * ux)]
        self.parts.append(f'<path d="M{a[0]:.1f} {a[1]:.1f}L{b[0] - 7 * ux:.1f} {b[1] - 7 * uy:.1f}" stroke="{COLORS[color]}" stroke-width="2.5"/>')
        self.parts.append('<polygon points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in head) + f'" fill="{COLORS[color]}"/>')
        if text:
            self.text((b[0] + 12 * side, b[1] + 4), text, COLORS[color], "start" if side > 0 else "end")

    def text(self, at, text, color="#222", anchor="middle"):
        self.parts.append(f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" fill="{color}" text-anchor="{anchor}">{text}</text>')

    def save(self, path):
        w, h = self.size
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" '
                       'font-family="sans-serif" font-size="14" fill="none">\n<rect width="100%" height="100%" fill="#fff"/>\n')
            file.write("\n".join(self.parts) + "\n</svg>\n")


def edge(path):
    """Two triangles over the edge B C, folded, and what unfolds them."""
    b, c, a, d = [0, 0, 0], [0, 0, 2.0], [1.5, -0.75, 1.45], [-1.6, -0.7, 0.45]
    e = add(c, b, -1)
    normals = [unit(cross(e, add(a, b, -1))), unit(cross(add(d, b, -1), e))]
    if normals[0][1] < 0:
        normals = [[-x for x in n] for n in normals]
    shares, heights = [], []
    for p in (a, d):
        share = dot(add(p, b, -1), e) / dot(e, e)
        foot = add(b, e, share)
        shares.append(share)
        heights.append(math.dist(p, foot))
    moment = 0.75
    fa, fd = ([moment / h * x for x in n] for h, n in zip(heights, normals))
    fc = add([-shares[0] * x for x in fa], fd, -shares[1])
    fb = add([-(1 - shares[0]) * x for x in fa], fd, -(1 - shares[1]))

    def place(p):
        return (300 + 110 * p[0] + 35 * p[2], 60 - 110 * p[1] + 40 * p[2] - 28 * p[0])

    drawing = Drawing(620, 240)
    drawing.polygon([place(p) for p in (a, b, c)], COLORS["face"])
    drawing.polygon([place(p) for p in (d, b, c)], COLORS["face"])
    for p, share, name, dx in ((a, shares[0], "A'", -14), (d, shares[1], "D'", 14)):
        foot = add(b, e, share)
        drawing.line(place(p), place(foot), dash="4 4")
        drawing.text((place(foot)[0] + dx, place(foot)[1] + 4), name)
    for p, n, name, side in ((a, normals[0], "N_A", 1), (d, normals[1], "N_D", -1)):
        middle = [sum(x) / 3 for x in zip(p, b, c)]
        drawing.arrow(place(middle), place(add(middle, n, 0.55)), "normal", name, side)
    for p, f, name, side in ((a, fa, "F_A", 1), (d, fd, "F_D", -1), (b, fb, "F_B", 1), (c, fc, "F_C", 1)):
        drawing.arrow(place(p), place(add(p, f)), "force", name, side)
    for p, name, dx, dy in ((a, "A", 12, 14), (d, "D", -12, 14), (b, "B", -4, -10), (c, "C", -14, 8)):
        at = place(p)
        drawing.text((at[0] + dx, at[1] + dy), name)
    drawing.save(path)


def response(path):
    """A contact: what comes is split along and across the contact surface."""
    drawing = Drawing(660, 300)
    drawing.polygon([(60, 290), (60, 235), (180, 205), (310, 190), (440, 205), (560, 235), (560, 290)], COLORS["other"])
    drawing.polygon([(200, 40), (160, 110), (200, 165), (310, 178), (420, 165), (460, 110), (420, 40)], COLORS["face"])
    drawing.line((40, 184), (530, 184), dash="6 5")
    drawing.text((538, 188), "contact surface", anchor="start")
    point, lam, mu = (310, 178), 95, 0.6
    drawing.arrow((310 - 70, 178 - 105), (point[0] - 3, point[1] - 5), "line")
    drawing.text((272, 64), "force of the springs", "#444")
    drawing.arrow(point, (310, 178 - lam), "normal", "reaction", 1)
    drawing.arrow(point, (310 - mu * lam, 178), "force", "", -1)
    drawing.text((252, 160), "friction", COLORS["force"], "end")
    drawing.line((470, 178), (470, 190), "line")
    drawing.text((476, 172), "gap", "#444", "start")
    drawing.save(path)


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "docs/images"
    edge(f"{folder}/springs_edge.svg")
    response(f"{folder}/springs_response.svg")
