"""Descriptions of robots: frozen, validated models of links, joints, sections, drives and constraints."""

from flexarm.robot import library
from flexarm.robot.constraints import Loop, OnLine, OnPlane, PointSupport
from flexarm.robot.denavit_hartenberg import from_dh
from flexarm.robot.drives import Drive, Stop
from flexarm.robot.errors import DescriptionError, UnitsWarning
from flexarm.robot.flexibility import Damping, Elements, Flexible, Modes, Reduced, Splines
from flexarm.robot.frames import Frame
from flexarm.robot.io.files import load, save, schema
from flexarm.robot.joints import (
    Cylindrical,
    FixedPrismatic,
    MovingJoint,
    Planar,
    Prismatic,
    Revolute,
    RidingJoint,
    Screw,
    Sleeve,
    SlidingPrismatic,
    Universal,
    Weld,
)
from flexarm.robot.links import Link
from flexarm.robot.masses import Material, PointMass, RigidBody
from flexarm.robot.pose import Pose
from flexarm.robot.robot import Robot
from flexarm.robot.sections import Section

__all__ = [
    "Cylindrical",
    "Damping",
    "DescriptionError",
    "Drive",
    "Elements",
    "FixedPrismatic",
    "Flexible",
    "Frame",
    "Link",
    "Loop",
    "Material",
    "Modes",
    "MovingJoint",
    "OnLine",
    "OnPlane",
    "Planar",
    "PointMass",
    "PointSupport",
    "Pose",
    "Prismatic",
    "Reduced",
    "Revolute",
    "RidingJoint",
    "RigidBody",
    "Robot",
    "Screw",
    "Section",
    "Sleeve",
    "SlidingPrismatic",
    "Splines",
    "Stop",
    "UnitsWarning",
    "Universal",
    "Weld",
    "from_dh",
    "library",
    "load",
    "save",
    "schema",
]
