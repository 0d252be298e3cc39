"""Analysis of the frames of a run: structure, transport, temperatures, and the errors of their means.

Each function takes a :class:`articulon.Run`, in memory or in a folder; numbers are in the units of its case. Functions
with an argument ``skip`` omit that fraction of the frames at the start. For means it is a quarter by default, as in
summaries and reports. Functions named ``analyse_`` also take a case that has not been run.
"""

from articulon.analysis.contact_forces import contacts
from articulon.analysis.contact_step_advice import (
    ContactAnalysis,
    analyse_contacts,
    contact_scales,
    load_for_analysis,
)
from articulon.analysis.expected_temperatures import (
    configurational_temperature,
    isokinetic_spread,
    temperature_spread,
)
from articulon.analysis.granular_slopes import drum_angle, heap_angle
from articulon.analysis.molecular_clusters import clusters, write_clusters
from articulon.analysis.molecular_results import MoleculeAnalysis, analyse_molecules
from articulon.analysis.molecular_runs import Series
from articulon.analysis.molecular_shape import (
    Fluctuations,
    end_to_end_distance,
    hydrogen_bonds,
    native_contacts,
    radius_of_gyration,
    rmsd,
    rmsf,
    secondary_structure,
    universe,
)
from articulon.analysis.molecular_torsions import (
    MeanTemperature,
    backbone_torsions,
    mean_temperature,
    ramachandran,
    torsion_correlation,
)
from articulon.analysis.pair_structure import RadialDistribution, radial_distribution
from articulon.analysis.polymer_results import PolymerAnalysis, analyse_polymers
from articulon.analysis.relaxation import RelaxationAnalysis, analyse_relaxation
from articulon.analysis.scales import ThermostatAnalysis, analyse_thermostat
from articulon.analysis.time_averages import Average, average, statistical_inefficiency
from articulon.analysis.transport import Correlation, mean_square_displacement, velocity_autocorrelation
from articulon.conformations.backbone_torsions import BackboneTorsions
from articulon.conformations.conformation_clusters import Clusters
from articulon.conformations.hydrogen_bonds import HydrogenBonds
from articulon.conformations.native_contacts import NativeContacts
from articulon.conformations.secondary_structure import SecondaryStructure
from articulon.conformations.torsion_maps import TorsionMap
from articulon.conformations.torsion_memory import TorsionMemory
from articulon.simulation.contact_statistics import ContactRecords
from articulon.time_scales.contact_step_limit import ContactScales

__all__ = [
    "Average",
    "BackboneTorsions",
    "Clusters",
    "ContactAnalysis",
    "ContactRecords",
    "ContactScales",
    "Correlation",
    "Fluctuations",
    "HydrogenBonds",
    "MeanTemperature",
    "MoleculeAnalysis",
    "NativeContacts",
    "PolymerAnalysis",
    "RadialDistribution",
    "RelaxationAnalysis",
    "SecondaryStructure",
    "Series",
    "ThermostatAnalysis",
    "TorsionMap",
    "TorsionMemory",
    "analyse_contacts",
    "analyse_molecules",
    "analyse_polymers",
    "analyse_relaxation",
    "analyse_thermostat",
    "average",
    "backbone_torsions",
    "clusters",
    "configurational_temperature",
    "contact_scales",
    "contacts",
    "drum_angle",
    "end_to_end_distance",
    "heap_angle",
    "hydrogen_bonds",
    "isokinetic_spread",
    "load_for_analysis",
    "mean_square_displacement",
    "mean_temperature",
    "native_contacts",
    "radial_distribution",
    "radius_of_gyration",
    "ramachandran",
    "rmsd",
    "rmsf",
    "secondary_structure",
    "statistical_inefficiency",
    "temperature_spread",
    "torsion_correlation",
    "universe",
    "velocity_autocorrelation",
    "write_clusters",
]
