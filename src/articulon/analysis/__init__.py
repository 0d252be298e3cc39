"""What is measured on the frames of a run: structure, transport, temperatures, and how sure their means are.

Each function takes a :class:`articulon.Run`, in memory or in a folder; numbers are in the units of its case. A function
that takes ``skip`` leaves out that fraction of the frames at the start. Those called ``analyse_`` take a case as well,
that has not been run.
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
from articulon.analysis.pair_structure import RadialDistribution, radial_distribution
from articulon.analysis.relaxation import RelaxationAnalysis, analyse_relaxation
from articulon.analysis.scales import ThermostatAnalysis, analyse_thermostat
from articulon.analysis.time_averages import Average, average, statistical_inefficiency
from articulon.analysis.transport import Correlation, mean_square_displacement, velocity_autocorrelation
from articulon.simulation.contact_statistics import ContactRecords
from articulon.time_scales.contact_step_limit import ContactScales

__all__ = [
    "Average",
    "ContactAnalysis",
    "ContactRecords",
    "ContactScales",
    "Correlation",
    "RadialDistribution",
    "RelaxationAnalysis",
    "ThermostatAnalysis",
    "analyse_contacts",
    "analyse_relaxation",
    "analyse_thermostat",
    "average",
    "configurational_temperature",
    "contact_scales",
    "contacts",
    "isokinetic_spread",
    "load_for_analysis",
    "mean_square_displacement",
    "radial_distribution",
    "statistical_inefficiency",
    "temperature_spread",
    "velocity_autocorrelation",
]
