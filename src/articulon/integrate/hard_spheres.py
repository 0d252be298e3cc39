"""Hard spheres that fly freely between impacts: event-driven molecular dynamics.

B. J. Alder and T. E. Wainwright, Journal of Chemical Physics 31, 459 (1959). Each sphere has its own time and one next
event, after B. D. Lubachevsky (Journal of Computational Physics 94, 255, 1991): an impact, the crossing of a face of
its cell, or a new search for an impact if its partner will hit another sphere earlier. Impacts are computed exactly
from positions and velocities, so that no sphere passes through another at any speed; there is no integration between
impacts.

An impact along the line of centres n changes momenta by

    Δp = (1 + e) μ v_n n,   μ = m₁ m₂/(m₁ + m₂),

where v_n is the speed of approach, and takes the energy ½ μ (1 − e²) v_n².
"""

import numpy as np

from articulon.integrate.event_calendar import earliest, reschedule
from articulon.integrate.hard_sphere_tables import (
    COUNT,
    EVENT,
    LINK,
    MOTION,
    NOBODY,
    PERIODIC,
    SETTING,
    SUM,
    WALL,
)
from articulon.integrate.sphere_flights import (
    cell_at,
    cell_numbers,
    find_crossing,
    find_impact,
    fly,
    gather,
)
from articulon.kernels import jit, kernel, routine

GOES_ON, DONE, PAUSED, REPLAN, CELL_FULL, COLLAPSED = range(6)
"""Results of a call of events: no end yet, the end time is reached, the requested number of impacts is reached, the
calendar needs another length of its days, a cell needs more slots, and impacts have no end."""
ENDLESS = 24
"""Number of successive impacts of a sphere, each within an instant of the one before, that count as endless."""
LOOKS = 16
"""Number of days, or of spheres on them, examined per event above which a new calendar is opened."""
SAMPLE = 1024
"""Number of events between checks of the calendar."""


@jit
def enter_cell(spheres, i, cell):
    """Put a sphere into the next slot of a cell; return whether there is one."""
    grid = spheres.grid
    slot = grid.filled[cell]
    if slot == grid.slots.shape[1]:
        return False
    grid.slots[cell, slot], grid.filled[cell] = i, slot + 1
    spheres.links[i, LINK.cell] = cell
    return True


@jit
def leave_cell(spheres, i, cell):
    """Remove a sphere from a cell; the cell's last sphere takes its slot."""
    slots, last = spheres.grid.slots, spheres.grid.filled[cell] - 1
    for slot in range(last):
        if slots[cell, slot] == i:
            slots[cell, slot] = slots[cell, last]
    spheres.grid.filled[cell] = last


@jit
def part(spheres, i):
    """Separate a sphere from its partner, which will search again at the time when they would have met."""
    partner = spheres.links[i, LINK.partner]
    if partner != NOBODY:
        spheres.links[partner, LINK.partner] = NOBODY
        spheres.links[i, LINK.partner] = NOBODY


@routine
def look_for_impact(spheres, i, lowest, highest):
    """Find the first impact of a sphere with those in some cells; if it is earlier than the present impacts of both,
    make the two partners. Update the calendar."""
    links, motion = spheres.links, spheres.motion
    when, mate = find_impact(spheres, i, lowest, highest)
    if mate != NOBODY:
        part(spheres, i)
        part(spheres, mate)
        links[i, LINK.partner], links[mate, LINK.partner] = mate, i
        motion[i, MOTION.impact] = motion[mate, MOTION.impact] = when
        reschedule(spheres, mate)
    reschedule(spheres, i)


@jit
def look_all_around(spheres, i):
    """Search all neighbouring cells for the next impact of a sphere that has none."""
    spheres.links[i, LINK.partner], spheres.motion[i, MOTION.impact] = NOBODY, np.inf
    look_for_impact(spheres, i, (-1, -1, -1), (1, 1, 1))


@jit
def is_collapsing(spheres, i, time):
    """Whether a sphere's impact at a time belongs to a sequence of impacts without end."""
    rapid_impacts, latest = spheres.rapid_impacts, spheres.latest
    soon = time - latest[i] < spheres.settings[SETTING.instant]
    rapid_impacts[i] = rapid_impacts[i] + 1 if soon else 0
    latest[i] = time
    if rapid_impacts[i] >= ENDLESS:
        spheres.counts[COUNT.collapsed] = i
    return rapid_impacts[i] >= ENDLESS


@jit
def between(spheres, i, j, axis):
    """Displacement along an axis from a sphere to the nearest image of another one at the same time [length]."""
    grid = spheres.grid
    displacement = spheres.motion[j, MOTION.place + axis] - spheres.motion[i, MOTION.place + axis]
    if grid.faces[axis] == PERIODIC:
        displacement -= grid.length[axis] * np.rint(displacement / grid.length[axis])
    return displacement


@jit
def keep_strongest(spheres, i, j, impulse, time):
    """Keep the impact with the largest impulse so far."""
    spheres.sums[SUM.impulse], spheres.sums[SUM.impulse_time] = impulse, time
    spheres.counts[COUNT.strongest], spheres.counts[COUNT.strongest + 1] = i, j


@routine
def collide(spheres, i, j, time):
    """Carry out an impact of two spheres; return whether it belongs to a sequence of impacts without end."""
    motion, sums = spheres.motion, spheres.sums
    fly(spheres, i, time)
    fly(spheres, j, time)
    x, y, z = between(spheres, i, j, 0), between(spheres, i, j, 1), between(spheres, i, j, 2)
    square = x * x + y * y + z * z
    distance = np.sqrt(square)
    along = (
        (motion[i, MOTION.velocity] - motion[j, MOTION.velocity]) * x
        + (motion[i, MOTION.velocity + 1] - motion[j, MOTION.velocity + 1]) * y
        + (motion[i, MOTION.velocity + 2] - motion[j, MOTION.velocity + 2]) * z
    )
    along = max(along, 0.0)  # in a grazing impact rounding decides the sign
    approach = along / distance
    e = spheres.restitution[spheres.links[i, LINK.kind], spheres.links[j, LINK.kind]]
    if approach < spheres.settings[SETTING.resting]:
        e = 0.0
    # The impulse along r is divided by r²: the rounding error of a unit vector would make the energy drift.
    inverse_mass, other = spheres.events[i, EVENT.inverse_mass], spheres.events[j, EVENT.inverse_mass]
    reduced = 1.0 / (inverse_mass + other)
    impulse = (1.0 + e) * reduced * along / square
    first, second = impulse * inverse_mass, impulse * other
    motion[i, MOTION.velocity] -= first * x
    motion[i, MOTION.velocity + 1] -= first * y
    motion[i, MOTION.velocity + 2] -= first * z
    motion[j, MOTION.velocity] += second * x
    motion[j, MOTION.velocity + 1] += second * y
    motion[j, MOTION.velocity + 2] += second * z
    spheres.counts[COUNT.impacts] += 1
    sums[SUM.virial] += impulse * square
    sums[SUM.loss] += 0.5 * reduced * (1.0 - e * e) * approach * approach
    if impulse * distance > sums[SUM.impulse]:
        keep_strongest(spheres, i, j, impulse * distance, time)
    collapses = False
    if spheres.rapid_impacts.size and spheres.settings[SETTING.resting] == 0.0:
        collapses = is_collapsing(spheres, i, time)
        collapses = is_collapsing(spheres, j, time) or collapses
    return collapses


@routine
def hit_wall(spheres, i, face, time):
    """Carry out an impact on a wall; return whether it belongs to a sequence of impacts without end."""
    motion, sums = spheres.motion, spheres.sums
    fly(spheres, i, time)
    axis, sign = face // 2, 2 * (face % 2) - 1
    approach = sign * motion[i, MOTION.velocity + axis]
    e = spheres.settings[SETTING.wall_restitution + face]
    if approach < spheres.settings[SETTING.resting]:
        e = 0.0
    motion[i, MOTION.velocity + axis] = -sign * e * approach
    mass = 1.0 / spheres.events[i, EVENT.inverse_mass]
    spheres.counts[COUNT.wall_impacts] += 1
    sums[SUM.loss] += 0.5 * mass * (1.0 - e * e) * approach * approach
    if (1.0 + e) * mass * approach > sums[SUM.impulse]:
        keep_strongest(spheres, i, NOBODY, (1.0 + e) * mass * approach, time)
    part(spheres, i)
    find_crossing(spheres, i)
    look_all_around(spheres, i)
    return spheres.rapid_impacts.size > 0 and e < 1.0 and is_collapsing(spheres, i, time)


@routine
def cross(spheres, i, time):
    """Let a sphere hit a wall, or enter the next cell and search for impacts with spheres that have come near. Returns
    GOES_ON, COLLAPSED, or CELL_FULL if the cell has no slot for it; in this case nothing has changed."""
    grid, motion, links = spheres.grid, spheres.motion, spheres.links
    face, cell = np.int64(links[i, LINK.face]), np.int64(links[i, LINK.cell])
    axis, sign = face // 2, 2 * (face % 2) - 1
    x, y, z = cell_numbers(grid, cell)
    number = (x if axis == 0 else y if axis == 1 else z) + sign
    count, passes = grid.cells[axis], np.int64(0)
    if number < 0 or number >= count:
        if grid.faces[axis] == WALL:
            return COLLAPSED if hit_wall(spheres, i, face, time) else GOES_ON
        number, passes = number - sign * count, sign
    x, y, z = number if axis == 0 else x, number if axis == 1 else y, number if axis == 2 else z
    if not enter_cell(spheres, i, cell_at(grid, x, y, z)):
        return CELL_FULL
    leave_cell(spheres, i, cell)
    fly(spheres, i, time)
    motion[i, MOTION.place + axis] -= passes * grid.length[axis]
    spheres.images[i, axis] += passes
    spheres.counts[COUNT.crossings] += 1
    find_crossing(spheres, i)
    low = sign if axis == 0 else -1, sign if axis == 1 else -1, sign if axis == 2 else -1
    high = sign if axis == 0 else 1, sign if axis == 1 else 1, sign if axis == 2 else 1
    look_for_impact(spheres, i, low, high)
    return GOES_ON


@kernel
def find_events(spheres):
    """Find the first event of every sphere; all spheres are at time zero and in their cells, and the calendar is not
    open yet."""
    for i in range(spheres.motion.shape[0]):
        spheres.links[i, LINK.partner], spheres.motion[i, MOTION.impact] = NOBODY, np.inf
        spheres.links[i, LINK.day], spheres.motion[i, MOTION.time] = NOBODY, 0.0
        find_crossing(spheres, i)
    for i in range(spheres.motion.shape[0]):
        look_for_impact(spheres, i, (-1, -1, -1), (1, 1, 1))


@kernel
def take_events(spheres, until, impacts):
    """Process events up to a time, or up to a number of impacts; return how that ended."""
    motion, links, events, counts = spheres.motion, spheres.links, spheres.events, spheres.counts
    sampled, end = 0, counts[COUNT.impacts] + counts[COUNT.wall_impacts] + impacts
    while True:
        i = earliest(spheres)
        if i == NOBODY or events[i, EVENT.first] > until:
            return DONE
        time = events[i, EVENT.first]
        spheres.sums[SUM.now] = time
        if motion[i, MOTION.impact] > events[i, EVENT.crossing]:
            status = cross(spheres, i, time)
            if status != GOES_ON:
                return status
        elif links[i, LINK.partner] == NOBODY:
            counts[COUNT.retries] += 1
            fly(spheres, i, time)
            look_all_around(spheres, i)
        else:
            j = np.int64(links[i, LINK.partner])
            if collide(spheres, i, j, time):
                return COLLAPSED
            find_crossing(spheres, i)
            find_crossing(spheres, j)
            # Both spheres are free before either searches: the second search must not undo the result of the first.
            links[j, LINK.partner], motion[j, MOTION.impact] = NOBODY, np.inf
            look_all_around(spheres, i)
            look_for_impact(spheres, j, (-1, -1, -1), (1, 1, 1))
        sampled += 1
        if sampled == SAMPLE:
            sampled = 0
            many = counts[COUNT.turned] + counts[COUNT.looked] > LOOKS * SAMPLE
            counts[COUNT.turned] = counts[COUNT.looked] = 0
            if many:
                return REPLAN
        if counts[COUNT.impacts] + counts[COUNT.wall_impacts] >= end:
            return PAUSED


@kernel
def bring_together(spheres, time):
    """Bring all spheres to one time."""
    for i in range(spheres.motion.shape[0]):
        fly(spheres, i, time)


@kernel
def fill_cells(spheres):
    """Put spheres that have been placed in the box into their cells; return whether there are slots for all."""
    grid, motion = spheres.grid, spheres.motion
    grid.filled[:] = 0
    for i in range(motion.shape[0]):
        x = _cell_number(grid, 0, motion[i, MOTION.place])
        y = _cell_number(grid, 1, motion[i, MOTION.place + 1])
        z = _cell_number(grid, 2, motion[i, MOTION.place + 2])
        if not enter_cell(spheres, i, cell_at(grid, x, y, z)):
            return False
    return True


@jit
def _cell_number(grid, axis, place):
    """Number of a cell along an axis; positions beyond the last cell belong to it."""
    number = (place - grid.low[axis]) / grid.edge[axis]
    return np.int64(min(max(number, 0.0), grid.cells[axis] - 1.0))


@kernel
def deepest_overlap(spheres, found):
    """Largest overlap of two spheres, relative to the sum of their radii; spheres are in cells and at one time. The
    pair is written to ``found``."""
    worst = 0.0
    for i in range(spheres.motion.shape[0]):
        found_near, _ = gather(spheres, i, (-1, -1, -1), (1, 1, 1))
        for k in range(found_near):
            j = np.int64(spheres.near[0, k])
            if j < i:
                x, y, z = between(spheres, i, j, 0), between(spheres, i, j, 1), between(spheres, i, j, 2)
                overlap = 1.0 - np.sqrt(x * x + y * y + z * z) / (
                    spheres.events[i, EVENT.radius] + spheres.events[j, EVENT.radius]
                )
                if overlap > worst:
                    worst, found[0], found[1] = overlap, j, i
    return worst
