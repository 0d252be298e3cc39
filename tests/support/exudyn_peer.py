"""Flexible bodies in Exudyn: beams of its own finite elements, and its floating frame with modes that are given it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from articulon.model.modes import ModeShapes


def beam_frequencies(length: float, mass: float, EI: float, elements: int, free: bool, count: int) -> np.ndarray:
    """ω of the lowest bending modes in a plane of a chain of cubic cable elements, stiff along the axis."""
    exu = pytest.importorskip("exudyn")
    items = pytest.importorskip("exudyn.itemInterface")
    mbs = exu.SystemContainer().AddSystem()
    per_length, step = mass / length, length / elements
    nodes = [
        mbs.AddNode(items.NodePoint2DSlope1(referenceCoordinates=[k * step, 0.0, 1.0, 0.0]))
        for k in range(elements + 1)
    ]
    for k in range(elements):
        mbs.AddObject(
            items.ObjectANCFCable2D(
                length=step,
                massPerLength=per_length,
                bendingStiffness=EI,
                axialStiffness=1e4 * EI / length**2,
                nodeNumbers=nodes[k : k + 2],
            )
        )
    if not free:
        ground = mbs.AddMarker(
            items.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(items.NodePointGround()), coordinate=0)
        )
        for coordinate in (0, 1, 3):
            held = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=coordinate))
            mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[ground, held]))
    mbs.Assemble()
    squared = np.sort(mbs.ComputeODE2Eigenvalues(computeComplexEigenvalues=False, numberOfEigenvalues=count + 3)[0])
    return np.sqrt(squared[3:] if free else squared[:count])


class FloatingFrame:
    """A body of given modes as Exudyn's floating frame, whose rotation is by Euler parameters."""

    def __init__(self, shapes: ModeShapes) -> None:
        self.exu = pytest.importorskip("exudyn")
        fem_module = pytest.importorskip("exudyn.FEM")
        self.items = pytest.importorskip("exudyn.itemInterface")
        count = shapes.shapes.shape[2]
        self.modes = count
        fem = fem_module.FEMinterface()
        fem.nodes = {"Position": shapes.positions}
        fem.massMatrix = sparse.csr_matrix(sparse.diags(np.repeat(shapes.masses, 3)))
        fem.stiffnessMatrix = sparse.csr_matrix(fem.massMatrix.shape)
        fem.modeBasis = {"matrix": shapes.shapes.reshape(-1, count), "type": "NormalModes"}
        self.cms = fem_module.ObjectFFRFreducedOrderInterface(
            fem, rigidBodyNodeType="NodeType.RotationEulerParameters", roundMassMatrix=0.0, roundStiffnessMatrix=0.0
        )
        self.cms.stiffnessMatrixReduced = shapes.stiffness.copy()
        self.mbs = self.exu.SystemContainer().AddSystem()

    def start(
        self, velocity: Any, omega: Any, eta: np.ndarray, rate: np.ndarray, gravity: Any = (0.0, 0.0, 0.0)
    ) -> None:
        """At the origin, unturned: velocity and angular velocity in the world, modal coordinates and speeds."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.cms.AddObjectFFRFreducedOrder(
                self.mbs, initialVelocity=list(velocity), initialAngularVelocity=list(omega), gravity=list(gravity)
            )
        node = self.cms.nGenericODE2
        self.mbs.SetNodeParameter(node, "initialCoordinates", list(eta))
        self.mbs.SetNodeParameter(node, "initialCoordinates_t", list(rate))

    def hold(self) -> None:
        """Holds the frame, which then neither moves nor turns."""
        items, mbs = self.items, self.mbs
        ground = mbs.AddMarker(
            items.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(items.NodePointGround()), coordinate=0)
        )
        for coordinate in (0, 1, 2, 4, 5, 6):
            held = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=self.cms.nRigidBody, coordinate=coordinate))
            mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[ground, held]))

    def turn_about_z(self, angle: Callable[[float], float], speed: Callable[[float], float]) -> None:
        """Holds the frame and turns it about z as given."""
        items, mbs = self.items, self.mbs
        ground = mbs.AddMarker(
            items.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(items.NodePointGround()), coordinate=0)
        )
        # The third Euler parameter is given, the first follows from their norm; below half a turn.
        for coordinate in (0, 1, 2, 4, 5, 6):
            held = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=self.cms.nRigidBody, coordinate=coordinate))
            given = {}
            if coordinate == 6:
                given = {
                    "offsetUserFunction": lambda mbs, t, item, offset: np.sin(0.5 * angle(t)),
                    "offsetUserFunction_t": lambda mbs, t, item, offset: 0.5 * speed(t) * np.cos(0.5 * angle(t)),
                }
            mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[ground, held], **given))

    def push_about_z(self, torque: float) -> None:
        """Holds the origin of the frame and pushes it with a constant torque about z."""
        items, mbs = self.items, self.mbs
        ground = mbs.AddMarker(
            items.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(items.NodePointGround()), coordinate=0)
        )
        for coordinate in range(3):
            held = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=self.cms.nRigidBody, coordinate=coordinate))
            mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[ground, held]))
        frame = mbs.AddMarker(items.MarkerNodeRigid(nodeNumber=self.cms.nRigidBody))
        mbs.AddLoad(items.LoadTorqueVector(markerNumber=frame, loadVector=[0.0, 0.0, torque]))

    def run(self, time: float, steps: int) -> None:
        """Advances to the time by the trapezoidal rule."""
        settings = self.exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = steps
        settings.timeIntegration.endTime = time
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        settings.timeIntegration.newton.useModifiedNewton = False
        settings.timeIntegration.newton.relativeTolerance = 1e-12
        settings.timeIntegration.newton.absoluteTolerance = 1e-13
        self.mbs.Assemble()
        # Three angles instead would lose their second derivatives in Exudyn's floating frame.
        self.mbs.SolveDynamic(settings, solverType=self.exu.DynamicSolverType.TrapezoidalIndex2)

    @property
    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Position and rotation matrix of the frame."""
        variable = self.exu.OutputVariableType
        position = self.mbs.GetNodeOutput(self.cms.nRigidBody, variable.Position)
        rotation = self.mbs.GetNodeOutput(self.cms.nRigidBody, variable.RotationMatrix)
        return np.array(position), np.array(rotation).reshape(3, 3)

    @property
    def modal_coordinates(self) -> np.ndarray:
        """η."""
        return np.atleast_1d(self.mbs.GetNodeOutput(self.cms.nGenericODE2, self.exu.OutputVariableType.Coordinates))
