"""Modal coordinates and speeds in derivatives of a right-hand side: their rates are the speeds."""

from articulon.passes import pass_of


@pass_of
def finish_modes(forest, q_weight, by_coordinate, by_speed, by_q, by_u):
    """Compute derivatives with respect to modal coordinates (nq,) and speeds (nu,), including the derivatives of the
    weighted rates of the coordinates."""
    tables = forest.flexible
    for b in range(tables.q_start.size):
        k, j = tables.q_start[b], tables.u_start[b]
        for m in range(tables.mode[b + 1] - tables.mode[b]):
            by_q[k + m], by_u[j + m] = by_coordinate[j + m], by_speed[j + m] + q_weight[k + m]


@pass_of
def change_mode_rates(forest, u_change, q_rate):
    """Compute changes of the rates of modal coordinates (nq,)."""
    tables = forest.flexible
    for b in range(tables.q_start.size):
        for m in range(tables.mode[b + 1] - tables.mode[b]):
            q_rate[tables.q_start[b] + m] = u_change[tables.u_start[b] + m]


@pass_of
def shift_modes(forest, q_change, shift):
    """Copy changes of modal coordinates (nq,) to the tangent space (nu,)."""
    tables = forest.flexible
    for b in range(tables.q_start.size):
        for m in range(tables.mode[b + 1] - tables.mode[b]):
            shift[tables.u_start[b] + m] = q_change[tables.q_start[b] + m]
