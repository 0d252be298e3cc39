"""References to cite: articulon, and the sources of a case."""

from dataclasses import dataclass

from articulon import __version__
from articulon.declaration import nearest
from articulon.errors import CaseError


@dataclass(frozen=True)
class Reference:
    """One entry of a bibliography."""

    key: str
    """Key in the ``cite`` of a case."""
    kind: str
    """BibTeX entry type: article, book, phdthesis, incollection."""
    fields: dict[str, str]
    """BibTeX fields."""

    def bibtex(self) -> str:
        """BibTeX text of the entry."""
        width = max(map(len, self.fields))
        lines = [f"  {name:<{width}} = {{{text}}}," for name, text in self.fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


ARTICULON = Reference(
    "articulon",
    "software",
    {
        "author": "{the articulon developers}",
        "title": "articulon: dynamics of articulated molecules, nanoparticles, polymers and grains across scales",
        "version": __version__,
    },
)
"""Reference for articulon itself."""

_ALL = (
    Reference(
        "cochran2001",
        "article",
        {
            "author": "Cochran, Andrea G. and Skelton, Nicholas J. and Starovasnik, Melissa A.",
            "title": "Tryptophan zippers: Stable, monomeric β-hairpins",
            "journal": "Proceedings of the National Academy of Sciences",
            "volume": "98",
            "number": "10",
            "pages": "5578--5583",
            "year": "2001",
        },
    ),
    Reference(
        "guy2018",
        "phdthesis",
        {
            "author": "Guy, Ashley Chase",
            "title": "A New Adaptive Multiscale Approach for the Dynamic Modeling and Simulation of "
            "Biomolecular Systems",
            "school": "The University of Texas at Arlington",
            "year": "2018",
            "month": "may",
        },
    ),
    Reference(
        "poems",
        "article",
        {
            "author": "Anderson, Kurt and Mukherjee, Rudranarayan and Critchley, James and Ziegler, John and "
            "Lipton, Scott",
            "title": "{POEMS}: Parallelizable Open-source Efficient Multibody Software",
            "note": "Rensselaer Polytechnic Institute",
        },
    ),
    Reference(
        "poursina2012",
        "incollection",
        {
            "author": "Poursina, Mohammad and Khan, Imad M. and Anderson, Kurt S.",
            "title": "Efficient Model Transition in Adaptive Multi-Resolution Modeling of Biopolymers",
            "publisher": "InTech",
            "year": "2012",
            "doi": "10.5772/48196",
        },
    ),
    Reference(
        "lee",
        "article",
        {
            "author": "Lee, Kyoung O. and Gardner, Robin P.",
            "title": "{Euler-Lagrangian} dynamics to the physical interpretation with granular constraints for {MD} "
            "simulations",
            "note": "North Carolina State University",
        },
    ),
    Reference(
        "hertz1882",
        "article",
        {
            "author": "Hertz, Heinrich",
            "title": 'Ueber die Ber{"u}hrung fester elastischer K{"o}rper',
            "journal": 'Journal f{"u}r die reine und angewandte Mathematik',
            "volume": "92",
            "pages": "156--171",
            "year": "1882",
        },
    ),
    Reference(
        "mindlin1949",
        "article",
        {
            "author": "Mindlin, Raymond D.",
            "title": "Compliance of elastic bodies in contact",
            "journal": "Journal of Applied Mechanics",
            "volume": "16",
            "pages": "259--268",
            "year": "1949",
        },
    ),
    Reference(
        "silbert2001",
        "article",
        {
            "author": "Silbert, Leonardo E. and Erta{\\c{s}}, Deniz and Grest, Gary S. and Halsey, Thomas C. and "
            "Levine, Dov and Plimpton, Steven J.",
            "title": "Granular flow down an inclined plane: {Bagnold} scaling and rheology",
            "journal": "Physical Review E",
            "volume": "64",
            "pages": "051302",
            "year": "2001",
        },
    ),
    Reference(
        "antypov2011",
        "article",
        {
            "author": "Antypov, Dmytro and Elliott, James A.",
            "title": "On an analytical solution for the damped {Hertzian} spring",
            "journal": "Europhysics Letters",
            "volume": "94",
            "pages": "50004",
            "year": "2011",
        },
    ),
    Reference(
        "chung2011",
        "article",
        {
            "author": "Chung, Y. C. and Ooi, J. Y.",
            "title": "Benchmark tests for verifying discrete element modelling codes at particle impact level",
            "journal": "Granular Matter",
            "volume": "13",
            "pages": "643--656",
            "year": "2011",
        },
    ),
    Reference(
        "featherstone2008",
        "book",
        {
            "author": "Featherstone, Roy",
            "title": "Rigid Body Dynamics Algorithms",
            "publisher": "Springer",
            "year": "2008",
        },
    ),
    Reference(
        "landau1976",
        "book",
        {
            "author": "Landau, Lev D. and Lifshitz, Evgeny M.",
            "title": "Mechanics",
            "publisher": "Butterworth-Heinemann",
            "edition": "3",
            "year": "1976",
        },
    ),
    Reference(
        "ivptestset",
        "techreport",
        {
            "author": "Mazzia, Francesca and Magherini, Cecilia",
            "title": "Test Set for Initial Value Problem Solvers, release 2.4",
            "institution": "Department of Mathematics, University of Bari and INdAM",
            "year": "2008",
        },
    ),
    Reference(
        "iftomm",
        "misc",
        {
            "author": "{IFToMM Technical Committee for Multibody Dynamics}",
            "title": "Library of Computational Benchmark Problems",
            "howpublished": "https://www.iftomm-multibody.org/benchmark",
        },
    ),
)

REFERENCES = {reference.key: reference for reference in _ALL}
"""References that a case may name, by key."""


def check_cited(keys: tuple[str, ...], where: str) -> None:
    """Raise CaseError for an unknown key. An entry with a space is a reference written out in full and is accepted."""
    for k, key in enumerate(keys):
        if key not in REFERENCES and " " not in key:
            raise CaseError(
                f"{where}[{k}]: there is no reference '{key}'{nearest(key, list(REFERENCES))}; "
                "write other references out in full"
            )


def bibliography(keys: tuple[str, ...]) -> str:
    """Return the BibTeX entries of articulon and of the references of a case. References that are written out in full
    follow as comments."""
    return "\n\n".join(
        [ARTICULON.bibtex(), *(REFERENCES[key].bibtex() if key in REFERENCES else f"% {key}" for key in keys)]
    )
