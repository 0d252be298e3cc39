"""Balls on a page change to points and back, where the balls are, while the scene stays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import viser

import articulon as ar
from articulon.studio.drawing_choice import Drawing
from articulon.studio.page_server import server_at, stop
from articulon.studio.scene import scene_of
from articulon.studio.stage import shown_places, stage_of
from articulon.studio.viser_scene import ViserScene
from articulon.studio.workspace import first_frame
from tests.support.page_client import PageClient


@pytest.fixture
def server() -> Iterator[viser.ViserServer]:
    made = server_at(None)
    yield made
    stop(made)


def test_balls_are_points_by_software_and_where_they_were(server: viser.ViserServer) -> None:
    model = ar.load_case("lj-melt", {"model.cells": 5}).build_model()
    frame = first_frame(model)
    scene = scene_of(model, frame.positions, frame.rotations)
    stage = stage_of(scene, [frame])
    shown = ViserScene(server, scene, stage, frame)
    page = PageClient(server.get_port())
    page.listen(lambda page: "/balls" in page.nodes)
    assert page.nodes["/balls"]["type"] == "BatchedMeshesMessage" and page.nodes["/balls"]["material"] == "standard"
    assert len(page.nodes["/balls"]["faces"]) == 3 * 20 * 4**2
    assert not shown.suit(Drawing())
    assert shown.suit(Drawing(by_software=True)) and shown.batches == []
    page.listen(lambda page: "/points-0" in page.nodes and "/balls" not in page.nodes)
    points = page.nodes["/points-0"]
    assert points["type"] == "PointCloudMessage"
    assert points["point_size"] == pytest.approx(stage.factor * scene.balls.size[0, 0], rel=1e-6)
    moved = frame._replace(positions=frame.positions + 0.1)
    shown.show(moved)
    expected = stage.places(scene.balls.centres(shown_places(scene, moved), moved.rotations))
    page.listen(lambda page: np.array_equal(page.nodes["/points-0"]["points"].reshape(-1, 3), expected))
    # Asked for, they come back as coarse as software bears.
    assert shown.suit(Drawing("balls", by_software=True))
    page.listen(lambda page: "/balls" in page.nodes and "/points-0" not in page.nodes)
    assert len(page.nodes["/balls"]["faces"]) == 3 * 20 and page.nodes["/balls"]["material"] == "toon5"
    assert np.array_equal(page.nodes["/balls"]["batched_positions"].reshape(-1, 3), expected)
    shown.remove()
    page.listen(lambda page: "/balls" not in page.nodes)
