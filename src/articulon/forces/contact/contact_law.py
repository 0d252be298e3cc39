"""The contact law: Hertz's normal force and Mindlin's tangential force with history, or linear springs, with damping
and Coulomb friction (Lee and Gardner, equations 4 to 16).

The functions below are templates. Their upper-case names are compile-time constants, so that the loop over contacts
vectorises without branches.
"""

import math

from articulon.kernels import jit

TINY, NEVER = 1e-300, 1e300

HERTZ = True
"""Whether stiffnesses grow with √δ."""
GRIPS = True
"""Whether there is a tangential force."""
RESTORES = True
"""Whether the damping is set by a coefficient of restitution, rather than by γ m*."""
TAIL = True
"""Whether damping may make the normal force attractive at the end of a contact."""
LAMMPS = False
"""Whether the arms, the rotation of the tangential displacement with the contact, and its value after slip follow
LAMMPS."""


@jit
def arms(Ri, Rj, delta):
    """Arms from the centres to the contact along the line of centres: those for the relative velocity and those for the
    torque.

    The default R r/(R_i + R_j) (equation 4) conserves angular momentum and makes the torque's power equal to that of
    the tangential force; LAMMPS uses R and R − δ/2. A wall has R_j = 0 here, and its contacts lie on its surface.
    """
    if LAMMPS:
        depth = 0.5 * delta if Rj > 0.0 else 0.0  # at a wall LAMMPS uses R for both
        return Ri, Rj, Ri - depth, Rj - depth
    part = 1.0 - delta / (Ri + Rj)
    return Ri * part, Rj * part, Ri * part, Rj * part


@jit
def carried(x, y, z, nx, ny, nz, spin, h):
    """Tangential displacement after the contact frame has rotated: projected into the new tangent plane at unchanged
    length, and rotated about the normal by the mean angular velocity of the two bodies about it."""
    before = x * x + y * y + z * z
    if not LAMMPS:
        angle = h * spin
        x, y, z = (
            x + angle * (ny * z - nz * y),
            y + angle * (nz * x - nx * z),
            z + angle * (nx * y - ny * x),
        )
    along = x * nx + y * ny + z * nz
    x, y, z = x - along * nx, y - along * ny, z - along * nz
    after = x * x + y * y + z * z
    keep = math.sqrt(before / max(after, TINY)) if after > 0.0 else 0.0
    x, y, z = keep * x, keep * y, keep * z
    return x, y, z


@jit
def damping_of(a, ms, c):
    """Coefficient of the normal damping: c √(a m*), which yields the given coefficient of restitution, or c m*."""
    return c * math.sqrt(a * ms) if RESTORES else c * ms


@jit
def viscous_before(elastic, damping, before, vn):
    """Viscous normal force of the last evaluation, from the elastic force and damping at that time, ``before`` as in
    ``forces``, and the relative normal velocity in the step since then. ``forces`` predicted the mean of these two
    velocities."""
    statistics = vn if before >= NEVER else before
    viscous = -damping * (statistics if LAMMPS else 0.5 * (statistics + vn))
    return viscous if TAIL else max(viscous, -elastic)


@jit
def contact_width(Rs, depth):
    """√(R* δ), the contact radius; 1 if stiffnesses do not depend on it."""
    return math.sqrt(Rs * depth) if HERTZ else 1.0


@jit
def forces(depth, a, ms, damping, nx, ny, nz, vx, vy, vz, x, y, z, before, h, k, kt, ct, mu_s, mu_k):
    """Forces of a contact on its first body, and its tangential displacement.

    Parameters
    ----------
    depth, a, ms, damping
        Overlap, ``contact_width``, m* and ``damping_of``.
    nx, ny, nz
        Unit normal, from the second body to the first.
    vx, vy, vz
        Velocity of the first surface relative to the second at the contact.
    x, y, z
        Tangential displacement ξ at the last evaluation, ``carried`` into the new tangent plane.
    before
        Relative normal velocity at the last evaluation, ``NEVER`` if there was none. Velocities are those of half
        steps. The normal damping uses the velocity that the last two half steps predict for the end of the step, so
        that its dissipation is of second order in the step. LAMMPS uses the velocity of the half step.
    h
        Time since the last evaluation; zero leaves ξ unchanged.
    k, kt, ct, mu_s, mu_k
        Columns of the law table.

    Returns
    -------
    tuple
        Elastic and viscous normal force, tangential force (3), its viscous part (3), 1 if the contact slides, otherwise
        0, and ξ (3).
    """
    tangential_damping = ct * damping if RESTORES else ct * ms
    vn = vx * nx + vy * ny + vz * nz
    elastic = k * a * depth
    end = 1.5 * vn - 0.5 * (vn if LAMMPS or before >= NEVER else before)
    viscous = -damping * end
    if not TAIL:
        viscous = max(viscous, -elastic)
    normal = abs(elastic + viscous)
    fx, fy, fz, wx, wy, wz, slides = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if GRIPS:
        tx, ty, tz = vx - vn * nx, vy - vn * ny, vz - vn * nz
        x, y, z = x + h * tx, y + h * ty, z + h * tz
        stiffness = kt * a
        wx, wy, wz = -tangential_damping * tx, -tangential_damping * ty, -tangential_damping * tz
        fx, fy, fz = wx - stiffness * x, wy - stiffness * y, wz - stiffness * z
        trial = math.sqrt(fx * fx + fy * fy + fz * fz)
        over = trial > mu_s * normal
        # Spring and damper are in parallel, and their force −k ξ' − c (ξ' − ξ)/h is that allowed by friction. In LAMMPS
        # the damper takes the whole slip velocity and the spring compensates: while its stiffness grows, it pushes in
        # the direction of the slip.
        since = 1.0 if LAMMPS else h
        lasting = 0.0 if LAMMPS else tangential_damping
        give = since * stiffness + lasting
        inverse = 1.0 / max(trial * give, TINY)  # one division instead of two
        part = mu_k * normal * (give * inverse) if over else 1.0
        if LAMMPS:  # an unstretched spring has no force to scale and is not changed
            slack = over and x * x + y * y + z * z == 0.0
            part = 0.0 if slack else part
            wx, wy, wz = (0.0, 0.0, 0.0) if slack else (wx, wy, wz)
        fx, fy, fz = part * fx, part * fy, part * fz
        soft = trial * inverse
        x = (lasting * x + since * (wx - fx)) * soft if over else x
        y = (lasting * y + since * (wy - fy)) * soft if over else y
        z = (lasting * z + since * (wz - fz)) * soft if over else z
        wx, wy, wz = 0.0 if over else wx, 0.0 if over else wy, 0.0 if over else wz
        slides = 1.0 if over else 0.0
    return elastic, viscous, fx, fy, fz, wx, wy, wz, slides, x, y, z


@jit
def contact(delta, Rs, ms, nx, ny, nz, vx, vy, vz, spin, x, y, z, before, h, k, kt, c, ct, mu_s, mu_k):
    """``forces`` from the overlap δ > 0, R* and m*, the mean angular velocity ``spin`` of the two bodies about the
    normal, and the tangential displacement at the last evaluation."""
    a = contact_width(Rs, delta)
    if GRIPS:
        x, y, z = carried(x, y, z, nx, ny, nz, spin, h)
    damping = damping_of(a, ms, c)
    return forces(delta, a, ms, damping, nx, ny, nz, vx, vy, vz, x, y, z, before, h, k, kt, ct, mu_s, mu_k)
