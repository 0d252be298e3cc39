"""Declaration of contacts: materials, the law, and walls."""

import math
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.declaration import Declaration, Dimension, Flag, Quantity, Whole, nearest
from articulon.errors import ModelError
from articulon.forces.contact.contact_columns import LAW
from articulon.forces.contact.wall_faults import check_inside
from articulon.forces.contact.walls import AnyWall, parts_of
from articulon.inputs import LEAST
from articulon.model import Model

_Number = Annotated[Quantity | None, Dimension("dimensionless", minimum=0)]
_Rate = Annotated[Quantity | None, Dimension("frequency", minimum=0)]
_Stiffness = Annotated[Quantity | None, Dimension("stiffness", minimum=0, exclusive=True)]


ACTS = {
    "young": ("normal", "hertz"),
    "poisson": ("normal", "hertz"),
    "stiffness": ("normal", "linear"),
    "tangential_stiffness": ("tangential", "linear"),
    "restitution": ("damping", "restitution"),
    "tangential_damping_ratio": ("damping", "restitution"),
    "viscous_damping": ("damping", "viscous"),
    "tangential_damping": ("damping", "viscous"),
    "rolling_friction": ("rolling", "spring"),
    "rolling_stiffness": ("rolling", "spring"),
    "rolling_damping": ("rolling", "spring"),
    "twisting_friction": ("twisting", "spring"),
    "twisting_stiffness": ("twisting", "spring"),
    "twisting_damping": ("twisting", "spring"),
}
"""Keys of a material that act only with a certain option."""


class Surface(Declaration):
    """Contact properties that can be given for a material or for a pair of materials."""

    static_friction: _Number = None
    """Coefficient of static friction μ_s; a contact sticks up to μ_s times the normal force; 0 by default."""
    kinetic_friction: _Number = None
    """Coefficient of kinetic friction μ_k, while sliding; that of ``static_friction`` by default."""
    restitution: _Number = None
    """Coefficient of normal restitution e, in (0, 1], with ``damping = "restitution"``."""
    viscous_damping: _Rate = None
    """γ_n of equation 15 [1/time], with ``damping = "viscous"``."""
    tangential_damping: _Rate = None
    """γ_t of equation 16 [1/time], with ``damping = "viscous"``; γ_n by default."""
    tangential_damping_ratio: _Number = None
    """Ratio of the tangential to the normal damping coefficient, with ``damping = "restitution"``; 1 by default."""
    stiffness: _Stiffness = None
    """Stiffness of the linear normal spring [force/length]."""
    tangential_stiffness: _Stiffness = None
    """Stiffness of the linear tangential spring [force/length]; 2/7 of the normal one by default."""
    rolling_friction: _Number = None
    """Coefficient of rolling friction μ_r: rolling begins at the couple μ_r R* F_n."""
    rolling_stiffness: _Stiffness = None
    """Stiffness of the spring against rolling [force/length]; by default the current tangential stiffness. Give it for
    both of two materials or for neither."""
    rolling_damping: Annotated[Quantity | None, Dimension("translational_drag", minimum=0)] = None
    """Damping against rolling [mass/time]; none by default."""
    twisting_friction: Annotated[Quantity | None, Dimension("length", minimum=0)] = None
    """Largest twisting couple about the normal, divided by the normal force [length]."""
    twisting_stiffness: Annotated[Quantity | None, Dimension("torsional_stiffness", minimum=0, exclusive=True)] = None
    """Stiffness of the spring against twisting [torque/angle]."""
    twisting_damping: Annotated[Quantity | None, Dimension("rotational_drag", minimum=0)] = None
    """Damping against twisting [torque time/angle]; none by default."""

    @model_validator(mode="after")
    def _restitution(self) -> Self:
        if isinstance(self.restitution, float) and not 0.0 < self.restitution <= 1.0:
            raise ValueError(f"restitution: {self.restitution:g} is not in (0, 1]")
        return self


class Material(Surface):
    """A material of spheres and walls."""

    young: Annotated[Quantity | None, Dimension("pressure", minimum=0, exclusive=True)] = None
    """Young's modulus E [pressure], with ``normal = "hertz"``."""
    poisson: Annotated[Quantity | None, Dimension("dimensionless")] = None
    """Poisson's ratio ν, in (−1, 0.5)."""

    @model_validator(mode="after")
    def _elastic(self) -> Self:
        if isinstance(self.poisson, float) and not -1.0 < self.poisson < 0.5:
            raise ValueError(f"poisson: {self.poisson:g} is not in (-1, 0.5)")
        return self


class MaterialPair(Surface):
    """Properties of a pair of materials that replace the mean of the two."""

    kinds: tuple[str, str]
    """The two materials."""


class Contact(Declaration):
    """Contacts of spheres with each other and with walls: Hertz's normal force and Mindlin's tangential force with
    history, or linear springs (Lee and Gardner, equations 4 to 16).

    With overlap δ, R* = R₁R₂/(R₁ + R₂), m* = m₁m₂/(m₁ + m₂) and a = √(R* δ):

    - normal force 4/3 E* a δ − η_n v_n (``hertz``) or k δ − η_n v_n (``linear``);
    - tangential force −8 G* a ξ − η_t v_t (``mindlin``) or −k_t ξ − η_t v_t (``linear``), where ξ is the displacement
      since the start of the contact, which rotates with the contact frame. The force is at most μ_s times the normal
      force, and μ_k times the normal force during sliding;
    - η_n = 2 √(5/6) β √(2 E* a m*) with β = −ln e/√(π² + ln² e) for a coefficient of restitution e, which is exact at
      every speed (H. P. Kuwabara and K. Kono 1987; T. Antypov and J. A. Elliott, EPL 94, 50004, 2011), or γ_n m*.
    """

    is_force: ClassVar[bool] = True
    positional: ClassVar[tuple[str, ...]] = ("materials",)
    kind: Literal["contact"] = "contact"
    materials: dict[str, Material]
    """Materials by kind of site, and by the kind that walls name."""
    pairs: tuple[MaterialPair, ...] = ()
    """Properties of pairs of kinds; coefficients that are not given are geometric means of the two materials."""
    normal: Literal["hertz", "linear"] = "hertz"
    """The normal force."""
    tangential: Literal["mindlin", "linear", "none"] = "mindlin"
    """The tangential force."""
    damping: Literal["restitution", "viscous", "none"] = "restitution"
    """Form of the damping: a coefficient of restitution, the same at every speed, or γ m*, for which the coefficient of
    restitution depends on the speed."""
    attractive_tail: Flag = True
    """Whether damping may make the normal force attractive at the end of a contact. Without such a tail the coefficient
    of restitution is larger than the given one: 0.25 for 0.1."""
    convention: Literal["consistent", "lammps"] = "consistent"
    """Convention for the arms of the tangential force. Either R_i r/(R_i + R_j) of equation 4, which conserves angular
    momentum, with the tangential displacement rotating at the mean angular velocity; or R for velocities and R − δ/2
    for torques, without that rotation."""
    rolling: Literal["none", "spring"] = "none"
    """Rolling resistance."""
    twisting: Literal["none", "spring"] = "none"
    """Twisting resistance."""
    excluded_joints: Annotated[Whole, Field(ge=0)] = 1
    """Spheres do not touch if their bodies are at most this many joints apart; those on one body never do."""
    largest_overlap: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 0.05
    """Ratio of overlap to smaller radius beyond which the law, which is for small deformations, does not hold: rejected
    at the start, and reported if a run reaches it."""
    walls: tuple[AnyWall, ...] = ()
    """Planes, faces of the box, cylinders and meshes that the spheres also touch."""
    skin: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Skin of the neighbour list [length]; a fifth of the smallest diameter by default."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.materials:
            raise ValueError("materials: give at least one")
        if self.tangential == "mindlin" and self.normal == "linear":
            raise ValueError("tangential: 'mindlin' requires normal = 'hertz'; choose 'linear' or 'none'")
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for kinds without a material, missing or impossible numbers, and spheres without a
        radius."""
        self._check_use(where)
        self.rows(model, where)
        for k, wall in enumerate(self.walls):
            if wall.kind not in self.materials:
                raise ModelError(
                    f"{where}.walls[{k}].kind: there is no material '{wall.kind}'"
                    f"{nearest(wall.kind, tuple(self.materials))}"
                )
        parts_of(self.walls, model, f"{where}.walls")
        check_inside(model, where)

    def _check_use(self, where: str) -> None:
        """Raises ModelError for keys that would have no effect, and for numbers out of bounds."""
        tables: list[tuple[str, Surface]] = [(f"materials.{name}", one) for name, one in self.materials.items()]
        tables += [(f"pairs[{k}]", pair) for k, pair in enumerate(self.pairs)]
        for name, one in tables:
            for key, (option, value) in ACTS.items():
                chosen = getattr(self, option)
                if getattr(one, key, None) is not None and chosen != value:
                    raise ModelError(
                        f"{where}.{name}.{key}: has no effect with {option} = '{chosen}'; choose {option} = '{value}', "
                        "or leave it out"
                    )
            e = one.restitution
            if e is not None and not 0.0 < float(e) <= 1.0:
                raise ModelError(f"{where}.{name}.restitution: {float(e):g} is not in (0, 1]")

    def beside(self, source: str, where: str) -> "Contact":
        """Return a copy whose wall files are resolved relative to a case file; see :meth:`Wall.beside`."""
        walls = [wall.beside(source, f"{where}.walls[{k}]") for k, wall in enumerate(self.walls)]
        return self.model_copy(update={"walls": tuple(walls)})

    def names(self, model: Model) -> tuple[str, ...]:
        """Kinds of the table: those of the spheres, then materials that only walls use."""
        sites = model.sites
        kinds = [sites.kinds[k] for k in np.unique(sites.kind[sites.radius > 0.0]).tolist()]
        return tuple(kinds) + tuple(name for name in self.materials if name not in kinds)

    def rows(self, model: Model, where: str = "contact") -> np.ndarray:
        """Return the law table, one row for each ordered pair of kinds, shape (kinds², 12)."""
        if not (model.sites.radius > 0.0).any():
            raise ModelError(f"{where}: the model has no contact spheres; add grains, or sites with a radius")
        smallest = model.sites.radius[model.sites.radius > 0.0].min()
        if smallest < LEAST:
            raise ModelError(f"{where}: a sphere has the radius {smallest:g}, which is too small for the computation")
        names = self.names(model)
        for name in names:
            if name not in self.materials:
                raise ModelError(
                    f"{where}.materials: no material for spheres of kind '{name}'{nearest(name, tuple(self.materials))}"
                )
        given: dict[frozenset[str], MaterialPair] = {}
        for k, pair in enumerate(self.pairs):
            for kind in pair.kinds:
                if kind not in self.materials:
                    raise ModelError(
                        f"{where}.pairs[{k}].kinds: there is no material '{kind}'{nearest(kind, tuple(self.materials))}"
                    )
            if frozenset(pair.kinds) in given:
                raise ModelError(f"{where}.pairs[{k}].kinds: {pair.kinds[0]} and {pair.kinds[1]} are given twice")
            given[frozenset(pair.kinds)] = pair
        result = np.zeros((len(names) ** 2, LAW.width))
        for i, first in enumerate(names):
            for j, second in enumerate(names):
                row = _Row(self, first, second, given.get(frozenset((first, second))), where)
                result[i * len(names) + j] = row.filled()
        return result


def geometric_mean(one: float, two: float) -> float:
    """√(one · two), also if the product would overflow or underflow."""
    product = one * two
    return math.sqrt(product) if 1e-300 < product < math.inf else math.sqrt(one) * math.sqrt(two)


class _Row:
    """Builds the law-table row of a pair of kinds."""

    def __init__(self, law: Contact, first: str, second: str, pair: MaterialPair | None, where: str) -> None:
        self.law, self.first, self.second, self.pair, self.where = law, first, second, pair, where
        self.one, self.two = law.materials[first], law.materials[second]

    def mean(self, key: str, default: float | None = None) -> float:
        """Coefficient of the pair, or the geometric mean of those of the two materials; raises ModelError if neither is
        given."""
        if self.pair is not None and getattr(self.pair, key) is not None:
            return float(getattr(self.pair, key))
        values = [getattr(material, key) for material in (self.one, self.two)]
        if default is not None:
            values = [default if value is None else value for value in values]
        for name, value in zip((self.first, self.second), values, strict=True):
            if value is None:
                raise ModelError(
                    f"{self.where}.materials.{name}.{key}: is needed with normal = '{self.law.normal}', damping = "
                    f"'{self.law.damping}', rolling = '{self.law.rolling}', twisting = '{self.law.twisting}'; give it, "
                    f"or for the pair of {self.first} and {self.second}"
                )
        return geometric_mean(float(values[0]), float(values[1]))

    def elastic(self, name: str, material: Material) -> tuple[float, float]:
        """Return E and ν of a material."""
        for key in ("young", "poisson"):
            if getattr(material, key) is None:
                raise ModelError(f"{self.where}.materials.{name}.{key}: is needed with normal = 'hertz'")
        young, poisson = float(material.young), float(material.poisson)  # type: ignore[arg-type]
        if not -1.0 < poisson < 0.5:
            raise ModelError(f"{self.where}.materials.{name}.poisson: {poisson:g} is not in (-1, 0.5)")
        return young, poisson

    def filled(self) -> np.ndarray:
        """Return the numbers of the law."""
        law, row = self.law, np.zeros(LAW.width)
        if law.normal == "hertz":
            (E1, n1), (E2, n2) = self.elastic(self.first, self.one), self.elastic(self.second, self.two)
            modulus = 1.0 / ((1.0 - n1 * n1) / E1 + (1.0 - n2 * n2) / E2)
            shear = 1.0 / (2.0 * (2.0 - n1) * (1.0 + n1) / E1 + 2.0 * (2.0 - n2) * (1.0 + n2) / E2)
            row[LAW.stiffness], inertial = 4.0 / 3.0 * modulus, 2.0 * math.sqrt(5.0 / 6.0) * math.sqrt(2.0 * modulus)
            if law.tangential == "mindlin":
                row[LAW.shear] = 8.0 * shear
            elif law.tangential == "linear":
                raise ModelError(f"{self.where}.tangential: 'linear' requires normal = 'linear'")
        else:
            row[LAW.stiffness] = self.mean("stiffness")
            inertial = 2.0 * math.sqrt(row[LAW.stiffness])
            if law.tangential == "linear":
                row[LAW.shear] = self.mean("tangential_stiffness", 2.0 / 7.0 * row[LAW.stiffness])
        if row[LAW.stiffness] < LEAST:
            raise ModelError(
                f"{self.where}.materials: {self.first} and {self.second} have a stiffness of {row[LAW.stiffness]:g}, "
                f"which is too small for the computation; the minimum is {LEAST:g}"
            )
        if law.damping == "restitution":
            e = self.mean("restitution")
            row[LAW.damping] = inertial * -math.log(e) / math.hypot(math.pi, math.log(e))
            row[LAW.tangential_damping] = self.mean("tangential_damping_ratio", 1.0)
        elif law.damping == "viscous":
            row[LAW.damping] = self.mean("viscous_damping")
            row[LAW.tangential_damping] = self.mean("tangential_damping", row[LAW.damping])
        if law.tangential == "none":
            row[LAW.tangential_damping] = 0.0
        row[LAW.static_friction] = self.mean("static_friction", 0.0)
        row[LAW.kinetic_friction] = self.kinetic(row[LAW.static_friction])
        if law.rolling == "spring":
            row[LAW.rolling] = self.mean("rolling_friction")
            row[LAW.rolling_stiffness] = self.rolling_stiffness()
            row[LAW.rolling_damping] = self.mean("rolling_damping", 0.0)
        if law.twisting == "spring":
            row[LAW.twisting] = self.mean("twisting_friction")
            row[LAW.twisting_stiffness] = self.mean("twisting_stiffness")
            row[LAW.twisting_damping] = self.mean("twisting_damping", 0.0)
        return row

    def rolling_stiffness(self) -> float:
        """k_r, or 0 for the current tangential stiffness; raises ModelError if only one of the two materials has it."""
        if self.pair is None or self.pair.rolling_stiffness is None:
            missing = [
                name
                for name, material in ((self.first, self.one), (self.second, self.two))
                if material.rolling_stiffness is None
            ]
            if len(missing) == 1:
                raise ModelError(
                    f"{self.where}.materials.{missing[0]}.rolling_stiffness: is missing, but the other of "
                    f"{self.first} and {self.second} has it; give it to both, to neither, or for the pair"
                )
        return self.mean("rolling_stiffness", 0.0)

    def kinetic(self, static: float) -> float:
        """μ_k of the pair, or the mean of those of the two materials, each of which is μ_s by default.

        Raises ModelError if it is larger than μ_s.
        """
        own = [
            float(m.static_friction or 0.0) if m.kinetic_friction is None else float(m.kinetic_friction)
            for m in (self.one, self.two)
        ]
        if self.pair is not None and self.pair.kinetic_friction is not None:
            result = float(self.pair.kinetic_friction)
        elif self.pair is not None and self.pair.static_friction is not None:
            result = static
        else:
            result = geometric_mean(own[0], own[1])
        if result > static * (1.0 + 1e-12):
            raise ModelError(
                f"{self.where}.materials: kinetic_friction {result:g} of {self.first} and {self.second} is larger than "
                f"their static_friction, {static:g}; lower the first or raise the second"
            )
        return result
