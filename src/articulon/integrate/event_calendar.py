"""A calendar of the next event of each sphere: a change takes a constant time for any number of spheres.

After R. Brown, Calendar queues, Communications of the ACM 31, 1220 (1988), as G. Paul uses it for hard spheres (Journal
of Computational Physics 221, 615, 2007). Time is cut into days, and an event is in the list of its day. There is a
fixed number of lists, one for each day of a year, so days that are whole years apart share a list. Only the present day
is searched for the earliest event. The result depends on the times of events, and for equal times on the numbers of
their spheres, but not on the length of a day or the order of a list.
"""

import numpy as np

from articulon.integrate.event_prefetching import prefetch_events
from articulon.integrate.hard_sphere_tables import COUNT, EVENT, LINK, MOTION, NOBODY, SETTING, SphereTables
from articulon.kernels import jit, kernel

FARTHEST = 2.0**62
"""Largest number of days that can be counted."""
NEAR = 8
"""The length of a day is estimated from the earliest events, a fraction 1/NEAR of all."""


@jit
def day_of(spheres, time):
    """The day of a time, counted from zero."""
    day = time * spheres.settings[SETTING.frequency]
    return np.int64(day) if day < FARTHEST else np.int64(FARTHEST)


@jit
def unlist(spheres, i):
    """Remove a sphere from the calendar."""
    links = spheres.links
    day = links[i, LINK.day]
    if day == NOBODY:
        return
    earlier, later = links[i, LINK.earlier], links[i, LINK.later]
    if earlier == NOBODY:
        spheres.days[day] = later
    else:
        links[earlier, LINK.later] = later
    if later != NOBODY:
        links[later, LINK.earlier] = earlier
    links[i, LINK.day] = NOBODY


@jit
def enlist(spheres, i, day):
    """Insert a sphere into the list of a day."""
    links, head = spheres.links, spheres.days[day]
    links[i, LINK.earlier], links[i, LINK.later], links[i, LINK.day] = NOBODY, head, day
    if head != NOBODY:
        links[head, LINK.earlier] = i
    spheres.days[day] = i


@jit
def reschedule(spheres, i):
    """Update the calendar with the next event of a sphere, the earlier of its impact and its crossing."""
    time = min(spheres.motion[i, MOTION.impact], spheres.events[i, EVENT.crossing])
    spheres.events[i, EVENT.first] = time
    day = day_of(spheres, time) & (spheres.days.size - 1) if time < np.inf else NOBODY
    if day != spheres.links[i, LINK.day]:
        unlist(spheres, i)
        if day != NOBODY:
            enlist(spheres, i, day)


@jit
def earliest_of_all(spheres):
    """The sphere with the earliest event, by a search of all; the lowest number among equal times, NOBODY without any
    event."""
    best, found = np.inf, NOBODY
    for i in range(spheres.events.shape[0]):
        if spheres.events[i, EVENT.first] < best:
            best, found = spheres.events[i, EVENT.first], i
    return found


@jit
def earliest(spheres):
    """The sphere with the earliest event; the lowest number among equal times, NOBODY without any event."""
    counts, links = spheres.counts, spheres.links
    day, last = counts[COUNT.day], spheres.days.size - 1
    for turned in range(spheres.days.size):
        best, found, looked = np.inf, NOBODY, 0
        i = spheres.days[day & last]
        while i != NOBODY:
            time = spheres.events[i, EVENT.first]
            looked += 1
            if (time < best or (time == best and i < found)) and day_of(spheres, time) <= day:
                best, found = time, i
            i = links[i, LINK.later]
        counts[COUNT.looked] += looked
        if found != NOBODY:
            counts[COUNT.day] = day
            counts[COUNT.turned] += turned
            return found
        day += 1
        prefetch_events(spheres, day)
    counts[COUNT.turned] += spheres.days.size
    found = earliest_of_all(spheres)
    if found != NOBODY:
        counts[COUNT.day] = day_of(spheres, spheres.events[found, EVENT.first])
    return found


@kernel
def open_calendar(spheres, frequency, time):
    """Start a calendar of ``frequency`` days per unit of time at the given time, with the event of each sphere."""
    spheres.settings[SETTING.frequency] = frequency
    spheres.days[:] = NOBODY
    spheres.counts[COUNT.day] = day_of(spheres, time)
    spheres.counts[COUNT.turned] = spheres.counts[COUNT.looked] = 0
    for i in range(spheres.links.shape[0]):
        spheres.links[i, LINK.day] = NOBODY
        reschedule(spheres, i)


def day_frequency(spheres: SphereTables, time: float) -> float:
    """Days per unit of time for which each of the coming days has about one event [1/time]."""
    ahead = spheres.events[:, EVENT.first] - time
    ahead = ahead[np.isfinite(ahead)]
    if not ahead.size:
        return 1.0
    near = max(ahead.size // NEAR, 1)
    reach = float(np.partition(ahead, near - 1)[near - 1])
    return near / reach if reach > 0.0 else 1.0 / max(float(ahead.max()), 1e-300)
